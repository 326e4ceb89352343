"""`tmpwarden config show`: every effective key, and where it came from."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass

import click

from ...catalogue.settings import load_settings
from ...oskit import places
from ...text import shown
from ..call import Answer, Call
from ..group import pass_call
from ..table import Column, Row, draw

_COLUMNS = (Column("KEY"), Column("VALUE"), Column("FROM"))


@click.group()
def command() -> None:
    """Look at the configuration."""


@command.command()
@pass_call
def show(call: Call) -> Answer:
    """Every effective key and where it came from."""
    settings = load_settings(call.config_file)
    for warning in settings.warnings:
        call.warn(warning)
    keys = [(key, _plain(value), origin) for key, value, origin in settings.effective()]
    data = {
        "keys": {key: {"value": value, "from": origin} for key, value, origin in keys},
        "files": list(settings.files),
        "config_dir": places.config_dir(),
        "state_dir": places.state_dir(),
    }
    rows = [Row((key, shown(_words(value)), shown(origin))) for key, value, origin in keys]
    return Answer(data, lambda: draw(_COLUMNS, rows, for_a_person=call.for_a_person))


def _plain(value: object) -> object:
    """A value as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(each) for name, each in asdict(value).items() if name != "origin"}
    return list(value) if isinstance(value, tuple) else value


def _words(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return ", ".join(str(each) for each in value) or "-"
        case dict():
            return ", ".join(f"{name} = {_words(each)}" for name, each in value.items())
        case _:
            return str(value)
