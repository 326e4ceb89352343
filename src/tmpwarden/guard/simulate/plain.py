"""An ordinary program: told with its paths, and followed into the code that its options carry."""

from __future__ import annotations

from ..nouns.analysis import CODE, PathUse
from ..nouns.invocation import Invocation
from ..nouns.state import State
from ..programs.arguments import arguments
from ..programs.options import Argument
from .code import child_state, simulate_code, value_of
from .shell import Shell, Ways


def plain(shell: Shell, call: Invocation, state: State, name: str) -> list[PathUse]:
    paths: list[PathUse] = []
    code: list[Argument] = []
    if not (call.is_remote or shell.is_remote):
        for argument in arguments(name, call.fields):
            if argument.mode == CODE:
                code.append(argument)
            else:
                paths += shell.touch(argument, state, name)
    shell.emit(call, paths, state)
    for argument in code:
        simulate_code(shell, value_of(argument), child_state(shell, state, []), name)
    return paths


def tell(shell: Shell, call: Invocation, state: State) -> Ways:
    """A command that changes nothing here."""
    first = call.fields[0].text or ""
    plain(shell, call, state, first.rpartition("/")[2])
    return state, state
