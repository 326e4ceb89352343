"""Which command comes after which: simple commands with their files, functions, loops, branches, pipelines."""

from __future__ import annotations

from ..nouns.analysis import APPEND, READ, WRITE, PathUse, Simple
from ..nouns.fields import Field, Invocation
from ..nouns.names import names
from ..nouns.paths import is_descriptor
from ..nouns.state import DATA, UNKNOWN, State, join, same
from ..programs.options import Argument
from ..shell.syntax import AndOr, Assignment, Node, Pipeline, Redirect, Sequence, SimpleCommand, Unreadable, Word
from .expand import (
    DASH,
    ZSH,
    as_value,
    assign,
    calculate,
    declaration_of,
    discard,
    expand,
    expand_single,
    note_word,
    refuse_code,
)
from .shell import Shell, Ways

REDIRECT_MODES = {
    ">": WRITE, ">|": WRITE, "&>": WRITE, ">&": WRITE, ">>": APPEND, "&>>": APPEND, "<": READ, "<>": WRITE,
}  # fmt: skip


def open_files(shell: Shell, node: Node, state: State) -> State:
    """The redirects behind a compound command."""
    redirects = open_redirects(shell, node.redirects, state)
    if redirects:
        shell.emit(Invocation(node, [], redirects, None), [], state)
    return shell.take_assigned(state)


def open_redirects(shell: Shell, redirects: list[Redirect], state: State) -> list[PathUse]:
    uses: list[PathUse] = []
    for redirect in redirects:
        op, target = redirect.op, redirect.target
        if op in ("&>", "&>>") or redirect.fd.startswith("{"):
            shell.doubt(DASH)  # which starts it in the background, or takes {fd} for an argument
        elif shell.source[target.start : target.start + 1] == "!":
            shell.doubt(ZSH)  # >! goes to the word behind it
        if redirect.fd.startswith("{"):
            shell.assigned[redirect.fd[1:-1]] = UNKNOWN  # the number of the descriptor
        if op.startswith("<<"):
            if redirect.parts:
                discard(shell, redirect.parts, state)
            elif op == "<<<":
                discard(shell, target.parts, state)
            continue
        fields = expand(shell, target, state)
        field = fields[0] if len(fields) == 1 else Field(None, target)
        if op in (">&", "<&") and _is_number(field.text):
            continue
        mode = READ if op == "<&" else REDIRECT_MODES[op]
        if not is_descriptor(field.text or ""):
            uses += shell.touch(Argument(field, 0, mode), state, "")
    return uses


def look_at_files(shell: Shell, files: list[Word], state: State) -> None:
    for word in files:
        shell.touch(Argument(expand_single(shell, word.parts, word, state), 0, READ), state, "[[")


def _is_number(text: str | None) -> bool:
    """Of a descriptor, with a dash behind it if that one is closed."""
    return text is not None and (text == "-" or (text.removesuffix("-").isdigit() and text.isascii()))


TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shell.syntax import Block, Case, Expression, For, Function, If, Loop

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
    outer, start = shell.before, len(shell.commands)
    for at, stage in enumerate(node.stages):
        ran = shell.commands[start:]
        shell.before = ran if at and len(ran) == at else None
        shell.simulate(stage, state)
    ran = shell.commands[start:]
    if len(ran) > 1 and len(ran[0].argv) == 1 and ran[0].name in TELLING and _sends(ran[1:]):
        shell.refuse("the environment, with what is secret in it, is sent elsewhere")
    shell.before = outer
    return state, state


TELLING = ("env", "printenv", "export", "set", "declare")
SENDING = ("curl", "wget", "nc", "ncat", "netcat", "socat", "telnet")


def _sends(commands: list[Simple]) -> bool:
    return any(simple.name in SENDING for simple in commands)


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
        values += [note_word(shell, field, state) for field in expand(shell, word, state)]
    state = shell.after_calculating(node, state)
    if node.words is None and state.positional is not None:
        values = [Field(text, None) for text in state.positional]
    is_choice = shell.source.startswith("select", node.start)  # a wrong answer leaves the variable empty
    if is_choice or not values or len(values) > MAX_ROUNDS or any(value.stem is None for value in values):
        is_data = not is_choice and bool(values) and all(value.is_data or value.stem is not None for value in values)
        return _rounds(shell, None, node.body, state.assigning({node.name: DATA if is_data else UNKNOWN}))
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


# special builtins: to a shell that keeps to POSIX, what is assigned in front of them stays
KEEPING = names("break : . continue eval exec exit export readonly return set shift source times trap unset")


def simulate_simple(shell: Shell, node: SimpleCommand, state: State) -> Ways:
    redirects = open_redirects(shell, node.redirects, state) if node.redirects else []
    fields: list[Field] = []
    shell.processes = 0
    for word in node.words:
        if isinstance(word, Word):
            fields += expand(shell, word, state)
        else:
            fields.append(declaration_of(shell, word, state))
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
