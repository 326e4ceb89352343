"""What a user may write after an option: ages, budgets, agents. Each failure is one sentence."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..text import parse_duration, parse_size, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .call import Answer, Call


def age(text: str) -> int:
    """`90s 30m 1h30m 24h 7d` as seconds."""
    try:
        return parse_duration(text)
    except ValueError as error:
        raise _bad(str(error)) from None


def byte_size(text: str) -> int:
    """`800M`, `2G` as bytes."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise _bad(str(error)) from None


def budget(text: str) -> tuple[int | None, int | None]:
    """`800M`, `2G` as (bytes, None), `80%` as (None, percent)."""
    if text.endswith("%"):
        digits = text[:-1]
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 3 and int(digits) <= 100):
            raise _bad(f"{shown(text)} is not a share; write 0% to 100%")
        return None, int(digits)
    return byte_size(text), None


class OneOf:
    """One of these words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def __call__(self, text: str) -> str:
        if text not in self.words:
            raise ValueError(text)
        return text


def pid(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise _bad(f"{shown(text)} is not the number of a process")
    return int(text)


def at_least(least: int) -> Callable[[object], int]:
    """A whole number that is no smaller."""

    def whole(value: object) -> int:
        text = str(value)
        if not (text.isascii() and text.isdigit() and int(text) >= least):
            raise _bad(f"{shown(text)} is not a whole number from {least} up")
        return int(text)

    return whole


def as_written(text: str | bytes) -> str:
    """A path that nobody looks at: that could hang where a mount does not answer."""
    return os.fsdecode(text)


def _bad(sentence: str) -> Exception:
    """What click tells beside the option's name."""
    from click import BadParameter

    return BadParameter(sentence)


def agent_ids(context: Any, parameter: Any, incomplete: str) -> Any:
    from .completing import agents

    return agents(context, parameter, incomplete)


# names and settings of options that several commands have
AGENT: tuple[tuple[str, ...], dict[str, Any]] = (
    ("--agent", "wanted"),
    {"multiple": True, "metavar": "A", "shell_complete": agent_ids, "help": "Only this agent; may be repeated."},
)
ALL_USERS: tuple[tuple[str, ...], dict[str, Any]] = (
    ("--all-users",),
    {"is_flag": True, "help": "Root only: for each user, as that user."},
)


PROJECT: tuple[tuple[str, ...], dict[str, Any]] = (
    ("--project", "projects"),
    {
        "multiple": True,
        "metavar": "DIR",
        "type": as_written,
        "help": "Only what agents litter this directory with, which you work in; may be repeated.",
    },
)


def for_whom(call: Call, all_users: bool, ask: Callable[[], Answer]) -> Answer:
    """`ask` once; with --all-users as each user in turn."""
    if not all_users:
        return ask()
    from .all_users import for_each_user

    return for_each_user(call, ask)


def project_rows(projects: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of the rows that look into projects; none where none is named, which means all rows."""
    if not projects:
        return ()
    from ..catalogue.load import load

    return tuple(row.key for row in load().rows if row.place.startswith("{project}"))


def agent_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--agent A`, repeatable, as `wanted`; shells complete it from the catalogue."""
    import click

    return click.option(*AGENT[0], **AGENT[1])(function)


def all_users_option(function: Callable[..., Any]) -> Callable[..., Any]:
    import click

    return click.option(*ALL_USERS[0], **ALL_USERS[1])(function)
