"""Values of a TOML table, each of the kind it must be, or a complaint that names file, line, row and key. Pure."""

from __future__ import annotations

import re
from enum import Enum

from ..lazy_dataclass import dataclass, field
from ..text import parse_duration, parse_size
from ..toml_lines import line_of, lines_of

DEFAULT_AGES = {"grace": 60, "min_age": 3600, "max_age": 72 * 3600}
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    _E = TypeVar("_E", bound=Enum)


@dataclass(slots=True)
class Reading:
    """The file being read: where it came from, how much it may do, and what is wrong with it."""

    text: str
    source: str
    builtin: bool
    trusted: bool  # a built-in file: tests hold it to the laws of rows, which take longer to check than TOML to read
    row: int | None = None  # which [[litter]] we are in, from 0
    row_id: str = ""
    complaints: list[str] = field(default_factory=list)

    def complain(self, key: str, sentence: str) -> None:
        line = _line(self.text, key, self.row)
        where = f"row {self.row_id or (self.row or 0) + 1}, " if self.row is not None else ""
        self.complaints.append(f"{self.source}:{line}: {where}key {key}: {sentence}")


def _line(text: str, key: str, row: int | None) -> int:
    """The line of `key` in the agent's part or in the row-th [[litter]]; else that row's header; else 1."""
    lines = lines_of(text)
    if row is not None:
        return line_of(f"litter[{row}].{key}", lines)
    others = (line for path, line in lines.items() if path.split(".")[-1] == key and not path.startswith("litter["))
    return next(others, 1)


def identifier(table: dict[str, Any], reading: Reading) -> str:
    value = text(table, "id", reading)
    if value and not _ID.fullmatch(value):
        reading.complain("id", "is made of small letters, digits and single dashes")
    return value


def text(table: dict[str, Any], key: str, reading: Reading) -> str:
    value = table.get(key)
    if isinstance(value, str) and value.strip() and "\0" not in value:
        return value
    reading.complain(key, "is missing" if value is None else "must be a text that is not empty")
    return ""


def optional(table: dict[str, Any], key: str, reading: Reading) -> str | None:
    return text(table, key, reading) if key in table else None


def texts(table: dict[str, Any], key: str, reading: Reading) -> tuple[str, ...]:
    value = table.get(key, [])
    if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
        return tuple(value)
    reading.complain(key, "must be a list of texts")
    return ()


def tables(value: object, key: str, reading: Reading) -> list[dict[str, Any]]:
    if isinstance(value, list) and all(isinstance(table, dict) for table in value):
        return value
    reading.complain(key, f"must be a list of tables, [[{key}]]")
    return []


def flag(table: dict[str, Any], key: str, reading: Reading) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        reading.complain(key, "must be true or false")
    return value is True


def choice(words: type[_E], table: dict[str, Any], key: str, reading: Reading, without: tuple[_E, ...] = ()) -> _E:
    allowed = [word for word in words if word not in without]
    for word in allowed:
        if table.get(key) == word.value:
            return word
    reading.complain(key, "must be one of " + ", ".join(str(word.value) for word in allowed))
    return allowed[-1]


def age(table: dict[str, Any], key: str, reading: Reading) -> int:
    value = table.get(key)
    if value is None:
        return DEFAULT_AGES[key]
    try:
        return parse_duration(value) if isinstance(value, str) else parse_duration("")
    except ValueError as wrong:
        reading.complain(key, str(wrong))
        return DEFAULT_AGES[key]


def max_bytes(table: dict[str, Any], reading: Reading) -> int | None:
    value = table.get("max_bytes")
    if value is None or (type(value) is int and value >= 0):
        return value
    try:
        return parse_size(value) if isinstance(value, str) else parse_size("")
    except ValueError as wrong:
        reading.complain("max_bytes", str(wrong))
        return None


def is_disposable(table: dict[str, Any], reading: Reading) -> bool:
    value = table.get("git")
    if value not in (None, "disposable"):
        reading.complain("git", 'can only be "disposable"')
    return value == "disposable"
