"""What the administrator of a host has fixed: `[policy] lock` of /etc/tmpwarden/config.toml. Pure.

A locked key has the value that /etc says, or its default: what a user's own file says of it is not used. What can only
make things safer is: more paths to keep, and rules of the guard that deny or ask. It guards against accidents: who
switches hooks off is stopped by the agents' managed settings.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..lazy_dataclass import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Document = dict[str, Any]

SYSTEM = "/etc/tmpwarden/config.toml"
TABLE = "policy"
_ONLY_SAFER = frozenset({"keep.paths", "guard.deny", "guard.ask", "guard.checks", "guard.commands"})
_RULES = frozenset({"guard.arguments", "guard.redirects", "guard.files", "guard.tools"})
_OF_THE_GUARD = ("guard", "redirect")
_ALIASES = {"guard.presets": "guard.preset"}  # one thing, in whatever number it is written


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """What of one file counts, the locks in force after it, and complaints as (key, sentence)."""

    document: Document
    locks: tuple[str, ...]
    complaints: tuple[tuple[str, str], ...] = ()


def hear(document: Document, locks: tuple[str, ...], *, is_of_the_host: bool, is_alone: bool) -> PolicyFile:
    """`is_alone`: no file was named with `--config`, beside which only what is locked counts of the host's."""
    if is_of_the_host:
        locks, wrong = locks_of(document)
        counts = document if is_alone else only_locked(document, locks)
        without = {table: content for table, content in counts.items() if table != TABLE}
        return PolicyFile(without, locks, ((TABLE, wrong),) if wrong else ())
    kept, dropped = allowed(document, locks)
    told = [key for key in dropped if key.split(".")[0] not in _OF_THE_GUARD]  # which tells of those itself
    return PolicyFile(kept, locks, tuple((key, refusal(key)) for key in told))


def refusal(key: str) -> str:
    if key == TABLE:
        return f"policy is heard from {SYSTEM} alone; what stands here is not used"
    return f"{key} is locked by {SYSTEM}; what stands here is not used"


def locks_of(document: Document) -> tuple[tuple[str, ...], str]:
    """The locked keys and tables, and what is wrong with the way in which they are written ("" if nothing is)."""
    table = document.get(TABLE, {})
    if not isinstance(table, dict):
        return (), "policy must be a table"
    said = table.get("lock", [])
    if not isinstance(said, list) or not all(isinstance(key, str) and key for key in said):
        return (), 'policy.lock: write keys and tables as texts, such as ["guard", "quarantine.keep"]'
    strange = sorted(table.keys() - {"lock"})
    return tuple(map(_plain, said)), f"policy.{strange[0]} is not known; it is ignored" if strange else ""


def is_locked(key: str, locks: Iterable[str]) -> bool:
    """By its own name, or with its whole table."""
    plain = _plain(key)
    return any(plain == lock or plain.startswith(f"{lock}.") for lock in locks)


def allowed(document: Document, locks: tuple[str, ...]) -> tuple[Document, list[str]]:
    """What a user's file may still say, and the keys of which it may not."""
    kept: Document = {}
    dropped: list[str] = []
    for table, content in document.items():
        is_fixed_block = table == "redirect" and any(lock.split(".")[0] == table for lock in locks)
        if table == TABLE or is_fixed_block:  # of [redirect] the last block counts as a whole: no half of one
            dropped.append(table)
            continue
        kept[table] = _allowed_of(table, content, locks, dropped) if isinstance(content, dict) else content
    return {table: content for table, content in kept.items() if content or not document[table]}, dropped


def only_locked(document: Document, locks: tuple[str, ...]) -> Document:
    """What stands even where a user names another file with `--config`."""
    found = {
        table: {key: value for key, value in content.items() if is_locked(f"{table}.{key}", locks)}
        for table, content in document.items()
        if isinstance(content, dict) and table != TABLE
    }
    return {table: content for table, content in found.items() if content}


def _allowed_of(table: str, content: Document, locks: tuple[str, ...], dropped: list[str]) -> Document:
    kept: Document = {}
    for key, value in content.items():
        full = f"{table}.{key}"
        if not is_locked(full, locks) or full in _ONLY_SAFER:
            kept[key] = value
            continue
        safer = [rule for rule in value if _denies_or_asks(rule)] if full in _RULES and isinstance(value, list) else []
        if safer:
            kept[key] = safer
        if not safer or len(safer) < len(value):
            dropped.append(full)
    return kept


def _denies_or_asks(rule: object) -> bool:
    return isinstance(rule, dict) and rule.get("decision") in ("deny", "ask")


def _plain(key: str) -> str:
    return _ALIASES.get(key, key)
