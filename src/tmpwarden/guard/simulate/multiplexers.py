"""tmux and screen: what they are told to type or to start is code for a shell."""

from __future__ import annotations

from ..nouns.fields import Field
from ..nouns.invocation import Invocation
from ..nouns.state import State
from ..programs.options import parse
from ..programs.table import Program, is_known, program
from .code import child_state, joined, simulate_code
from .shell import Shell, Ways

TMUX_TYPES = ("send", "send-keys")


def simulate_tmux(shell: Shell, call: Invocation, state: State) -> Ways:
    shell.emit(call, [], state)
    rest = parse(program("tmux"), call.fields)
    at = call.fields.index(rest.plain[0]) if rest.plain else len(call.fields)
    name = call.fields[at].text if at < len(call.fields) else ""
    row = f"tmux:{name}"
    if name in TMUX_TYPES:
        typed = parse(program(row), call.fields[at:]).plain
        _typed(shell, [field for field in typed if " " in (field.text or " ")], call, state.at((None,)))
    elif is_known(row):  # it starts a shell
        words = _behind_options(program(row), call.fields[at:])
        if words:
            _typed(shell, [joined(words)], call, state)
    return state, state


def simulate_screen(shell: Shell, call: Invocation, state: State) -> Ways:
    told = parse(program("screen"), call.fields).found
    shell.emit(call, [use for one in told for use in shell.touch(one, state, "screen")], state)
    words = _behind_options(program("screen"), call.fields)
    if any(field.text == "-X" for field in call.fields):
        typed = [field for field in words if " " in (field.text or " ")]
        _typed(shell, typed, call, state.at((None,)))
    elif words:
        shell.call(call.inside("screen", words).quiet(), state)
    return state, state


def _typed(shell: Shell, code: list[Field], call: Invocation, state: State) -> None:
    for field in code:
        text = field.text
        if text is not None and "\\" in text:  # \n is its Enter
            field = Field(text.replace("\\n", "\n").replace("\\r", "\n").replace("^M", "\n"), None)
        simulate_code(shell, field, child_state(shell, state, []), *call.wrappers, call.fields[0].text or "")


def _behind_options(known: Program, fields: list[Field]) -> list[Field]:
    """All from the first plain argument on: what is started has options of its own."""
    plain = parse(known, fields).plain
    return fields[fields.index(plain[0]) :] if plain else []
