"""What the administrator of a host has fixed: `[policy] lock` of /etc/tmpwarden/config.toml. Pure.

A locked key has the value that /etc says, or its default: what a user's own file says of it is not used, nor what would
take its effect away by another key. What can only make things safer is used: more paths to keep, and rules of the guard
that deny or ask. It guards against accidents: who switches hooks off is stopped by the agents' managed settings.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..lazy_dataclass import dataclass
from ..text import shown
from .keys import KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Document = dict[str, Any]

SYSTEM = "/etc/tmpwarden/config.toml"
TABLE = "policy"
_ONLY_SAFER = frozenset({"keep.paths", "guard.deny", "guard.ask", "guard.checks", "guard.commands", "guard.never"})
_RULES = frozenset({"guard.arguments", "guard.redirects", "guard.files", "guard.tools"})
# Each takes away from what presets and rules say. With any of those locked, none of these is a user's.
_WEAKEN_THE_GUARD = frozenset(
    {
        *("guard.off", "guard.allow", "guard.allow_checks", "guard.trusted", "guard.protected"),
        *("guard.inside", "guard.outside"),
    }
)
_PRESET, _ON_ERROR, _DEFAULT = "guard.preset", "guard.on_error", "guard.default"
_OF_THE_GUARD = ("guard", "redirect")
_OF_OTHER_READERS = {  # keys of the guard, which reads its part of the same files itself
    "guard": {
        *("allow", "allow_checks", "arguments", "ask", "checks", "commands", "default", "deny", "files", "off"),
        *("inside", "never", "on_error", "outside", "preset", "protected", "redirects", "tools", "trusted"),
    },
    "redirect": {"own", "tmp", "target"},
}
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
    reported = [key for key in dropped if key.split(".")[0] not in _OF_THE_GUARD]  # which tells of those itself
    return PolicyFile(kept, locks, tuple((key, refusal(key)) for key in reported))


def refusal(key: str) -> str:
    if key == TABLE:
        return f"policy is heard from {SYSTEM} alone; what stands here is not used"
    return f"{key} is locked by {SYSTEM}; what stands here is not used"


def locks_of(document: Document) -> tuple[tuple[str, ...], str]:
    """The locked keys and tables, and what is wrong with the way in which they are written ("" if nothing is)."""
    table = document.get(TABLE, {})
    if not isinstance(table, dict):
        return (), "policy must be a table"
    patterns = table.get("lock", [])
    if not isinstance(patterns, list) or not all(isinstance(key, str) and key for key in patterns):
        return (), 'policy.lock: write keys and tables as texts, such as ["guard", "quarantine.keep"]'
    locks = tuple(map(_plain, patterns))
    if strange := sorted(table.keys() - {"lock"}):
        return locks, f"policy.{shown(strange[0])} is not known; it is ignored"
    unknown = [lock for lock in locks if not _names_something(lock)]
    return locks, f"policy.lock: unknown key and no table {shown(unknown[0])}; it locks nothing" if unknown else ""


def _names_something(lock: str) -> bool:
    table, _, key = lock.partition(".")
    if table in _OF_OTHER_READERS:
        return not key or key in _OF_OTHER_READERS[table]
    return table == "rows" or lock in KEYS or any(known.startswith(f"{lock}.") for known in KEYS)


def is_locked(key: str, locks: Iterable[str]) -> bool:
    """By its own name, with its whole table, or because it would take away from what is locked."""
    plain = _plain(key)
    if any(plain == lock or plain.startswith(f"{lock}.") for lock in locks):
        return True
    about_rules = [lock for lock in locks if lock.startswith("guard.") and lock != _ON_ERROR]
    if plain in (_DEFAULT, _ON_ERROR):
        return _PRESET in about_rules  # a preset sets both
    return bool(about_rules) and plain in _WEAKEN_THE_GUARD | _RULES


def fixes_rows(locks: Iterable[str]) -> bool:
    """Then no drop-in of a user may stand for one of the host's, or for one that is built in."""
    return any(lock.split(".")[0] == "rows" for lock in locks)


def allowed(document: Document, locks: tuple[str, ...]) -> tuple[Document, list[str]]:
    """What a user's file may still say, and the keys of which it may not."""
    kept: Document = {}
    dropped: list[str] = []
    for table, content in document.items():
        if table == TABLE or (table == "redirect" and _is_fixed_block(content, locks)):
            dropped.append(table)
            continue
        kept[table] = _allowed_of(table, content, locks, dropped) if isinstance(content, dict) else content
    return {table: content for table, content in kept.items() if content or not document[table]}, dropped


def _is_fixed_block(redirect: object, locks: tuple[str, ...]) -> bool:
    """Of [redirect] the last block counts as a whole: no half of one. Beside locked presets only one that redirects."""
    if any(lock.split(".")[0] == "redirect" for lock in locks):
        return True
    redirects = isinstance(redirect, dict) and redirect.get("tmp") is True and redirect.get("own", True) is True
    return is_locked(_PRESET, locks) and not redirects


def only_locked(document: Document, locks: tuple[str, ...]) -> Document:
    """What stands even where a user names another file with `--config`."""
    locked = {
        table: {key: value for key, value in content.items() if is_locked(f"{table}.{key}", locks)}
        for table, content in document.items()
        if isinstance(content, dict) and table != TABLE
    }
    return {table: content for table, content in locked.items() if content}


def _allowed_of(table: str, content: Document, locks: tuple[str, ...], dropped: list[str]) -> Document:
    kept: Document = {}
    for key, value in content.items():
        full = f"{table}.{key}"
        if not is_locked(full, locks) or full in _ONLY_SAFER:
            kept[key] = value
            continue
        rules = value if full in _RULES and isinstance(value, list) else []
        safer = [rule for rule in rules if isinstance(rule, dict) and rule.get("decision") in ("deny", "ask")]
        if safer:
            kept[key] = safer
        if not safer or len(safer) < len(value):
            dropped.append(full)
    return kept


def _plain(key: str) -> str:
    return _ALIASES.get(key, key)
