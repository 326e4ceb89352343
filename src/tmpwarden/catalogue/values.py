"""Single values of config.toml: each decoder returns the value or raises ValueError with a sentence. Pure."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

from ..text import parse_duration, parse_size


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def age(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError('must be an age in quotes, such as "1h30m"')
    return parse_duration(value)


def wait(value: object) -> int:
    seconds = age(value)
    if seconds < 60:
        raise ValueError("must be at least 60s")
    return seconds


def max_age(value: object) -> int:
    seconds = age(value)
    if seconds < 3600:
        raise ValueError("must be at least 1h")
    return seconds


def percent(value: object) -> int:
    digits = value.removesuffix("%") if isinstance(value, str) else ""
    if not (digits.isascii() and digits.isdigit() and 1 <= int(digits) <= 100):
        raise ValueError('must be a share in quotes, such as "50%"')
    return int(digits)


def _texts(value: object, otherwise: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(otherwise)
    return tuple(value)


def patterns(value: object) -> tuple[str, ...]:
    found = _texts(value, sentence := 'must be a list of patterns for names, such as ["*.pdf"]')
    if not all(item and "/" not in item for item in found):
        raise ValueError(sentence)
    return found


def argv(value: object) -> tuple[str, ...]:
    found = _texts(value, sentence := 'must be a program and its arguments, such as ["notify-send", "{message}"]')
    if not found or any("\0" in item for item in found):
        raise ValueError(sentence)
    return found


def paths(value: object) -> tuple[str, ...]:
    value = _texts(value, "must be a list of paths")
    found = tuple(os.path.normpath(os.path.expanduser(item)) for item in value)
    if not all(os.path.isabs(path) and "\0" not in path for path in found):
        raise ValueError("must be absolute paths, or start with ~/")
    return found


def size(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError('must be a size in quotes, such as "20G"')
    return parse_size(value)


def word_of(known: Collection[str]) -> Callable[[object], str]:
    """A decoder for one of these words."""

    def decode(value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"must be one of {', '.join(known)}")
        return value

    return decode


def each_of(known: Collection[str]) -> Callable[[object], tuple[str, ...]]:
    """A decoder for a list of these words."""
    one = word_of(known)

    def decode(value: object) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise ValueError(f"must be a list of {', '.join(known)}")
        return tuple(one(item) for item in value)

    return decode


def is_auto(value: object) -> bool:
    if value not in ("ask", "auto"):
        raise ValueError('must be "ask" or "auto"')
    return value == "auto"
