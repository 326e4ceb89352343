"""The start files of a user's shell: shell functions for agents that get their TMPDIR no other way."""

from __future__ import annotations

import os

from ..errors import BrokenSettings
from ..oskit.files import places
from ..text import shown
from . import marks, shellenv
from .edits import Edit, read, resolved


def start_file(shell: str) -> str:
    if shell == "fish":
        return os.path.join(os.path.dirname(places.config_dir()), "fish", "config.fish")
    if shell == "zsh":
        return os.path.join(os.environ.get("ZDOTDIR") or places.home(), ".zshrc")
    return os.path.join(places.home(), ".bashrc")


def with_functions(shell: str, tmpwarden: str, programs: tuple[tuple[str, str], ...]) -> Edit:
    """The start file with a function for each of `programs` (command, agent); with none of ours if there are none."""
    path = resolved(start_file(shell))
    before = read(path)
    try:
        text = (before or b"").decode()
    except UnicodeDecodeError:
        raise BrokenSettings(shown(path), "it is not UTF-8") from None
    base = marks.without_block(text)
    if not programs:
        return Edit(path, before, before if base == text else base.encode())
    lines = shellenv.functions(shell, tmpwarden, programs).splitlines()
    return Edit(path, before, marks.with_block(base, lines).encode())


def completion_file(shell: str) -> str:
    """Where the shell itself looks for a command's completion; empty where it has no such place of the user's."""
    if shell == "bash":
        return os.path.join(os.path.dirname(places.data_dir()), "bash-completion", "completions", "tmpwarden")
    if shell == "fish":
        return os.path.join(os.path.dirname(places.config_dir()), "fish", "completions", "tmpwarden.fish")
    return ""
