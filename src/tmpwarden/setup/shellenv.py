"""Shell functions that start the agents found here under `tmpwarden run`, so that each gets a scratch of its own."""

from __future__ import annotations

import os
import shlex
import shutil

from .targets import TARGETS

SHELLS = ("bash", "zsh", "fish")


def shell_of(environ_shell: str) -> str:
    """The shell named in $SHELL, or bash."""
    name = os.path.basename(environ_shell)
    return name if name in SHELLS else "bash"


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
