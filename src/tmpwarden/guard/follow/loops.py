"""Loops: over words that are known one by one, else until nothing new is learned."""

from __future__ import annotations

from ..nouns.fields import Field
from ..nouns.state import UNKNOWN, State, join, same
from ..shell.syntax import AndOr, Block, Case, Expression, For, Function, If, Loop, Pipeline, Sequence
from .walk import Follower, Ways, as_value

MAX_ROUNDS = 16  # of a loop over words that are known


class Loops(Follower):
    """Adds for, select, while and until."""

    def _loop(self, node: Loop, state: State) -> Ways:
        self.discard(node.parts, state)
        if node.parts or node.condition is None:
            self.calculate(node.start, node.body.start, state)
        return self._rounds(node.condition, node.body, self.after_calculating(node, state))

    def _rounds(self, condition: Sequence | None, body: Sequence, state: State) -> Ways:
        """Until nothing new is learned: variables that a round changes become unknown, directories add up."""
        known, before = state, len(self.commands)
        for _ in range(6):
            del self.commands[before:]  # the next round knows less, so it says more
            self.escapes.append([])
            start = known
            if condition is not None:
                start = join(*self.run(condition, known)) or known
            after = join(*self.run(body, start))
            for escaped in self.escapes.pop():
                after = join(after, escaped)
            merged = join(join(known, start), after) or known
            if same(merged, known):
                return merged, merged
            known = merged
        known = known.at((None,)).forgetting()
        self.run(body, known)
        return known, known

    def _for(self, node: For, state: State) -> Ways:
        values: list[Field] = []
        for word in node.words or ():
            values += [self.noted(field, state) for field in self.fields(word, state)]
        state = self.after_calculating(node, state)
        if node.words is None and state.positional is not None:
            values = [Field(text, None) for text in state.positional]
        is_choice = self.source.startswith("select", node.start)  # a wrong answer leaves the variable empty
        if is_choice or not values or len(values) > MAX_ROUNDS or any(value.stem is None for value in values):
            return self._rounds(None, node.body, state.assigning({node.name: UNKNOWN}))
        reached: State | None = state
        for value in values:
            self.escapes.append([])
            state = state.assigning({node.name: as_value(value)})
            after = join(*self.run(node.body, state))
            for escaped in self.escapes.pop():
                after = join(after, escaped)
            if after is None:
                break
            state = after
            reached = join(reached, after) if value.pattern_at >= 0 else after
        return reached, reached


Loops.HANDLERS = {
    Sequence: Follower._sequence,
    AndOr: Follower._and_or,
    Pipeline: Follower._pipeline,
    Block: Follower._block,
    If: Follower._if,
    Loop: Loops._loop,
    For: Loops._for,
    Case: Follower._case,
    Expression: Follower._expression,
    Function: Follower._function,
}
