"""Walk the tree the way bash would run it, and keep what is known at each command."""

from __future__ import annotations

from ..nouns.analysis import Simple
from ..nouns.fields import Field
from ..nouns.state import UNKNOWN, State, Value, join
from ..shell.syntax import (
    AndOr,
    Block,
    Case,
    Expression,
    Function,
    If,
    Node,
    Pipeline,
    Sequence,
    SimpleCommand,
    Unreadable,
    Word,
)
from .expander import Expander

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..nouns.paths import Look

COMPARING = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R")  # of [[: numbers are calculated, subscripts too
MAX_STEPS = 3000
MAX_CALLS = 8

Ways = tuple["State | None", "State | None"]  # after success, after failure; None: it does not go on there


class Follower(Expander):
    """Everything but loops and simple commands, which Loops and Calls add."""

    HANDLERS: dict[type[Node], Any]

    def __init__(self, source: str, home: str, environment: dict[str, str], look: Look) -> None:
        super().__init__()
        self.source = source
        self.home = home
        self.environment = environment
        self.look = look
        self.in_text = True  # places in the tree are places in the text that was given
        self.commands: list[Simple] = []
        self.steps = 0
        self.escapes: list[list[State]] = []  # what was known at each break and continue, per loop around
        self.returns: list[list[State]] = []  # the same per function around
        self.locals: list[set[str]] = []  # names that each function around has made its own
        self.called: set[Function] = set()
        self.defined: list[Function] = []

    def run(self, node: Node, state: State) -> Ways:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Unreadable("too much to follow")
        if isinstance(node, SimpleCommand):
            return self.simple(node, state)
        if node.redirects:
            self.open_files(node, state)
            state = self.take_assigned(state)
        ways: Ways = self.HANDLERS[type(node)](self, node, state)
        return ways

    def open_files(self, node: Node, state: State) -> None:
        raise NotImplementedError

    def simple(self, node: SimpleCommand, state: State) -> Ways:
        raise NotImplementedError

    def look_at(self, files: list[Word], state: State) -> None:
        """Files that a condition asks about."""
        raise NotImplementedError

    def noted(self, field: Field, state: State) -> Field:
        """A word whose value a variable takes over."""
        raise NotImplementedError

    def run_inner(self, body: Sequence, source: str, state: State) -> None:
        """A substitution: a shell of its own. `source` is set where its text is not the one around it."""
        if source:
            self.run_text(body, source, state)
        else:
            self.run(body, state)

    def run_text(self, body: Sequence, source: str, state: State) -> Ways:
        """A tree that was read from another text."""
        outer, self.source = self.source, source
        in_text, self.in_text = self.in_text, False
        ways = self.run(body, state)
        self.source, self.in_text = outer, in_text
        return ways

    def take_assigned(self, state: State) -> State:
        """What expansions assigned on the way, and what they left in doubt."""
        if self.doubted:
            state, self.doubted = state.doubting(self.doubted), ""
        if not self.assigned:
            return state
        values, self.assigned = self.assigned, {}
        return state.assigning(values)

    def _sequence(self, node: Sequence, state: State) -> Ways:
        ways: Ways = (state, state)
        ends = False
        for item, separator in node.items:
            if separator == "&":
                self.run(item, state)
                ways = (state, state)
                continue
            ways = self.run(item, state)
            after = join(*ways)
            if after is None:
                ends = True  # what follows is read all the same: better one command too many
            else:
                state = after
        return (None, None) if ends else ways

    def _and_or(self, node: AndOr, state: State) -> Ways:
        ok, failed = self.run(node.first, state)
        for operator, item in node.rest:
            start = ok if operator == "&&" else failed
            more_ok, more_failed = self.run(item, start or ok or failed or state)
            if start is None:
                continue
            if operator == "&&":
                ok, failed = more_ok, join(failed, more_failed)
            else:
                ok, failed = join(ok, more_ok), more_failed
        return ok, failed

    def _pipeline(self, node: Pipeline, state: State) -> Ways:
        if len(node.stages) == 1:
            ok, failed = self.run(node.stages[0], state)
            return failed, ok
        for stage in node.stages:
            self.run(stage, state)
        return state, state

    def _block(self, node: Block, state: State) -> Ways:
        ways = self.run(node.body, state)
        if node.kind == "coproc":
            state = state.assigning({node.name: UNKNOWN, f"{node.name}_PID": UNKNOWN})
        return ways if node.kind == "{" else (state, state)

    def _if(self, node: If, state: State) -> Ways:
        ok: State | None = None
        failed: State | None = None
        rest: State | None = state
        for condition, body in node.branches:
            yes, no = self.run(condition, rest or state)
            body_ok, body_failed = self.run(body, yes or rest or state)
            if rest is not None and yes is not None:
                ok, failed = join(ok, body_ok), join(failed, body_failed)
            rest = no if rest is not None else None
        if node.otherwise is None:
            return join(ok, rest), failed
        other_ok, other_failed = self.run(node.otherwise, rest or state)
        if rest is None:
            return ok, failed
        return join(ok, other_ok), join(failed, other_failed)

    def after_calculating(self, node: Node, state: State) -> State:
        after = self.take_assigned(state)
        if after.doubts is not state.doubts:
            self.tell_doubt(node, after)
        return after

    def tell_doubt(self, node: Node, state: State) -> None:
        """Nothing was run that has a name, and yet the line is no longer sure."""
        raise NotImplementedError

    def _case(self, node: Case, state: State) -> Ways:
        self.fields(node.subject, state)
        state = self.after_calculating(node, state)
        result: State | None = state
        falls: State | None = None
        for patterns, body, operator in node.clauses:
            for pattern in patterns:
                self.discard(pattern.parts, state)
            after = join(*self.run(body, join(state, falls) or state))
            result = join(result, after)
            falls = after if operator in (";&", ";;&") else None
        return result, result

    def _expression(self, node: Expression, state: State) -> Ways:
        self.discard(node.parts, state)
        if node.files:
            self.look_at(node.files, state)
        if self.source.startswith("((", node.start):
            self.calculate(node.start, node.end, state)
        elif any(word in self.source[node.start : node.end] for word in COMPARING):
            self.calculate(node.start + 2, node.end - 2, state)
            self.refuse_code(node.parts)
        state = self.after_calculating(node, state)
        return state, state

    def _function(self, node: Function, state: State) -> Ways:
        self.defined.append(node)
        state = state.copy()
        state.functions = {**state.functions, node.name: (node,)}
        return state, state

    def call_function(self, name: str, values: list[Field], state: State) -> Ways:
        """The body with its arguments. What it assigns stays; what it made local is not known afterwards."""
        if len(self.returns) >= MAX_CALLS:
            raise Unreadable("functions call each other too deep")
        inner = state.copy()
        inner.positional = tuple([value.text for value in values]) if all(v.text is not None for v in values) else None
        after: State | None = None
        for function in state.functions[name]:
            if function is None:
                continue
            self.called.add(function)
            self.returns.append([])
            self.locals.append(set())
            escapes, self.escapes = self.escapes, []
            after = join(after, join(*self.run(function.body, inner)))
            self.escapes = escapes
            for returned in self.returns.pop():
                after = join(after, returned)
            own = self.locals.pop()
            if after is not None and own:
                after = after.assigning(dict.fromkeys(own, UNKNOWN))
        if after is None:
            return None, None
        outer = after.copy()
        outer.positional = state.positional
        return outer, outer

    def run_uncalled(self, state: State) -> None:
        """A function that nobody calls by name may still be called: by a trap, by xargs, by a variable."""
        for function in self.defined:
            if function not in self.called:
                self.called.add(function)
                self.returns.append([])
                self.run(function.body, state.at((None,)))
                self.returns.pop()


def as_value(field: Field) -> Value:
    value = Value(field.text if field.pattern_at < 0 else None, field.sites)
    value.stem, value.pattern_at = field.stem, field.pattern_at
    return value
