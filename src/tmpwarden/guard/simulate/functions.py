"""Functions: defined, called by name, and those that nobody calls."""

from __future__ import annotations

from ..nouns.fields import Field
from ..nouns.invocation import Invocation
from ..nouns.state import UNKNOWN, State, join
from ..shell.syntax import Unreadable
from .expand import DASH
from .shell import Shell, Ways

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shell.compound_syntax import Function

MAX_CALLS = 8


def define_function(shell: Shell, node: Function, state: State) -> Ways:
    shell.in_order = False
    shell.defined.append(node)
    if shell.source.startswith("function", node.start):
        shell.doubt(DASH)  # which runs the lines of its body then and there
    state = shell.after_calculating(node, state).copy()
    state.functions = {**state.functions, node.name: (node,)}
    return state, state


def call_by_name(shell: Shell, name: str, call: Invocation, state: State) -> Ways:
    if call.redirects:
        shell.emit(Invocation(call.node, [], call.redirects, None), [], state)
    ok, failed = call_function(shell, name, call.fields[1:], state)
    if None not in state.functions[name]:
        return ok, failed
    call.skips_functions = True  # on some way here it was not defined
    other_ok, other_failed = shell.call(call, state)
    return join(ok, other_ok), join(failed, other_failed)


def call_function(shell: Shell, name: str, values: list[Field], state: State) -> Ways:
    """The body with its arguments. What it assigns stays; what it made local is not known afterwards."""
    if len(shell.returns) >= MAX_CALLS:
        raise Unreadable("functions call each other too deep")
    inner = state.copy()
    inner.positional = tuple([value.text for value in values]) if all(v.text is not None for v in values) else None
    after: State | None = None
    for function in state.functions[name]:
        if function is None:
            continue
        shell.called.add(function)
        shell.returns.append([])
        shell.locals.append(set())
        escapes, shell.escapes = shell.escapes, []
        after = join(after, join(*shell.simulate(function.body, inner)))
        shell.escapes = escapes
        for returned in shell.returns.pop():
            after = join(after, returned)
        own = shell.locals.pop()
        if after is not None and own:
            after = after.assigning(dict.fromkeys(own, UNKNOWN))
    if after is None:
        return None, None
    outer = after.copy()
    outer.positional = state.positional
    return outer, outer


def simulate_uncalled(shell: Shell, state: State) -> None:
    """A function that nobody calls by name may still be called: by a trap, by xargs, by a variable."""
    for function in shell.defined:
        if function not in shell.called:
            shell.called.add(function)
            shell.returns.append([])
            shell.simulate(function.body, state.at((None,)))
            shell.returns.pop()
