"""cd, pushd, popd: where the shell is."""

from __future__ import annotations

from ..nouns.fields import Field
from ..nouns.invocation import Invocation
from ..nouns.paths import joined, normalised, resolved
from ..nouns.state import State
from .plain import plain, tell
from .shell import Shell, Ways


def change_directory(shell: Shell, call: Invocation, state: State) -> Ways:
    plain(shell, call, state, "cd")
    return moved(shell, call.fields[1:], state), state


def moved(shell: Shell, values: list[Field], state: State) -> State:
    """Where cd leads; afterwards every directory is unknown if it cannot be told."""
    is_physical = False
    while values and values[0].text in ("-L", "-P", "-e", "-@", "--", "-LP", "-PL"):
        is_physical = is_physical or "P" in (values[0].text or "")
        values = values[1:]
    if not values:
        target = shell.variable("HOME", state).text
    elif len(values) > 1:
        return state.at((None,))
    else:
        target = values[0].stem if values[0].pattern_at < 0 else None  # a fresh name has no text
    if target is None or target[0:1] in ("-", "+"):  # +1 is a place on the stack of zsh
        return state.at((None,))
    if _searches(shell, target, state):
        return state.at((None,)).doubting("CDPATH says where cd goes")
    if not target:
        return state
    full = [joined(cwd, target) for cwd in state.cwds]
    if is_physical:
        return state.at(tuple([None if path is None else resolved(path, True, shell.look) for path in full]))
    return state.at(tuple([None if path is None else _logical(shell, path) for path in full]))


def _logical(shell: Shell, path: str) -> str | None:
    """By the letters; where that is no directory, bash goes through the links after all."""
    plain = normalised(path)
    if ".." in path and resolved(path, True, shell.look) != resolved(plain, True, shell.look):
        return None
    return plain


def _searches(shell: Shell, target: str, state: State) -> bool:
    if target.startswith(("/", "./", "../")) or target in (".", ".."):
        return False
    return "CDPATH" in state.variables or "CDPATH" in shell.environment


def push_directory(shell: Shell, call: Invocation, state: State) -> Ways:
    plain(shell, call, state, "cd")
    if len(call.fields) == 1 or (call.fields[1].text or "+").startswith(("+", "-")):
        return state.at((None,)), state
    after = moved(shell, call.fields[1:], state).copy()
    after.stack = (*state.stack, state.cwds)
    return after, state


def pop_directory(shell: Shell, call: Invocation, state: State) -> Ways:
    tell(shell, call, state)
    if not state.stack or len(call.fields) > 1:
        return state.at((None,)), state
    after = state.at(state.stack[-1])
    after.stack = state.stack[:-1]
    return after, state
