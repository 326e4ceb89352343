"""The user's config.toml as a file: made, changed by one key, edited and checked before it counts."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator

from ..catalogue.files import text_if_there
from ..catalogue.keys import KEYS, Key
from ..catalogue.sample import SCHEMA_FILE, CannotEdit, sample, schema, spelled, with_key, without_key
from ..catalogue.settings import Settings, load_settings
from ..errors import AlreadyThere, BadArgument, BadConfig, SystemRefused
from ..guard.rules.config import load as load_guard
from ..oskit.files import atomic, own_dirs, own_files, places
from ..text import did_you_mean, shown
from .call import Call

_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_LISTS = ("words", "paths", "patterns", "argv")


def path_of(call: Call) -> str:
    """Where it lies; behind a link (dotfiles in a repository) the file itself."""
    return os.path.realpath(call.config_file or os.path.join(places.config_dir(), "config.toml"))


def write(path: str, text: str) -> None:
    if os.path.dirname(path) == os.path.realpath(places.config_dir()):
        own_dirs.make_private_dir(places.config_dir())
    is_there = os.path.exists(path)
    mode = os.stat(path).st_mode & 0o777 if is_there else 0o600
    atomic.write(path, text, mode, durable=True, like=path if is_there else "")


def initialise(path: str) -> None:
    """The commented sample, and beside it the schema that its first line names."""
    if os.path.lexists(path):
        raise AlreadyThere(shown(path), hint="`tmpwarden config edit` opens it, `config init --print` shows the sample")
    write(path, sample(Settings()))
    write(os.path.join(os.path.dirname(path), SCHEMA_FILE), schema())


def key_called(name: str) -> Key:
    if name.partition(".")[0] in ("guard", "redirect", "rows"):
        raise BadArgument(f"{shown(name)} is no single value", hint="`tmpwarden config edit` opens the file")
    if name not in KEYS:
        near = did_you_mean(name, KEYS)
        raise BadArgument(f"there is no key {shown(name)}{near}", hint="`tmpwarden config show` lists them")
    return KEYS[name]


def value_of(name: str, key: Key, words: tuple[str, ...]) -> object:
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


def change(path: str, name: str, words: tuple[str, ...] | None) -> str:
    """Set a key, or with None let it have its default; the value as TOML."""
    key = key_called(name)
    table, _, word = name.partition(".")
    text = text_if_there(path)
    try:
        value = "" if words is None else _valid(name, key, words)
        new = without_key(text, table, word) if words is None else with_key(text, table, word, value)
    except CannotEdit:
        line = f"{word} = {value}" if words is not None else f"no {word}"
        hint = f"`tmpwarden config edit` opens it; below [{table}] write: {line}"
        raise BadConfig(shown(path), f"{name} is written in a way that only you should change", hint=hint) from None
    except ValueError as wrong:  # not TOML as it stands
        raise BadConfig(shown(path), str(wrong), hint="`tmpwarden config edit` opens it") from None
    if new != text:
        write(path, new)
    return value


def _valid(name: str, key: Key, words: tuple[str, ...]) -> str:
    value = value_of(name, key, words)
    try:
        key.decode(value)
    except ValueError as wrong:
        raise BadArgument(f"{name}: {wrong}") from None
    return spelled(key, value)


def mistakes(path: str) -> Iterator[str]:
    """What is wrong in the file, one sentence each: ours and the guard's."""
    try:
        yield from load_settings(path).warnings
    except BadConfig as wrong:
        yield str(wrong)
    yield from map(str, load_guard((path,)).mistakes)


class Draft:
    """A copy to edit: the file itself changes only when the copy is right, or when its user insists."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.copy = f"{os.path.splitext(path)[0]}.draft-{os.getpid()}.toml"

    def __enter__(self) -> Draft:
        write(self.copy, text_if_there(self.path) or sample(Settings()))
        return self

    def __exit__(self, *_: object) -> None:
        own_files.remove_file(self.copy)

    def open(self, editor: str) -> None:
        try:
            status = subprocess.run([*shlex.split(editor), self.copy], check=False).returncode
        except (OSError, ValueError) as wrong:
            raise SystemRefused(shown(editor), str(wrong), hint="set $EDITOR to one that is there") from None
        if status:
            raise SystemRefused(shown(editor), f"it ended with {status}", hint="nothing was changed")

    @property
    def is_changed(self) -> bool:
        return text_if_there(self.copy) != text_if_there(self.path)

    def mistakes(self) -> list[str]:
        return [line.replace(self.copy, self.path) for line in mistakes(self.copy)]

    def keep(self) -> None:
        write(self.path, text_if_there(self.copy))


def editor() -> str:
    """As every program finds it: $VISUAL, $EDITOR, vi."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
