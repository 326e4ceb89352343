"""One agent's TOML file -> Agent and its rows, or complaints that name file, line, row and key. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from ..model.sweep import Claim, Kind, Litter, Tier, Worth
from ..text import duration, parse_duration, parse_size
from . import checks
from .patterns import complaint_about_name, name_pattern, split_place

SCHEMA = 1
DEFAULT_AGES = {"grace": 60, "min_age": 3600, "max_age": 72 * 3600}
_AGENT_KEYS = {"id", "name", "session_env", "registry", "keeps_rewrite"}
_ROW_KEYS = {
    *("id", "in", "name", "kind", "tier", "worth", "owner", "why", "seen", "matches", "spares"),
    *("grace", "min_age", "max_age", "resume", "checks", "max_bytes", "fixed", "verified", "beats", "git"),
}
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_E = TypeVar("_E", bound=Enum)


@dataclass(frozen=True, slots=True)
class Agent:
    """A producer of litter: an agent, an orchestrator or a tool."""

    id: str
    name: str
    session_env: tuple[str, ...] = ()  # variables whose value names a live session
    registry: str | None = None  # a reader in leases/, by format
    keeps_rewrite: str | None = None  # versions measured to keep a hook's rewritten input: ">=2.1.300"
    rows: tuple[Litter, ...] = ()
    source: str = ""


@dataclass(slots=True)
class _Reading:
    """The file being read: where it came from, how much it may do, and what is wrong with it."""

    text: str
    source: str
    builtin: bool
    trusted: (
        bool  # the laws of rows are left to the tests, which hold for every built-in file: they take longer than TOML
    )
    row: int | None = None  # which [[litter]] we are in, from 0
    row_id: str = ""
    complaints: list[str] = field(default_factory=list)

    def complain(self, key: str, sentence: str) -> None:
        line = line_of(self.text, key, row=self.row)
        where = f"row {self.row_id or (self.row or 0) + 1}, " if self.row is not None else ""
        self.complaints.append(f"{self.source}:{line}: {where}key {key}: {sentence}")


def decode(
    text: str, source: str, *, builtin: bool = False, trusted: bool = False
) -> tuple[Agent | None, tuple[str, ...]]:
    """The agent in `text`, or None and why. A file without any key is None without complaint: it masks another."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as broken:
        line = re.search(r"at line (\d+)", str(broken))
        return None, (f"{source}:{line[1] if line else 1}: not TOML: {broken}",)
    if not data:
        return None, ()
    reading = _Reading(text, source, builtin, trusted)
    agent = _agent(data, reading)
    return (None if reading.complaints else agent), tuple(reading.complaints)


def line_of(text: str, key: str, *, row: int | None = None) -> int:
    """The line of `key` in the agent's part or in the row-th [[litter]]; else that row's header; else 1."""
    seen, best = -1, 1
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*\[\[\s*litter\s*\]\]", line):
            seen += 1
            best = number if seen == row else best
        inside = seen == row if row is not None else seen == -1
        if inside and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]|\s*\[+\s*{re.escape(key)}\s*\]""", line):
            return number
    return best


def _agent(data: dict[str, Any], reading: _Reading) -> Agent:
    for key in data.keys() - {"schema", "agent", "litter"}:
        reading.complain(key, "is not known here")
    if data.get("schema") != SCHEMA:
        reading.complain("schema", f"must be {SCHEMA}")
    head = data.get("agent")
    if not isinstance(head, dict):
        reading.complain("agent", "an [agent] table with id and name is missing")
        head = {}
    for key in head.keys() - _AGENT_KEYS:
        reading.complain(key, "is not known in [agent]")
    agent_id = _identifier(head, reading)
    rows = _rows(data.get("litter", []), agent_id, reading)
    return Agent(
        agent_id,
        _text(head, "name", reading) or agent_id,
        _texts(head, "session_env", reading),
        _text(head, "registry", reading, needed=False),
        _text(head, "keeps_rewrite", reading, needed=False),
        rows,
        reading.source,
    )


def _rows(tables: object, agent_id: str, reading: _Reading) -> tuple[Litter, ...]:
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        reading.complain("litter", "must be a list of tables, [[litter]]")
        return ()
    rows: list[Litter] = []
    for reading.row, table in enumerate(tables):
        reading.row_id = table["id"] if isinstance(table.get("id"), str) else ""
        row = _row(table, agent_id, reading)
        if row.id in {other.id for other in rows}:
            reading.complain("id", f"{row.id!r} is taken by another row of this file")
        rows.append(row)
    reading.row = None
    return tuple(rows)


def _row(table: dict[str, Any], agent_id: str, reading: _Reading) -> Litter:
    for key in table.keys() - _ROW_KEYS:
        reading.complain(key, "is not known in a row")
    ages = {key: _age(table, key, reading) for key in DEFAULT_AGES}
    row = Litter(
        agent=agent_id,
        id=_identifier(table, reading),
        place=_text(table, "in", reading),
        name=_text(table, "name", reading),
        kind=_choice(Kind, table, "kind", reading, without=(Kind.OTHER,)),
        tier=_choice(Tier, table, "tier", reading),
        worth=_choice(Worth, table, "worth", reading),
        owner=_choice(Claim, table, "owner", reading),
        grace_s=ages["grace"],
        min_age_s=ages["min_age"],
        max_age_s=ages["max_age"],
        resume=_flag(table, "resume", reading),
        checks=_texts(table, "checks", reading),
        max_bytes=_max_bytes(table, reading),
        beats=tuple(key if "." in key else f"{agent_id}.{key}" for key in _texts(table, "beats", reading)),
        git_disposable=_git(table, reading),
        fixed=_text(table, "fixed", reading, needed=False),
        verified=_text(table, "verified", reading, needed=False),
        why=_text(table, "why", reading),
        seen=_texts(table, "seen", reading),
        matches=_texts(table, "matches", reading),
        spares=_texts(table, "spares", reading),
        source=reading.source,
    )
    if not reading.trusted:
        for law in _ROW_LAWS:
            law(row, reading)
    return row


def _law_of_names(row: Litter, reading: _Reading) -> None:
    shared = False
    try:
        _, components = split_place(row.place)
        shared = not components
    except ValueError as wrong:
        reading.complain("in", str(wrong))
    if wrong_name := complaint_about_name(row.name, shared=shared and row.tier is not Tier.NEVER):
        return reading.complain("name", wrong_name)
    pattern = re.compile(name_pattern(row.name, 1000), re.ASCII | re.DOTALL)
    for key, group in ((Claim.SESSION, "session"), (Claim.PID, "pid")):
        if row.owner is key and group not in pattern.groupindex:
            reading.complain("owner", f"{key.value} needs a group (?P<{group}>...) in name")
    for example in row.matches:
        if not pattern.fullmatch(example):
            reading.complain("matches", f"{example!r} is not matched by name")
    for example in row.spares:
        if pattern.fullmatch(example):
            reading.complain("spares", f"{example!r} is matched by name")
    return None


def _law_of_proof(row: Litter, reading: _Reading) -> None:
    if row.tier is Tier.AUTO and not row.verified:
        reading.complain("verified", "a row of tier auto needs it: the version it was measured with, or two reports")
    for key, examples in (("matches", row.matches), ("seen", row.seen)):
        if not examples:
            reading.complain(key, "needs at least one example")
    if not row.spares and row.tier is not Tier.NEVER:
        reading.complain("spares", "needs at least one name that only looks alike")


def _law_of_ages(row: Litter, reading: _Reading) -> None:
    may_go_lower = reading.builtin and row.worth is Worth.NONE
    for key, seconds in (("grace", row.grace_s), ("min_age", row.min_age_s), ("max_age", row.max_age_s)):
        if seconds < DEFAULT_AGES[key] and not may_go_lower:
            who = "a row with worth other than none" if reading.builtin else "a drop-in"
            reading.complain(key, f"{who} may not go below {duration(DEFAULT_AGES[key])}")


def _law_of_checks(row: Litter, reading: _Reading) -> None:
    for name in row.checks:
        if name not in checks.CHECKS:
            reading.complain("checks", f"{name!r} is not one of {', '.join(sorted(checks.CHECKS))}")
    if row.git_disposable and not reading.builtin:
        reading.complain("git", "only built-in rows may call git work disposable")
    if row.max_bytes is not None and row.kind is not Kind.FILE:
        reading.complain("max_bytes", "is for rows of kind file")


_ROW_LAWS: tuple[Callable[[Litter, _Reading], None], ...] = (_law_of_names, _law_of_proof, _law_of_ages, _law_of_checks)


def _identifier(table: dict[str, Any], reading: _Reading) -> str:
    value = _text(table, "id", reading)
    if value and not _ID.fullmatch(value):
        reading.complain("id", "is made of small letters, digits and single dashes")
    return value


def _text(table: dict[str, Any], key: str, reading: _Reading, *, needed: bool = True) -> str:
    value = table.get(key)
    if isinstance(value, str) and value.strip() and "\0" not in value:
        return value
    if value is not None or needed:
        reading.complain(key, "is missing" if value is None else "must be a text that is not empty")
    return ""


def _texts(table: dict[str, Any], key: str, reading: _Reading) -> tuple[str, ...]:
    value = table.get(key, [])
    if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
        return tuple(value)
    reading.complain(key, "must be a list of texts")
    return ()


def _flag(table: dict[str, Any], key: str, reading: _Reading) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        reading.complain(key, "must be true or false")
    return value is True


def _choice(words: type[_E], table: dict[str, Any], key: str, reading: _Reading, without: tuple[_E, ...] = ()) -> _E:
    allowed = [word for word in words if word not in without]
    for word in allowed:
        if table.get(key) == word.value:
            return word
    reading.complain(key, "must be one of " + ", ".join(str(word.value) for word in allowed))
    return allowed[-1]


def _age(table: dict[str, Any], key: str, reading: _Reading) -> int:
    value = table.get(key)
    if value is None:
        return DEFAULT_AGES[key]
    try:
        return parse_duration(value) if isinstance(value, str) else parse_duration("")
    except ValueError as wrong:
        reading.complain(key, str(wrong))
        return DEFAULT_AGES[key]


def _max_bytes(table: dict[str, Any], reading: _Reading) -> int | None:
    value = table.get("max_bytes")
    if value is None or (type(value) is int and value >= 0):
        return value
    try:
        return parse_size(value) if isinstance(value, str) else parse_size("")
    except ValueError as wrong:
        reading.complain("max_bytes", str(wrong))
        return None


def _git(table: dict[str, Any], reading: _Reading) -> bool:
    value = table.get("git")
    if value not in (None, "disposable"):
        reading.complain("git", 'can only be "disposable"')
    return value == "disposable"
