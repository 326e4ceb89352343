"""One agent's TOML file -> Agent and its rows, or complaints that name file, line, row and key. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

from ..model.sweep import Agent, Litter
from ..model.terms import Kind, OwnerRule, Tier, Worth
from ..text import duration
from . import checks, fields
from .fields import DEFAULT_AGES, Reading
from .names import complaint_about_name
from .patterns import name_pattern, split_place

SCHEMA = 1
TABLES = ("hooks", "setup", "temp")  # of an agent's file, beside [agent] and [[litter]]: its facts (tools/facts.py)
_AGENT_KEYS = {"id", "name", "programs", "session_env", "registry", "keeps_rewrite"}
_ROW_KEYS = {
    *("id", "in", "name", "kind", "tier", "worth", "owner", "why", "seen", "matches", "spares"),
    *(
        "grace",
        "min_age",
        "max_age",
        "resume",
        "checks",
        "max_bytes",
        "fixed",
        "verified",
        "beats",
        "git",
        "os",
        "credentials",
    ),
}
SYSTEMS = ("linux", "macos")


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
    reading = Reading(text, source, builtin, trusted)
    agent = _agent(data, reading)
    return (None if reading.complaints else agent), tuple(reading.complaints)


def _agent(data: dict[str, Any], reading: Reading) -> Agent:
    for key in data.keys() - {"schema", "agent", "litter", "worktree", "state", *TABLES}:
        reading.complain(key, "is not known here")
    if data.get("schema") != SCHEMA:
        reading.complain("schema", f"must be {SCHEMA}")
    head = data.get("agent")
    if not isinstance(head, dict):
        reading.complain("agent", "an [agent] table with id and name is missing")
        head = {}
    for key in head.keys() - _AGENT_KEYS:
        reading.complain(key, "is not known in [agent]")
    agent_id = fields.identifier(head, reading)
    rows = _rows(data.get("litter", []), agent_id, reading)
    if "worktree" in data:
        from . import worktrees  # which reads these tables again when somebody asks for them: few runs do

        worktrees.decode(data["worktree"], agent_id, reading)
    if "state" in data:
        from . import state_rows  # `scan --state` alone reads them

        state_rows.decode(data["state"], head, reading)
    return Agent(
        id=agent_id,
        name=fields.text(head, "name", reading) or agent_id,
        session_env=fields.texts(head, "session_env", reading),
        registry=fields.optional(head, "registry", reading),
        rows=rows,
        source=reading.source,
        has_facts="keeps_rewrite" in head or not data.keys().isdisjoint(TABLES),
    )


def _rows(tables: object, agent_id: str, reading: Reading) -> tuple[Litter, ...]:
    listed, rows = fields.tables(tables, "litter", reading), list[Litter]()
    for reading.row, table in enumerate(listed):
        reading.row_id = table["id"] if isinstance(table.get("id"), str) else ""
        row = _row(table, agent_id, reading)
        if row.id in {other.id for other in rows}:
            reading.complain("id", f"{row.id!r} is taken by another row of this file")
        rows.append(row)
    reading.row = None
    return tuple(rows)


def _row(table: dict[str, Any], agent_id: str, reading: Reading) -> Litter:
    for key in table.keys() - _ROW_KEYS:
        reading.complain(key, "is not known in a row")
    ages = {key: fields.age(table, key, reading) for key in DEFAULT_AGES}
    row = Litter(
        agent=agent_id,
        id=fields.identifier(table, reading),
        place=fields.text(table, "in", reading),
        name=fields.text(table, "name", reading),
        kind=fields.choice(Kind, table, "kind", reading, without=(Kind.OTHER,)),
        tier=fields.choice(Tier, table, "tier", reading),
        worth=fields.choice(Worth, table, "worth", reading),
        owner=fields.choice(OwnerRule, table, "owner", reading),
        grace_s=ages["grace"],
        min_age_s=ages["min_age"],
        max_age_s=ages["max_age"],
        resume=fields.flag(table, "resume", reading),
        checks=fields.texts(table, "checks", reading),
        max_bytes=fields.max_bytes(table, reading),
        beats=tuple(key if "." in key else f"{agent_id}.{key}" for key in fields.texts(table, "beats", reading)),
        git_disposable=fields.is_disposable(table, reading),
        fixed=fields.optional(table, "fixed", reading),
        verified=fields.optional(table, "verified", reading),
        why=fields.text(table, "why", reading),
        seen=fields.texts(table, "seen", reading),
        matches=fields.texts(table, "matches", reading),
        spares=fields.texts(table, "spares", reading),
        source=reading.source,
        os=fields.texts(table, "os", reading),
        credentials=fields.texts(table, "credentials", reading),
    )
    if unknown := [name for name in row.os if name not in SYSTEMS]:
        reading.complain("os", f"{unknown[0]!r} is none of {' '.join(SYSTEMS)}")
    if not reading.trusted:
        for law in _ROW_LAWS:
            law(row, reading)
    return row


def _law_of_names(row: Litter, reading: Reading) -> None:
    shared = False
    try:
        base, components = split_place(row.place)
        shared = not components and base != "project"  # that one is looked at only when a person names it
    except ValueError as wrong:
        reading.complain("in", str(wrong))
    # a row of ours may ask about what every script makes, if it is empty or undo brings it back
    is_harmless = "empty-dir" in row.checks or row.worth is Worth.SOME
    may_be_bland = row.tier is Tier.NEVER or (reading.builtin and row.tier is Tier.ASK and is_harmless)
    if wrong_name := complaint_about_name(row.name, shared=shared and not may_be_bland):
        return reading.complain("name", wrong_name)
    pattern = re.compile(name_pattern(row.name, 1000), re.ASCII | re.DOTALL)
    for key, group in ((OwnerRule.SESSION, "session"), (OwnerRule.PID, "pid")):
        if row.owner is key and group not in pattern.groupindex:
            reading.complain("owner", f"{key.value} needs a group (?P<{group}>...) in name")
    for example in row.matches:
        if not pattern.fullmatch(example):
            reading.complain("matches", f"{example!r} is not matched by name")
    for example in row.spares:
        if pattern.fullmatch(example):
            reading.complain("spares", f"{example!r} is matched by name")
    return None


def _law_of_proof(row: Litter, reading: Reading) -> None:
    if row.tier is Tier.AUTO and not row.verified:
        reading.complain("verified", "a row of tier auto needs it: the version it was measured with, or two reports")
    for key, examples in (("matches", row.matches), ("seen", row.seen)):
        if not examples:
            reading.complain(key, "needs at least one example")
    if not row.spares:
        reading.complain("spares", "needs at least one name that only looks alike")


def _law_of_ages(row: Litter, reading: Reading) -> None:
    may_go_lower = reading.builtin and row.worth is not Worth.SOME
    for key, seconds in (("grace", row.grace_s), ("min_age", row.min_age_s), ("max_age", row.max_age_s)):
        if seconds < DEFAULT_AGES[key] and not may_go_lower:
            who = "a row that is worth something" if reading.builtin else "a drop-in"
            reading.complain(key, f"{who} cannot be lower than {duration(DEFAULT_AGES[key])}")


def _law_of_checks(row: Litter, reading: Reading) -> None:
    for name in row.checks:
        if name not in checks.NAMES:
            reading.complain("checks", f"{name!r} is not one of {', '.join(sorted(checks.NAMES))}")
    if row.git_disposable and not reading.builtin:
        reading.complain("git", "only built-in rows can mark git work as disposable")
    if row.credentials and row.worth is not Worth.SECRET:
        reading.complain("credentials", 'is for rows of worth "secret"')
    if row.max_bytes is not None and row.kind is not Kind.FILE:
        reading.complain("max_bytes", "is for rows of kind file")


_ROW_LAWS: tuple[Callable[[Litter, Reading], None], ...] = (_law_of_names, _law_of_proof, _law_of_ages, _law_of_checks)
