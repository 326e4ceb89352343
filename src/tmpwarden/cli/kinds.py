"""What a user may write after an option: ages, budgets, agents. Each failure is one sentence."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from ..text import parse_duration, parse_size, shown
from . import completing


def age(text: str) -> int:
    """`90s 30m 1h30m 24h 7d` as seconds."""
    try:
        return parse_duration(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def byte_size(text: str) -> int:
    """`800M`, `2G` as bytes."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def budget(text: str) -> tuple[int | None, int | None]:
    """`800M`, `2G` as (bytes, None), `80%` as (None, percent)."""
    if text.endswith("%"):
        digits = text[:-1]
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 3 and int(digits) <= 100):
            raise click.BadParameter(f"{shown(text)} is not a share; write 0% to 100%")
        return None, int(digits)
    return byte_size(text), None


class UntouchedPath(click.Path):
    """A path as it was written: click's own looks at the file, and hangs where a mount does not answer."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return os.fsdecode(value)


def agent_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--agent A`, repeatable, as `wanted`; shells complete it from the catalogue."""
    text = "Only this agent; may be repeated."
    return click.option("--agent", "wanted", multiple=True, metavar="A", shell_complete=completing.agents, help=text)(
        function
    )


all_users_option = click.option("--all-users", is_flag=True, help="Root only: for each user, as that user.")
