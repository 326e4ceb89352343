"""config.toml as people write it: values spelled as TOML, a commented sample, a JSON schema for editors; and one key
changed with no other byte. Pure: what was changed is parsed again and must be what was meant."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from typing import Any

from ..text import duration, parse_duration
from .keys import DESKTOP, KEYS, TABLES, Key

SCHEMA_FILE = "config.schema.json"
_AGE = r"^\s*([0-9]{1,12}w)?([0-9]{1,12}d)?([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?\s*$"
_SHARE = r"^0*([1-9][0-9]?|100)%?$"
_SIZE = r"^\s*[0-9]+(\.[0-9]*)?\s*([KMGT]?(i?B)?|[kmgt]?(i?b)?)\s*$"
_STRINGS = {"type": "array", "items": {"type": "string"}}
_SHAPES: dict[str, dict[str, Any]] = {
    "flag": {"type": "boolean"},
    "age": {"type": "string", "minLength": 1, "pattern": _AGE},
    "share": {"type": "string", "pattern": _SHARE},
    "size": {"type": "string", "pattern": _SIZE},
    "word": {"type": "string"},
    "words": _STRINGS,
    "paths": {"type": "array", "items": {"type": "string", "pattern": "^[/~]"}},
    "patterns": {"type": "array", "items": {"type": "string", "pattern": "^[^/]+$"}},
    "argv": {"anyOf": [{"const": DESKTOP}, _STRINGS | {"minItems": 1}]},
}
_HEAD = """\
#:schema ./{schema}
# Settings of tmpwarden. Every key stands here with its default: remove the # before it and change it.
# `tmpwarden config show` shows what is in force and where it is set, `tmpwarden config set KEY VALUE` changes one key.
# Ages are written 90s, 30m, 1h30m or 7d, sizes 800M or 2G, shares 80%.
"""
_TAIL = """
# [guard] and [redirect], the rules for what agents may run, are told in docs/guard.md; `tmpwarden guard verify` checks
# them. One kind of leftover (`tmpwarden agents show NAME`) can be kept longer, asked about or left alone:
#
# [rows."AGENT.KIND"]
# enabled = true
# max_age = "14d"
"""


def toml_text(key: Key, value: object) -> str:
    """A decoded value as TOML."""
    match value:
        case bool() if key.shape == "word":
            return _string(key.words[int(value)])
        case bool():
            return "true" if value else "false"
        case int() if key.shape == "age":
            words = duration(value)
            return _string(words if parse_duration(words) == value else f"{value}s")
        case int() if key.shape == "share":
            return _string(f"{value}%")
        case int():
            return _string(_size(value))
        case tuple() | list():
            return "[" + ", ".join(_string(str(each)) for each in value) + "]"
        case _:
            return _string(str(value))


def _size(count: int) -> str:
    """`10G`, exactly."""
    for unit, bytes_in_it in (("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if count and count % bytes_in_it == 0:
            return f"{count // bytes_in_it}{unit}"
    return str(count)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def sample(defaults: object) -> str:
    """Every key with its default, commented out, below what it is for. `defaults`: a Settings that nobody touched."""
    lines = [_HEAD.format(schema=SCHEMA_FILE)]
    for table, about in TABLES.items():
        lines += [f"[{table}]", f"# {about}"]
        for name, key in KEYS.items():
            if name.startswith(f"{table}."):
                value = key.example or toml_text(key, getattr(defaults, key.field))
                note = " For example:" if key.example else ""
                lines += [f"# - {key.about}{note}", f"# {name.partition('.')[2]} = {value}"]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n" + _TAIL


def schema() -> str:
    """For editors that check and complete TOML (the first line of the sample names it)."""
    tables: dict[str, Any] = {
        table: {"type": "object", "description": about, "additionalProperties": False, "properties": {}}
        for table, about in TABLES.items()
    }
    for name, key in KEYS.items():
        table, _, word = name.partition(".")
        tables[table]["properties"][word] = _described(key)
    for table, page in (("guard", "guard.md"), ("redirect", "guard.md")):
        tables[table] = {"type": "object", "description": f"docs/{page}; `tmpwarden guard verify` checks it."}
    tables["policy"] = {"type": "object", "description": "Heard from /etc alone.", "properties": {"lock": _STRINGS}}
    tables["rows"] = {"type": "object", "additionalProperties": _row()}
    document = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "tmpwarden config.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": tables,
    }
    return json.dumps(document, indent=2) + "\n"


def _described(key: Key) -> dict[str, Any]:
    shape = _SHAPES[key.shape] | {"description": key.about}
    if key.words and "items" in shape:
        return shape | {"items": {"enum": list(key.words)}}
    return shape | {"enum": list(key.words)} if key.words else shape


def _row() -> dict[str, Any]:
    """One kind of left-over, as [rows."agent.kind"]."""
    ages = dict.fromkeys(("grace", "min_age", "max_age"), _SHAPES["age"])
    properties = {"enabled": _SHAPES["flag"], "tier": {"const": "ask"}, **ages}
    return {"type": "object", "additionalProperties": False, "properties": properties}


class CannotEdit(Exception):
    """The key is written in a way that only a person should change."""


def with_key(text: str, table: str, key: str, value_text: str) -> str:
    """`text` in which `[table] key` is `value_text`, an expression of TOML."""
    lines = _lines(text)
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    wanted = tomllib.loads(f"value = {value_text}")["value"]
    start, end = _block(lines, table)
    place = _place_of(lines, start, end, key)
    if start < 0:
        gap = [] if not lines or not lines[-1].strip() else [end_of_line]
        lines += [*gap, f"[{table}]{end_of_line}", f"{key} = {value_text}{end_of_line}"]
    elif place is not None:
        first, last = place
        indent = re.match(r"\s*", lines[first])
        comment = _comment("".join(lines[first:last]))
        lines[first:last] = [f"{indent[0] if indent else ''}{key} = {value_text}{comment}{end_of_line}"]
    else:
        at = _best_line(lines, start, end, key)
        lines.insert(at, f"{key} = {value_text}{end_of_line}")
    return _checked(text, "".join(lines), table, key, wanted)


def without_key(text: str, table: str, key: str) -> str:
    """`text` that does not set `[table] key`."""
    lines = _lines(text)
    start, end = _block(lines, table)
    place = _place_of(lines, start, end, key) if start >= 0 else None
    if place is not None:
        del lines[place[0] : place[1]]
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
    for match in re.finditer("#", body):
        if _parsed(body[: match.start()]) is not None:
            before = body[: match.start()]
            return before[len(before.rstrip()) :] + body[match.start() :]
    return ""


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _checked(old: str, new: str, table: str, key: str, wanted: object) -> str:
    """Equal to the old document with this one key changed, or nothing at all."""
    expected = copy.deepcopy(tomllib.loads(old))
    content = expected.setdefault(table, {}) if wanted is not None else expected.get(table, {})
    if not isinstance(content, dict):
        raise CannotEdit
    if wanted is None:
        content.pop(key, None)
    else:
        content[key] = wanted
    if _parsed(new) != expected:
        raise CannotEdit
    return new
