"""Simple commands: words and assignments expanded in bash's order, then the command itself."""

from __future__ import annotations

from ..nouns.fields import Field
from ..nouns.invocation import Invocation
from ..nouns.names import names
from ..nouns.state import UNKNOWN, State
from ..shell.syntax import Assignment, SimpleCommand, Word
from .assignments import assign, declared
from .expand import expand
from .files import opened
from .shell import Shell, Ways

# special builtins: to a shell that keeps to POSIX, what is assigned in front of them stays
KEEPING = names("break : . continue eval exec exit export readonly return set shift source times trap unset")


def simulate_simple(shell: Shell, node: SimpleCommand, state: State) -> Ways:
    redirects = opened(shell, node.redirects, state) if node.redirects else []
    fields: list[Field] = []
    shell.processes = 0
    for word in node.words:
        if isinstance(word, Word):
            fields += expand(shell, word, state)
        else:
            fields.append(declared(shell, word, state))
    before = changed = shell.take_assigned(state)
    for assignment in node.assignments:  # bash, too, expands the words first
        changed = assign(shell, assignment, changed)
    if node.assignments and fields:
        changed = changed.exporting([assignment.name for assignment in node.assignments])
        _mark_exported(shell, node.assignments)
    if not fields:
        if redirects or node.words or changed.doubts is not state.doubts:
            shell.emit(Invocation(node, [], redirects, None), [], changed)
        return changed, changed
    body = next((r for r in reversed(node.redirects) if r.op.startswith("<<")), None)
    ok, failed = shell.call(Invocation(node, fields, redirects, body), changed)
    if not node.assignments:
        return ok, failed
    stays = fields[0].text in KEEPING or fields[0].text in state.functions
    return _without(ok, node.assignments, before, stays), _without(failed, node.assignments, before, stays)


def _mark_exported(shell: Shell, assignments: list[Assignment]) -> None:
    for assignment in assignments:
        site = shell.sites.get((assignment.value.start, 0)) if assignment.value is not None else None
        if site is not None:
            site.is_exported = True


def _without(after: State | None, assignments: list[Assignment], before: State, stays: bool) -> State | None:
    """Assignments in front of a command end with it; `stays`: or not, by the shell."""
    if after is None:
        return None
    result = after.copy()
    result.variables = dict(after.variables)
    for assignment in assignments:
        name = assignment.name
        if stays:
            result.variables[name] = UNKNOWN
        elif name in before.variables:
            result.variables[name] = before.variables[name]
        else:
            result.variables.pop(name, None)
        doubt = f"{name} is changed"
        if doubt not in before.doubts and not stays:
            result.doubts = tuple([known for known in result.doubts if known != doubt])
    return result
