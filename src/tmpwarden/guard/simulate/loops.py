"""Loops: over words that are known one by one, else until nothing new is learned."""

from __future__ import annotations

from ..nouns.fields import Field
from ..nouns.state import UNKNOWN, State, join, same
from ..shell.syntax import Sequence
from .assignments import as_value, noted
from .expand import discard, expand
from .formulas import calculate
from .shell import Shell, Ways

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shell.compound_syntax import For, Loop

MAX_ROUNDS = 16  # of a loop over words that are known


def simulate_loop(shell: Shell, node: Loop, state: State) -> Ways:
    shell.in_order = False
    discard(shell, node.parts, state)
    if node.parts or node.condition is None:
        calculate(shell, node.start, node.body.start, state)
    return _rounds(shell, node.condition, node.body, shell.after_calculating(node, state))


def _rounds(shell: Shell, condition: Sequence | None, body: Sequence, state: State) -> Ways:
    """Until nothing new is learned: variables that a round changes become unknown, directories add up."""
    known, before = state, len(shell.commands)
    for _ in range(6):
        del shell.commands[before:]  # the next round knows less, so it says more
        shell.escapes.append([])
        start = known
        if condition is not None:
            start = join(*shell.simulate(condition, known)) or known
        after = join(*shell.simulate(body, start))
        for escaped in shell.escapes.pop():
            after = join(after, escaped)
        merged = join(join(known, start), after) or known
        if same(merged, known):
            return merged, merged
        known = merged
    known = known.at((None,)).forgetting()
    shell.simulate(body, known)
    return known, known


def simulate_for(shell: Shell, node: For, state: State) -> Ways:
    shell.in_order = False
    values: list[Field] = []
    for word in node.words or ():
        values += [noted(shell, field, state) for field in expand(shell, word, state)]
    state = shell.after_calculating(node, state)
    if node.words is None and state.positional is not None:
        values = [Field(text, None) for text in state.positional]
    is_choice = shell.source.startswith("select", node.start)  # a wrong answer leaves the variable empty
    if is_choice or not values or len(values) > MAX_ROUNDS or any(value.stem is None for value in values):
        return _rounds(shell, None, node.body, state.assigning({node.name: UNKNOWN}))
    reached: State | None = state
    for value in values:
        shell.escapes.append([])
        state = state.assigning({node.name: as_value(value)})
        after = join(*shell.simulate(node.body, state))
        for escaped in shell.escapes.pop():
            after = join(after, escaped)
        if after is None:
            break
        state = after
        reached = join(reached, after) if value.pattern_at >= 0 else after
    return reached, reached
