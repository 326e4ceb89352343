"""One entry of `[[guard.commands]]` -> one row for the hot path, or the sentences that say what is wrong with it.

A row says which commands it is about and what must be true of their words. It selects behaviour that code offers by
name (`check`); it never carries code.
"""

from __future__ import annotations

from ...model.hot import ASK, DENY
from .decode import Table

Row = dict[str, object]
CHECKS = ("lease", "unfiltered", "everything", "many")  # decide/command_checks.py
_LISTS = ("options", "unless", "words", "spared", "text", "written", "context", "spoiled_by")
_TEXTS = ("description", "alternative")
_PROOFS = ("matches", "spares")
_KNOWN = ("id", "command", "decision", "check", "valued", "here", "there", *_LISTS, *_TEXTS, *_PROOFS)


def command_row(table: Table) -> Row | None:
    """`commands` holds one list of words for each spelling; keys that say nothing are left out."""
    fields = table.fields(_KNOWN)
    if not fields:
        return None
    row: Row = {"label": table.label, "commands": _commands(table, fields), "decision": _decision(table, fields)}
    for key in _LISTS:
        if key in fields:
            row[key] = list(table.texts(fields, key))
    for key in ("valued", "check", *_TEXTS):
        if key in fields:
            row[key] = table.text(fields, key)
    for key in _PROOFS:
        if key in fields:
            table.texts(fields, key)
    if row.get("check", "") not in ("", *CHECKS):
        table.fail("check", f"there is no check {row['check']!r}; there are {', '.join(CHECKS)}")
    for key in ("here", "there"):
        if fields.get(key, False) not in (True, False):
            table.fail(key, "must be true or false")
        elif fields.get(key):
            row[key] = True
    return row


def programs_of(row: Row) -> tuple[str, ...]:
    """The names (or globs of names) that a row is about."""
    commands = row["commands"]
    assert isinstance(commands, list)
    return tuple(dict.fromkeys(name for words in commands for name in words[0].split("|")))


def by_program(rows: list[Row]) -> dict[str, list[int]]:
    """Which rows are about which program."""
    found: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        for name in programs_of(row):
            found.setdefault(name, []).append(at)
    return found


def wild_of(rows: list[Row]) -> tuple[str, ...]:
    """The globs among the names."""
    return tuple(name for name in by_program(rows) if "*" in name or "?" in name)


def _commands(table: Table, fields: dict[str, object]) -> list[list[str]]:
    """`docker|podman volume rm|prune`: words, each with its spellings; a list where the words differ in number."""
    found = [text.split() for text in table.texts(fields, "command")] if "command" in fields else []
    if not found:
        table.fail("", "needs a command")
    for words in found:
        if any(name in ("", "*") or "/" in name for name in words[0].split("|")):
            table.fail("command", f"{words[0]!r} must name programs, without a directory")
    return found


def _decision(table: Table, fields: dict[str, object]) -> str:
    value = fields.get("decision", ASK)
    if value in (ASK, DENY):
        return str(value)
    table.fail("decision", f"must be {ASK} or {DENY}; what runs freely is said by [[guard.arguments]]")
    return ASK
