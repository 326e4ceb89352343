"""Change one key of a TOML text and no other byte. Pure; the result is parsed again and must be what was meant."""

from __future__ import annotations

import copy
import re
import tomllib
from typing import Any


class CannotEdit(Exception):
    """The key is written in a way that only a person should change."""


def with_key(text: str, table: str, key: str, spelled: str) -> str:
    """`text` in which `[table] key` is `spelled`, an expression of TOML."""
    lines = _lines(text)
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    wanted = tomllib.loads(f"value = {spelled}")["value"]
    start, end = _block(lines, table)
    found = _place_of(lines, start, end, key)
    if start < 0:
        gap = [] if not lines or not lines[-1].strip() else [end_of_line]
        lines += [*gap, f"[{table}]{end_of_line}", f"{key} = {spelled}{end_of_line}"]
    elif found is not None:
        first, last = found
        indent = re.match(r"\s*", lines[first])
        comment = _comment("".join(lines[first:last]))
        lines[first:last] = [f"{indent[0] if indent else ''}{key} = {spelled}{comment}{end_of_line}"]
    else:
        at = _best_line(lines, start, end, key)
        lines.insert(at, f"{key} = {spelled}{end_of_line}")
    return _checked(text, "".join(lines), table, key, wanted)


def without_key(text: str, table: str, key: str) -> str:
    """`text` that does not set `[table] key`."""
    lines = _lines(text)
    start, end = _block(lines, table)
    found = _place_of(lines, start, end, key) if start >= 0 else None
    if found is not None:
        del lines[found[0] : found[1]]
    return _checked(text, "".join(lines), table, key, None)


def _lines(text: str) -> list[str]:
    """As TOML counts them: a form feed in a string ends none."""
    lines = re.findall(r"[^\n]*\n|[^\n]+$", text)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return lines


def _block(lines: list[str], table: str) -> tuple[int, int]:
    """(line behind the header, line of the next header); -1 where there is none."""
    header = re.compile(rf"\s*\[\s*(?:{re.escape(table)}|\"{re.escape(table)}\"|'{re.escape(table)}')\s*\]\s*(?:#.*)?$")
    start = next((number + 1 for number, line in enumerate(lines) if header.match(line.rstrip("\r\n"))), -1)
    if start < 0:
        return -1, -1
    after = (number for number in range(start, len(lines)) if lines[number].lstrip().startswith("["))
    table_starts = re.compile(r"\s*\[\[?[^\[\]]+\]\]?\s*(#.*)?$").match
    return start, next((number for number in after if table_starts(lines[number].rstrip("\r\n"))), len(lines))


def _place_of(lines: list[str], start: int, end: int, key: str) -> tuple[int, int] | None:
    """The lines of `key = value`; as many as it takes till they are TOML."""
    spelling = re.compile(rf"""\s*(?:{re.escape(key)}|"{re.escape(key)}"|'{re.escape(key)}')\s*=""")
    for first in range(max(start, 0), max(end, 0)):
        if spelling.match(lines[first]):
            for last in range(first + 1, end + 1):
                if _parsed("".join(lines[first:last])) is not None:
                    return first, last
            raise CannotEdit
    return None


def _best_line(lines: list[str], start: int, end: int, key: str) -> int:
    """Behind its commented-out default, else behind the last word of the table."""
    for number in range(start, end):
        if re.match(rf"\s*#\s*{re.escape(key)}\s*=", lines[number]):
            return number + 1
    last = end
    while last > start and not lines[last - 1].strip():
        last -= 1
    return last


def _comment(line: str) -> str:
    """What stands behind a value, the blank before it included."""
    body = line.rstrip("\r\n")
    for found in re.finditer("#", body):
        if _parsed(body[: found.start()]) is not None:
            before = body[: found.start()]
            return before[len(before.rstrip()) :] + body[found.start() :]
    return ""


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _checked(old: str, new: str, table: str, key: str, wanted: object) -> str:
    """Equal to the old document with this one key changed, or nothing at all."""
    meant = copy.deepcopy(tomllib.loads(old))
    content = meant.setdefault(table, {}) if wanted is not None else meant.get(table, {})
    if not isinstance(content, dict):
        raise CannotEdit
    if wanted is None:
        content.pop(key, None)
    else:
        content[key] = wanted
    if _parsed(new) != meant:
        raise CannotEdit
    return new
