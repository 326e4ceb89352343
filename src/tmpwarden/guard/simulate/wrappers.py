"""Programs that run another program: their own options are passed, and what they run is followed."""

from __future__ import annotations

from ..nouns.analysis import CODE, READ, WRITE
from ..nouns.fields import Field
from ..nouns.invocation import Invocation
from ..nouns.special import LISTS, PROMPTS
from ..nouns.state import State, Value, join
from ..programs.options import Argument, Parsed, option
from ..programs.table import has, program
from ..shell.cursor import NAME, NAME_START
from .assignments import refuse_prompt
from .code import child_state, joined, simulate_code, value_of
from .directories import moved
from .plain import tell
from .shell import Shell, Ways


def simulate_wrapped(shell: Shell, call: Invocation, state: State) -> Ways:
    name = call.name
    if not has(name, "runs"):
        return _runner(shell, name, call, state)
    return unwrap(shell, name, 1, call, state)


def unwrap(shell: Shell, name: str, at: int, call: Invocation, state: State) -> Ways:
    """Pass what belongs to the wrapper itself, then follow what it runs."""
    known = program(name)
    parsed = Parsed(known)
    at, inner_state = _command_at(shell, name, at, parsed, call, state)
    if at < 0:
        shell.refuse(f"what {name} runs is not known")
        return tell(shell, call, state)
    code = [value_of(argument) for argument in parsed.found if argument.mode == CODE]
    rest = call.fields[at:]
    if code or known.text("runs") != "words":
        return _as_code(shell, name, code, rest, call, inner_state)
    if not rest or (name == "command" and parsed.has("v", "V")):
        return _bare(shell, name, call, state)
    if name in ("sudo", "doas", "pkexec") or (name == "env" and parsed.has("i", "u", "ignore-environment", "unset")):
        inner_state = inner_state.forgetting()  # TMPDIR and others may be gone
    if "leaves" in known.facets:
        inner_state = inner_state.at((None,))
    in_text, shell.in_text = shell.in_text, shell.in_text and "other_root" not in known.facets
    try:
        ways = shell.call(call.inside(name.replace(":", " "), rest), inner_state)
    finally:
        shell.in_text = in_text
    if "in_shell" in known.facets and inner_state is state and "/" not in (call.fields[0].text or ""):
        return join(state, ways[0]), join(state, ways[1])  # to zsh `command cd` is /usr/bin/cd, to dash builtin is none
    return state, state


def _as_code(shell: Shell, name: str, code: list[Field], rest: list[Field], call: Invocation, state: State) -> Ways:
    """Strings for a shell: in options, or all words that are left, together or each."""
    shell.emit(call, [], state)
    runs = program(name).text("runs")
    if name == "env":
        code = [joined([*code, *rest])]
    elif runs == "each":
        code = [*code, *rest]
    elif runs == "line" and rest:
        code = [*code, joined(rest)]
    for field in code:
        simulate_code(shell, field, child_state(shell, state, []), *call.wrappers, name)
    return state, state


def _bare(shell: Shell, name: str, call: Invocation, state: State) -> Ways:
    """A wrapper with nothing to run."""
    flags = [field.text for field in call.fields[1:] if (field.text or "").startswith("-")]
    if name in ("sudo", "doas") and any("i" in (flag or "") or "s" in (flag or "") for flag in flags):
        shell.refuse(f"{name} starts a shell")
    shell.emit(call, [], state)
    return state, state


def _command_at(shell: Shell, name: str, at: int, parsed: Parsed, call: Invocation, state: State) -> tuple[int, State]:
    """Where the command starts, -1 if that cannot be told."""
    fields = call.fields
    at = past_options(shell, at, parsed, fields)
    if at >= 0 and name in ("sudo", "env", "doas"):
        at, state = _assignments(shell, call, at, state)
    for kind in program(name).values("before"):
        if 0 <= at < len(fields):
            if kind == "path_written":
                parsed.found.append(Argument(fields[at], 0, WRITE))
            at = past_options(shell, at + 1, parsed, fields) if name == "flock" else at + 1
    paths = [use for one in parsed.found if one.mode != CODE for use in shell.touch(one, state, name)]
    if paths:
        shell.emit(Invocation(call.node, fields[:1], [], None), paths, state)
    if parsed.moves is not None:
        field, offset = parsed.moves
        shell.touch(Argument(field, offset, READ), state, name)
        state = moved(shell, [field if not offset else Field((field.text or "")[offset:], None)], state)
    return at, state


def past_options(shell: Shell, at: int, parsed: Parsed, fields: list[Field]) -> int:
    """Behind the options, -1 if one of them is not known."""
    while at < len(fields):
        text = fields[at].text
        if text is None:
            return -1
        if text == "--":
            return at + 1
        if not text.startswith("-") or text == "-":
            break
        at += 2 if option(parsed, fields[at], text, fields[at + 1] if at + 1 < len(fields) else None) else 1
    return at


def _assignments(shell: Shell, call: Invocation, at: int, state: State) -> tuple[int, State]:
    values: dict[str, Value] = {}
    while at < len(call.fields):
        field = call.fields[at]
        text = field.text
        if text is None and field.stem is None:
            return -1, state
        name, equals, value = (text or field.stem or "").partition("=")
        if not equals or not name:
            break
        if not is_name(name):
            shell.refuse(f"{name} is no variable of a shell")  # BASH_FUNC_rm%% defines a function
        values[name] = Value(value if text is not None else None)
        if name in PROMPTS:
            refuse_prompt(shell, values[name].text)
        if field.word is not None and shell.in_text:
            shell.site(field.word, len(name) + 1, "", name.endswith(LISTS)).modes.add("any")
        at += 1
    if not values:
        return at, state
    return at, state.assigning(values).exporting(list(values))


def _runner(shell: Shell, name: str, call: Invocation, state: State) -> Ways:
    """uv run and its kin: a subcommand runs what follows."""
    at = 1
    while at < len(call.fields) and (call.fields[at].text or "").startswith("-"):
        at += 1
    row = f"{name}:{call.fields[at].text}" if at < len(call.fields) else ""
    if not has(row, "runs") or at + 1 >= len(call.fields):
        return tell(shell, call, state)
    return unwrap(shell, row, at + 1, call, state)


def is_name(text: str) -> bool:
    return bool(text) and text[0] in NAME_START and all(c in NAME for c in text)
