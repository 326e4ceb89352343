"""`tmpwarden config show | init | set | edit | schema`: every key, where its value comes from, and how to change it."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass

import click

from ...catalogue.files import text_if_there
from ...catalogue.keys import KEYS, Key
from ...catalogue.policy import is_locked
from ...catalogue.sample import SCHEMA_FILE, CannotEdit, sample, toml_text, with_key, without_key
from ...catalogue.sample import schema as schema_text
from ...catalogue.settings import Settings, load_settings
from ...errors import AlreadyThere, BadArgument, BadConfig, SystemRefused, WouldAsk
from ...guard.rules.compiled import config_files
from ...guard.rules.config import Loaded, load
from ...oskit.files import atomic, own_dirs, own_files, places
from ...text import did_you_mean, shown
from .. import ask, kinds
from ..call import Answer, Call
from ..group import pass_call
from ..table import Row, draw

_COLUMNS = ("KEY", "VALUE", "FROM")
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_LISTS = ("words", "paths", "patterns", "argv")


@click.group(invoke_without_command=True)
@pass_call
def command(call: Call) -> Answer:
    """Show the settings in force and where each is set; change or edit config.toml. Alone: `config show`."""
    return _all(call)


@command.command()
@pass_call
def show(call: Call) -> Answer:
    """Show every setting and where it is set."""
    return _all(call)


def _all(call: Call) -> Answer:
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
    rows = [
        Row((key, shown(_as_written(key, value)), _origin_text(origin) + locked[key])) for key, value, origin in keys
    ]
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


def _origin_text(origin: str) -> str:
    """A preset of ours by its name: where it is installed tells a person nothing."""
    directory, name = os.path.split(origin)
    return f"preset {name.removesuffix('.toml')}" if directory.endswith("/rules/presets") else shown(origin)


def _as_written(name: str, value: object) -> str:
    """As people write it in the file, without the quotes."""
    key = KEYS.get(name)
    if key is None or isinstance(value, list) or value is None:
        return _value_text(value)
    return toml_text(key, value).strip('"')


def _plain(value: object) -> object:
    """A value as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(each) for name, each in asdict(value).items() if name != "origin"}
    return list(value) if isinstance(value, tuple) else value


def _value_text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return ", ".join(str(each) for each in value) or "-"
        case dict():
            return ", ".join(f"{name} = {_value_text(each)}" for name, each in value.items())
        case None:
            return "-"
        case _:
            return str(value)


@command.command()
@click.option("--print", "is_printed", is_flag=True, help="Print the sample and write nothing.")
@pass_call
def init(call: Call, is_printed: bool) -> Answer:
    """Write a config.toml with every key and its default, commented out, and a schema for editors."""
    if is_printed:
        text = sample(Settings())
        return Answer({"sample": text}, lambda: [text.rstrip("\n")])
    path = _path_of(call)
    _initialise(path)
    return Answer({"path": path}, lambda: [f"Wrote {shown(path)}. `tmpwarden config edit` opens it."])


@command.command("set")
@click.argument("key", shell_complete=kinds.keys)
@click.argument("values", metavar="[VALUE]...", nargs=-1)
@click.option("--unset", is_flag=True, help="Remove the key from the file, so that its default applies.")
@pass_call
def set_key(call: Call, key: str, values: tuple[str, ...], unset: bool) -> Answer:
    """Set KEY in config.toml. Comments and layout stay as they are.

    An invalid value is refused before anything is written. Lists take several values.
    """
    if bool(values) is unset:
        raise BadArgument("give a value, or --unset", hint=f"{key}: {_key_called(key).about}")
    if call.config_file is None:
        ask.refuse_agents()
    path = _path_of(call)
    value = _change(path, key, None if unset else values)
    call.warn(*_mistakes(path))
    summary = f"{key} is back to its default" if unset else f"{key} = {value}"
    data = {"key": key, "value": value or None, "path": path}
    return Answer(data, lambda: [f"{shown(summary)} ({shown(path)})"])


def change(call: Call, key: str, values: tuple[str, ...] | None) -> None:
    """The same for another command that has asked the user already."""
    path = _path_of(call)
    _change(path, key, values)
    call.warn(*_mistakes(path))


@command.command()
@pass_call
def edit(call: Call) -> Answer:
    """Open config.toml in $VISUAL or $EDITOR, and check it before it is used.

    You edit a copy. If it has a mistake, you can edit again or discard the copy.
    """
    if not call.can_ask:
        raise WouldAsk(hint="it needs a terminal; without one use `tmpwarden config set KEY VALUE`")
    path = _path_of(call)
    with _Draft(path) as draft:
        while True:
            draft.open(_editor())
            if not draft.is_changed:
                return Answer({"path": path, "changed": False}, lambda: ["Nothing was changed."])
            wrong = draft.mistakes()
            if not wrong:
                draft.keep()
                return Answer({"path": path, "changed": True}, lambda: [f"Changed {shown(path)}."])
            ask.say(map(shown, wrong))
            if not ask.yes("Edit it again?"):
                raise BadConfig(
                    shown(path),
                    "config.toml was not changed: the copy had a mistake",
                    hint="`tmpwarden config edit` starts again",
                )


@command.command()
def schema() -> Answer:
    """The JSON schema of config.toml: for editors that complete and check TOML, and for CI."""
    text = schema_text()
    return Answer({"schema": text}, lambda: [text.rstrip("\n")])


def _path_of(call: Call) -> str:
    """Where it lies; behind a link (dotfiles in a repository) the file itself."""
    return os.path.realpath(call.config_file or os.path.join(places.config_dir(), "config.toml"))


def _write(path: str, text: str) -> None:
    if os.path.dirname(path) == os.path.realpath(places.config_dir()):
        own_dirs.make_private_dir(places.config_dir())
    is_there = os.path.exists(path)
    mode = os.stat(path).st_mode & 0o777 if is_there else 0o600
    atomic.write(path, text, mode, durable=True, like=path if is_there else "")


def _initialise(path: str) -> None:
    """The commented sample, and beside it the schema that its first line names."""
    if os.path.lexists(path):
        raise AlreadyThere(shown(path), hint="`tmpwarden config edit` opens it, `config init --print` shows the sample")
    _write(path, sample(Settings()))
    _write(os.path.join(os.path.dirname(path), SCHEMA_FILE), schema_text())


def _key_called(name: str) -> Key:
    if name.partition(".")[0] in ("guard", "redirect", "rows"):
        raise BadArgument(f"{shown(name)} is not a single value", hint="`tmpwarden config edit` opens the file")
    if name not in KEYS:
        near = did_you_mean(name, KEYS)
        raise BadArgument(f"unknown key {shown(name)}{near}", hint="`tmpwarden config show` lists them")
    return KEYS[name]


def _value_of(name: str, key: Key, words: tuple[str, ...]) -> object:
    """What was typed, as the file would have it."""
    if key.shape in _LISTS:
        is_relative = [key.shape == "paths" and not word.startswith("~") for word in words]
        return [os.path.abspath(word) if it_is else word for word, it_is in zip(words, is_relative, strict=True)]
    if len(words) != 1:
        raise BadArgument(f"{name} takes one value", hint=f"{key.about}")
    if key.shape == "flag":
        if words[0].lower() not in _FLAGS:
            raise BadArgument(f"{name}: must be true or false")
        return _FLAGS[words[0].lower()]
    return words[0] + "%" if key.shape == "share" and words[0].isdigit() else words[0]


def _change(path: str, name: str, words: tuple[str, ...] | None) -> str:
    """Set a key, or with None let it have its default; the value as TOML."""
    key = _key_called(name)
    table, _, word = name.partition(".")
    text = text_if_there(path)
    try:
        value = "" if words is None else _valid(name, key, words)
        new = without_key(text, table, word) if words is None else with_key(text, table, word, value)
    except CannotEdit:
        line = f"{word} = {value}" if words is not None else f"no {word}"
        hint = f"`tmpwarden config edit` opens it; below [{table}] write: {line}"
        raise BadConfig(shown(path), f"{name} is written in a form that tmpwarden does not change", hint=hint) from None
    except ValueError as wrong:  # not TOML as it stands
        raise BadConfig(shown(path), str(wrong), hint="`tmpwarden config edit` opens it") from None
    if new != text:
        _write(path, new)
    return value


def _valid(name: str, key: Key, words: tuple[str, ...]) -> str:
    value = _value_of(name, key, words)
    try:
        key.decode(value)
    except ValueError as wrong:
        raise BadArgument(f"{name}: {wrong}") from None
    return toml_text(key, value)


def _mistakes(path: str) -> Iterator[str]:
    """What is wrong in the file, one sentence each: ours and the guard's."""
    try:
        yield from load_settings(path).warnings
    except BadConfig as wrong:
        yield str(wrong)
    yield from map(str, load((path,)).mistakes)


class _Draft:
    """A copy to edit: the file itself changes only when the copy is right, or when its user insists."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.copy = f"{os.path.splitext(path)[0]}.draft-{os.getpid()}.toml"

    def __enter__(self) -> _Draft:
        _write(self.copy, text_if_there(self.path) or sample(Settings()))
        return self

    def __exit__(self, *_: object) -> None:
        own_files.remove_file(self.copy)

    def open(self, editor: str) -> None:
        try:
            status = subprocess.run([*shlex.split(editor), self.copy], check=False).returncode
        except (OSError, ValueError) as wrong:
            raise SystemRefused(shown(editor), str(wrong), hint="set $EDITOR to an installed editor") from None
        if status:
            raise SystemRefused(shown(editor), f"it ended with {status}", hint="nothing was changed")

    @property
    def is_changed(self) -> bool:
        return text_if_there(self.copy) != text_if_there(self.path)

    def mistakes(self) -> list[str]:
        return [line.replace(self.copy, self.path) for line in _mistakes(self.copy)]

    def keep(self) -> None:
        _write(self.path, text_if_there(self.copy))


def _editor() -> str:
    """As every program finds it: $VISUAL, $EDITOR, vi."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
