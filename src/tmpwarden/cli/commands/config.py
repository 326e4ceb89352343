"""`tmpwarden config show | init | set | edit | schema`: every key, where its value comes from, and how to change it."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass

import click

from ...catalogue.keys import KEYS
from ...catalogue.policy import is_locked
from ...catalogue.sample import sample, spelled
from ...catalogue.sample import schema as schema_text
from ...catalogue.settings import Settings, load_settings
from ...errors import BadArgument, BadConfig, WouldAsk
from ...guard.rules.compiled import config_files
from ...guard.rules.config import Loaded, load
from ...oskit.files import places
from ...text import shown
from .. import ask, completing, config_file
from ..call import Answer, Call
from ..group import pass_call
from ..table import Row, draw

_COLUMNS = ("KEY", "VALUE", "FROM")


@click.group()
def command() -> None:
    """Settings: what is in force and where it comes from; make, change and edit config.toml."""


@command.command()
@pass_call
def show(call: Call) -> Answer:
    """Every effective key and where it came from."""
    settings = load_settings(call.config_file)
    call.warn(*settings.warnings)
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
    rows = [Row((key, shown(_as_written(key, value)), shown(origin) + locked[key])) for key, value, origin in keys]
    return Answer(data, lambda: draw(_COLUMNS, rows, for_a_person=call.for_a_person))


def _guard_keys(call: Call) -> list[tuple[str, object, str]]:
    """[redirect] and [guard], which the guard reads from the same files; `guard verify` tells its rules one by one."""
    loaded = load((call.config_file,) if call.config_file else config_files(places.config_dir()))
    call.warn(*map(str, loaded.mistakes))
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


def _as_written(name: str, value: object) -> str:
    """As people write it in the file, without the quotes."""
    key = KEYS.get(name)
    if key is None or isinstance(value, list) or value is None:
        return _told(value)
    return spelled(key, value).strip('"')


def _plain(value: object) -> object:
    """A value as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(each) for name, each in asdict(value).items() if name != "origin"}
    return list(value) if isinstance(value, tuple) else value


def _told(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return ", ".join(str(each) for each in value) or "-"
        case dict():
            return ", ".join(f"{name} = {_told(each)}" for name, each in value.items())
        case None:
            return "-"
        case _:
            return str(value)


@command.command()
@click.option("--print", "is_printed", is_flag=True, help="Show the sample and write nothing.")
@pass_call
def init(call: Call, is_printed: bool) -> Answer:
    """Write a config.toml in which every key stands with its default, commented out, and a schema for editors."""
    if is_printed:
        text = sample(Settings())
        return Answer({"sample": text}, lambda: [text.rstrip("\n")])
    path = config_file.path_of(call)
    config_file.initialise(path)
    return Answer({"path": path}, lambda: [f"Wrote {shown(path)}. `tmpwarden config edit` opens it."])


@command.command("set")
@click.argument("key", shell_complete=completing.keys)
@click.argument("values", metavar="[VALUE]...", nargs=-1)
@click.option("--unset", is_flag=True, help="Take the key out: its default counts again.")
@pass_call
def set_key(call: Call, key: str, values: tuple[str, ...], unset: bool) -> Answer:
    """Set KEY in config.toml and change no other byte of it.

    A value that cannot be meant is refused before anything is written. Lists take several values.
    """
    if bool(values) is unset:
        raise BadArgument("say a value, or --unset", hint=f"{key}: {config_file.key_called(key).about}")
    path = config_file.path_of(call)
    value = config_file.change(path, key, None if unset else values)
    call.warn(*config_file.mistakes(path))
    told = f"{key} has its default again" if unset else f"{key} = {value}"
    data = {"key": key, "value": value or None, "path": path}
    return Answer(data, lambda: [f"{shown(told)} ({shown(path)})"])


@command.command()
@pass_call
def edit(call: Call) -> Answer:
    """Open config.toml in $VISUAL or $EDITOR, and check it before it counts.

    You edit a copy. With a mistake in it you are asked: edit again, or leave everything as it was.
    """
    if not call.can_ask:
        raise WouldAsk(hint="it needs a terminal; `tmpwarden config set KEY VALUE` does not")
    path = config_file.path_of(call)
    with config_file.Draft(path) as draft:
        while True:
            draft.open(config_file.editor())
            if not draft.is_changed:
                return Answer({"path": path, "changed": False}, lambda: ["Nothing was changed."])
            wrong = draft.mistakes()
            if not wrong:
                draft.keep()
                return Answer({"path": path, "changed": True}, lambda: [f"Changed {shown(path)}."])
            ask.say(map(shown, wrong))
            if not ask.yes("Edit it again?"):
                raise BadConfig(shown(path), "it had a mistake", hint="it is as it was before")


@command.command()
def schema() -> Answer:
    """The JSON schema of config.toml: for editors that complete and check TOML, and for CI."""
    text = schema_text()
    return Answer({"schema": text}, lambda: [text.rstrip("\n")])
