"""Which command comes after which: sequences, && and ||, pipelines, if, case, conditions."""

from __future__ import annotations

from ..nouns.state import UNKNOWN, State, join
from ..shell.syntax import AndOr, Pipeline, Sequence
from .expand import DASH, discard, expand
from .files import look_at_files
from .formulas import calculate, refuse_code
from .shell import Shell, Ways

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shell.compound_syntax import Block, Case, Expression, If

COMPARING = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R")  # of [[: numbers are calculated, subscripts too


def simulate_sequence(shell: Shell, node: Sequence, state: State) -> Ways:
    ways: Ways = (state, state)
    ends = False
    for item, separator in node.items:
        if separator == "&":
            shell.is_beside = True
            shell.simulate(item, state)
            ways = (state, state)
            continue
        ways = shell.simulate(item, state)
        after = join(*ways)
        if after is None:
            ends = True  # what follows is read all the same: better one command too many
        else:
            state = after
    return (None, None) if ends else ways


def simulate_and_or(shell: Shell, node: AndOr, state: State) -> Ways:
    ok, failed = shell.simulate(node.first, state)
    for operator, item in node.rest:
        start = ok if operator == "&&" else failed
        more_ok, more_failed = shell.simulate(item, start or ok or failed or state)
        if start is None:
            continue
        if operator == "&&":
            ok, failed = more_ok, join(failed, more_failed)
        else:
            ok, failed = join(ok, more_ok), more_failed
    return ok, failed


def simulate_pipeline(shell: Shell, node: Pipeline, state: State) -> Ways:
    if len(node.stages) == 1:
        ok, failed = shell.simulate(node.stages[0], state)
        return failed, ok
    for stage in node.stages:
        shell.simulate(stage, state)
    return state, state


def simulate_block(shell: Shell, node: Block, state: State) -> Ways:
    ways = shell.simulate(node.body, state)
    if node.kind == "coproc":
        shell.is_beside = True
        state = state.assigning({node.name: UNKNOWN, f"{node.name}_PID": UNKNOWN})
    if node.kind == "time":  # to dash it is a program: what it runs changes nothing here
        return join(state, ways[0]), join(state, ways[1])
    return ways if node.kind == "{" else (state, state)


def simulate_if(shell: Shell, node: If, state: State) -> Ways:
    ok: State | None = None
    failed: State | None = None
    rest: State | None = state
    for condition, body in node.branches:
        yes, no = shell.simulate(condition, rest or state)
        body_ok, body_failed = shell.simulate(body, yes or rest or state)
        if rest is not None and yes is not None:
            ok, failed = join(ok, body_ok), join(failed, body_failed)
        rest = no if rest is not None else None
    if node.otherwise is None:
        return join(ok, rest), failed
    other_ok, other_failed = shell.simulate(node.otherwise, rest or state)
    if rest is None:
        return ok, failed
    return join(ok, other_ok), join(failed, other_failed)


def simulate_case(shell: Shell, node: Case, state: State) -> Ways:
    expand(shell, node.subject, state)
    state = shell.after_calculating(node, state)
    result: State | None = state
    falls: State | None = None
    for patterns, body, operator in node.clauses:
        for pattern in patterns:
            discard(shell, pattern.parts, state)
        after = join(*shell.simulate(body, join(state, falls) or state))
        result = join(result, after)
        falls = after if operator in (";&", ";;&") else None
    return result, result


def simulate_expression(shell: Shell, node: Expression, state: State) -> Ways:
    discard(shell, node.parts, state)
    shell.doubt(DASH)  # to which [[ is a command, and > in it a redirect
    if node.files:
        look_at_files(shell, node.files, state)
    if shell.source.startswith("((", node.start):
        calculate(shell, node.start, node.end, state)
    elif any(word in shell.source[node.start : node.end] for word in COMPARING):
        calculate(shell, node.start + 2, node.end - 2, state)
        refuse_code(shell, node.parts)
    state = shell.after_calculating(node, state)
    return state, state
