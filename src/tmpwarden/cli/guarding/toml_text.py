"""TOML as people would write it: keys, lists, tables, comments. Only what a file of rules needs."""

from __future__ import annotations

import json


def line(key: str, value: object) -> str:
    return f"{key} = {_value(value)}"


def listed(key: str, tables: list[dict[str, object]]) -> str:
    """A list of small tables, one a line."""
    rows = [f"    {{ {', '.join(line(name, value) for name, value in table.items())} }}," for table in tables]
    return "\n".join([f"{key} = [", *rows, "]"])


def entry(name: str, table: dict[str, object]) -> str:
    """`[[name]]` and its keys; those without a value are left out."""
    return "\n".join([f"[[{name}]]", *(line(key, value) for key, value in table.items() if value is not None), ""])


def comment(words: str) -> str:
    return f"# {' '.join(words.split())}"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    text = str(value)
    is_plain = "'" not in text and text.isprintable() and "\\" in text
    return f"'{text}'" if is_plain else json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
