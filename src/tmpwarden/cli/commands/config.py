"""`tmpwarden config show`: every effective key, and where it came from."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass

import click

from ...catalogue.policy import is_locked
from ...catalogue.settings import load_settings
from ...guard.rules.compiled import config_files
from ...guard.rules.config import Loaded, load
from ...oskit.files import places
from ...text import duration, shown
from ..call import Answer, Call
from ..group import pass_call
from ..table import Column, Row, draw

_AGES = {"periodic.every", "periodic.max_age", "quarantine.keep"}
_SHARES = {"automatic.max", "pressure.high", "pressure.low"}
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
    keys += _guard_keys(call)
    data = {
        "keys": {
            key: {"value": value, "from": origin} | ({"locked": True} if is_locked(key, settings.locks) else {})
            for key, value, origin in keys
        },
        "files": list(settings.files),
        "config_dir": places.config_dir(),
        "state_dir": places.state_dir(),
    }
    locked = {key: " (locked)" if is_locked(key, settings.locks) else "" for key, _, _ in keys}
    rows = [
        Row((key, shown(_words(_as_written(key, value))), shown(origin) + locked[key])) for key, value, origin in keys
    ]
    return Answer(data, lambda: draw(_COLUMNS, rows, for_a_person=call.for_a_person))


def _guard_keys(call: Call) -> list[tuple[str, object, str]]:
    """[redirect] and [guard], which the guard reads from the same files; `guard verify` tells its rules one by one."""
    loaded = load((call.config_file,) if call.config_file else config_files(places.config_dir()))
    for mistake in loaded.mistakes:
        call.warn(str(mistake))
    rules = loaded.rules
    return [
        ("redirect.tmp", rules.redirect_tmp, _origin(loaded, "redirect")),
        ("redirect.target", rules.target, _origin(loaded, "redirect")),
        ("guard.on_error", rules.on_error, _origin(loaded, "guard", "on_error")),
        ("guard.default", rules.default, _origin(loaded, "guard", "default")),
        ("guard.rules", len(rules.rules), ", ".join(source.name for source in loaded.sources) or "default"),
    ]


def _origin(loaded: Loaded, table: str, key: str = "") -> str:
    """The last file (or preset) that says it: that one wins."""
    for source in reversed(loaded.sources):
        content = source.document.get(table)
        if content is not None and (not key or (isinstance(content, dict) and key in content)):
            return source.path
    return "default"


def _as_written(key: str, value: object) -> object:
    """Ages and shares as people write them in the file."""
    if isinstance(value, int) and not isinstance(value, bool):
        if key in _AGES:
            return duration(value)
        if key in _SHARES:
            return f"{value}%"
    if key == "births.tier":
        return "auto" if value else "ask"
    return value


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
