"""The user's shell: functions that start agents under `tmpwarden run`, and the files where shells find them."""

from __future__ import annotations

import os
import shlex
import shutil

from ..errors import BrokenSettings
from ..oskit import system
from ..oskit.files import places
from ..text import shown
from .edits import Edit, read, resolved
from .targets import TARGETS

SHELLS = ("bash", "zsh", "fish")


def shell_of(environ_shell: str) -> str:
    """The shell named in $SHELL, or the one that this system gives everybody."""
    name = os.path.basename(environ_shell)
    return name if name in SHELLS else system.customs.SHELL


def programs_here() -> tuple[tuple[str, str], ...]:
    """(program, agent id) for each agent's command on PATH."""
    return tuple((program, target.id) for target in TARGETS for program in target.programs if shutil.which(program))


def functions(shell: str, tmpwarden: str, programs: tuple[tuple[str, str], ...]) -> str:
    """Text for `eval`. Where tmpwarden has gone, the function starts the agent itself."""
    write = _fish if shell == "fish" else _posix
    return "".join(write(program, agent, shlex.quote(tmpwarden)) for program, agent in programs)


def _posix(program: str, agent: str, tmpwarden: str) -> str:
    """Not `claude() {`: where `claude` is an alias, as Claude's local installer makes it, that is a syntax error."""
    return (
        f"function {program} {{\n"
        f'  if [ -x {tmpwarden} ]; then {tmpwarden} run --agent {agent} -- {program} "$@"; '
        f'else command {program} "$@"; fi\n'
        "}\n"
    )


def _fish(program: str, agent: str, tmpwarden: str) -> str:
    return (
        f"function {program} --wraps={program}\n"
        f"  if test -x {tmpwarden}; {tmpwarden} run --agent {agent} -- {program} $argv; "
        f"else; command {program} $argv; end\n"
        "end\n"
    )


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
    base = without_block(text)
    if not programs:
        return Edit(path, before, before if base == text else base.encode())
    lines = functions(shell, tmpwarden, programs).splitlines()
    return Edit(path, before, with_block(base, lines).encode())


def completion_file(shell: str) -> str:
    """Where the shell itself looks for a command's completion; empty where it has no such place of the user's."""
    if shell == "bash":
        return os.path.join(os.path.dirname(places.data_dir()), "bash-completion", "completions", "tmpwarden")
    if shell == "fish":
        return os.path.join(os.path.dirname(places.config_dir()), "fish", "completions", "tmpwarden.fish")
    return ""


# Our lines in a text file of the user's whose comments start with #: between two marks, shown, and taken out whole.

FIRST, LAST = "# >>> tmpwarden >>>", "# <<< tmpwarden <<<"


def with_block(text: str, lines: list[str], at: int | None = None) -> str:
    """`text` with our lines in it: at an offset that starts a line, or at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([FIRST, *lines, LAST]) + newline
    if at is not None:
        return text[:at] + block + text[at:]
    gap = "" if not text or text.endswith("\n") else newline
    return text + gap + block


def without_block(text: str) -> str:
    """As it was, but for a newline that had to end its last line. A first mark without a last one is not cut."""
    while (start := _line_start(text, FIRST, 0)) >= 0 and (last := _line_start(text, LAST, start)) >= 0:
        end = text.find("\n", last)
        text = text[:start] + (text[end + 1 :] if end >= 0 else "")
    return text


def _line_start(text: str, line: str, since: int) -> int:
    at = text.find(line, since)
    while at > 0 and text[at - 1] != "\n":
        at = text.find(line, at + 1)
    return at
