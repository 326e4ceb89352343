"""config.toml as people write it: values spelled as TOML, a commented sample, a JSON schema for editors. Pure."""

from __future__ import annotations

import json
from typing import Any

from ..text import duration, parse_duration
from .keys import KEYS, TABLES, Key

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
    "argv": _STRINGS | {"minItems": 1},
}
_HEAD = """\
#:schema ./{schema}
# Settings of tmpwarden. Every key stands here with its default: take away the # before it and change it.
# `tmpwarden config show` tells what is in force and where it is set, `tmpwarden config set KEY VALUE` changes one key.
# Ages are written 90s, 30m, 1h30m or 7d, sizes 800M or 2G, shares 80%.
"""
_TAIL = """
# [guard] and [redirect], the rules for what agents may run, are told in docs/guard.md; `tmpwarden guard verify` checks
# them. One kind of left-over (`tmpwarden agents show NAME`) can be kept longer, asked about or left alone:
#
# [rows."AGENT.KIND"]
# enabled = true
# max_age = "14d"
"""


def spelled(key: Key, value: object) -> str:
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
                value = key.example or spelled(key, getattr(defaults, key.field))
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
