"""Programs that run another program, once or for whatever they find: sudo, env, find, xargs, parallel."""

from __future__ import annotations

from ..nouns.analysis import CODE, LISTED, READ, WRITE, PathUse
from ..nouns.fields import Field, Invocation, begins_a_name
from ..nouns.names import LISTS
from ..nouns.state import State, Value, join
from ..programs.options import Argument, Parsed, option, parse
from ..programs.table import has, is_known, program
from ..shell.cursor import NAME, NAME_START
from .builtins import move_shell
from .expand import as_value, take_setting
from .listing import is_narrowed, list_names
from .plain import as_one_field, child_state, simulate_code, tell, value_of
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
    code = [value_of(argument) for argument in parsed.paths if argument.mode == CODE]
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
        code = [as_one_field([*code, *rest])]
    elif runs == "each":
        code = [*code, *rest]
    elif runs == "line" and rest:
        code = [*code, as_one_field(rest)]
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
        if 0 <= at < len(fields) and not (name == "setarch" and is_known(fields[at].text or "")):  # setarch -R COMMAND
            if kind == "path_written":
                parsed.paths.append(Argument(fields[at], 0, WRITE))
            at = past_options(shell, at + 1, parsed, fields) if name == "flock" else at + 1
    paths = [use for one in parsed.paths if one.mode != CODE for use in shell.touch(one, state, name)]
    if paths:
        shell.emit(Invocation(call.node, fields[:1], [], None), paths, state)
    if parsed.moves is not None:
        field, offset = parsed.moves
        shell.touch(Argument(field, offset, READ), state, name)
        state = move_shell(shell, [field if not offset else Field((field.text or "")[offset:], None)], state)
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
        take_setting(shell, name, values[name].text, state)
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


WRITING_TESTS = ("-fprint", "-fprint0", "-fprintf", "-fls")
READING_TESTS = ("-newer", "-anewer", "-cnewer", "-samefile", "-newermm", "-neweraa", "-newercc")
EXECUTING = ("-exec", "-execdir", "-ok", "-okdir")
MAX_INPUTS = 8


def simulate_find(shell: Shell, call: Invocation, state: State) -> Ways:
    starts, expression, follows = _split_find(call.fields)
    paths: list[PathUse] = []
    for start in starts:
        paths += shell.touch(Argument(start, 0, READ), state, "find")
    for at in range(1, len(expression)):
        test = expression[at - 1].text
        if test in WRITING_TESTS or test in READING_TESTS:
            mode = WRITE if test in WRITING_TESTS else READ
            paths += shell.touch(Argument(expression[at], 0, mode), state, "find")
    shell.emit(call, paths, state)
    below = [_below(start, follows) for start in starts]
    if not is_narrowed(expression):
        below = [*starts, *below]
    if any(field.text == "-delete" for field in expression):
        for start in starts:
            shell.touch(Argument(start, 0, "delete"), state, "find")
        shell.call(call.inside("find", [Field("rm", None), *below]).quiet(), state)
    _run_actions(shell, call, expression, below, state)
    if any(field.text is None and field.stem is None for field in expression):
        shell.refuse("what find does is not known")
    return state, state


def simulate_fd(shell: Shell, call: Invocation, state: State) -> Ways:
    """fd PATTERN DIRECTORY... -x COMMAND: the command runs for whatever it finds below."""
    at = next((at for at, field in enumerate(call.fields) if field.text in FD_EXECUTING), 0)
    if not at:
        return tell(shell, call, state)
    looks = Invocation(call.node, call.fields[:at], call.redirects, None)
    parsed = parse(program("fd"), looks.fields)
    starts = parsed.plain[1:] or [Field(".", None)]
    tell(shell, looks, state)
    is_all = not parsed.has("e", "extension") and (not parsed.plain or parsed.plain[0].text in ("", ".", "*"))
    below = [_below(start, False) for start in starts]
    inner = [field for field in call.fields[at + 1 :] if field.text != ";"]
    fields = [field for field in inner if "{" not in (field.text or "")] + (starts if is_all else []) + below
    if inner:
        shell.call(call.inside("fd", fields).quiet(), state)
    return state, state


FD_EXECUTING = ("-x", "-X", "--exec", "--exec-batch")


def _run_actions(shell: Shell, call: Invocation, expression: list[Field], below: list[Field], state: State) -> None:
    at = 0
    while at < len(expression):
        test = expression[at].text
        at += 1
        if test not in EXECUTING:
            continue
        inner: list[Field] = []
        while at < len(expression) and expression[at].text not in (";", "+"):
            text = expression[at].text or ""
            is_code = "{}" in text and len(below) == 1 and bool(inner) and has(inner[0].text, "shell")
            held = [_in_code(expression[at], "{}")] if is_code else [Field(None, None)]
            inner += below if text == "{}" else held if "{}" in text else [expression[at]]
            at += 1
        if inner:
            moved = state if test in ("-exec", "-ok") else state.at((None,))
            if len(below) == 1:
                moved = moved.assigning({ITEM: as_value(below[0])}).exporting([ITEM])
            shell.call(call.inside("find", inner).quiet(), moved)


def simulate_xargs(shell: Shell, call: Invocation, state: State) -> Ways:
    """Its arguments come from its input: names that a program before it lists, or nobody knows what."""
    parsed = Parsed(program("xargs"))
    at = past_options(shell, 1, parsed, call.fields)
    if at < 0:
        shell.refuse("what xargs runs is not known")
        return tell(shell, call, state)
    inner = call.fields[at:] or [Field("echo", None)]
    unknown = _piped_names(shell, parsed, call) or [Field(None, None)]
    replaced = _placeholder(call.fields[1:at])
    if replaced:
        is_shell = has(inner[0].text, "shell") and len(unknown) == 1
        mark = "?" if shell.before and shell.before[0].name == "seq" else "*"
        held = [_in_code(field, replaced) if is_shell else _put_mark(field, replaced, mark) for field in inner]
        exact = [unknown if field.text == replaced else [other] for field, other in zip(inner, held, strict=True)]
        inner = [field for one in exact for field in one]
        if is_shell:
            state = state.assigning({ITEM: as_value(unknown[0])}).exporting([ITEM])
    else:
        inner = [*inner, *unknown]
    paths = [use for argument in parsed.paths for use in shell.touch(argument, state, "xargs")]
    shell.emit(call, paths, state)
    within = call.inside("xargs", inner).quiet()
    within.doubts = (*within.doubts, LISTED)
    shell.call(within, state)
    return state, state


def _piped_names(shell: Shell, parsed: Parsed, call: Invocation) -> list[Field] | None:
    """Only what comes through a pipe, and whole: no file of names, no other separator than a line's end or a NUL."""
    if parsed.paths or call.body is not None or parsed.has("a", "d", "arg-file", "delimiter", "process-slot-var"):
        return None
    if any(use.mode == READ for use in call.redirects):
        return None
    return list_names(shell.before) if shell.before is not None else None


def _put_mark(field: Field, replaced: str, mark: str) -> Field:
    """out/{}.json: a name in out; -o{} and the like are not known."""
    head, is_there, rest = (field.text or "").partition(replaced)
    if not is_there:
        return field
    held = Field(None, None)
    if head[:1] not in ("", "-", ".") or begins_a_name(head):
        held.stem, held.pattern_at = f"{head}{mark}{rest.replace(replaced, mark)}", len(head)
    return held


ITEM = "TMPWARDEN_ITEM"  # stands for what xargs and find put into code


def _in_code(field: Field, replaced: str) -> Field:
    """Code for a shell with the name in it: not known between single quotes, which would keep a variable from it."""
    text = field.text or ""
    if replaced not in text or text == replaced:
        return field
    text = text.replace(f"'{replaced}'", f'"${ITEM}"').replace(f'"{replaced}"', f'"${ITEM}"')
    return Field(None if "'" in text else text.replace(replaced, f"${{{ITEM}}}"), None)


def simulate_parallel(shell: Shell, call: Invocation, state: State) -> Ways:
    """A template for a shell, once for each input; inputs that stand in the line are known."""
    parsed = Parsed(program("parallel"))
    at = past_options(shell, 1, parsed, call.fields)
    template = call.fields[at:] if at >= 0 else [Field(None, None)]
    inputs: list[Field] = [Field(None, None)]
    for place, field in enumerate(template):
        if field.text in (":::", "::::", ":::+", "::::+"):
            inputs = template[place + 1 :] if field.text == ":::" else inputs
            template = template[:place]
            break
    shell.emit(call, [use for one in parsed.paths for use in shell.touch(one, state, "parallel")], state)
    code = as_one_field(template) if template else None  # without one, each input is a command
    for value in inputs[:MAX_INPUTS]:
        simulate_code(
            shell,
            value if code is None else _fill_template(code, value),
            child_state(shell, state, []),
            *call.wrappers,
            "parallel",
        )
    if len(inputs) > MAX_INPUTS or parsed.moves is not None:
        shell.refuse("what parallel runs is not known")
    return state, state


def _split_find(fields: list[Field]) -> tuple[list[Field], list[Field], bool]:
    """Starting points, expression, and whether links are followed."""
    at, follows = 1, False
    while at < len(fields) and (fields[at].text or "") in ("-H", "-L", "-P", "-O1", "-O2", "-O3"):
        follows = follows or fields[at].text == "-L"
        at += 1
    starts = []
    while at < len(fields) and not (fields[at].text or "").startswith(("-", "(", "!", ",")):
        starts.append(fields[at])
        at += 1
    expression = fields[at:]
    if any(field.text == "-files0-from" for field in expression):
        starts = [Field(None, None)]
    follows = follows or any(field.text == "-follow" for field in expression)
    return starts or [Field(".", None)], expression, follows


def _below(start: Field, follows: bool) -> Field:
    """Any file that find may come to: below the start, through no link."""
    field = Field(None, None, start.sites)
    if start.stem is not None and start.pattern_at < 0 and not follows:
        field.stem = start.stem.rstrip("/") + "/?"
        field.pattern_at = len(field.stem) - 1
    return field


def _placeholder(options: list[Field]) -> str:
    """What xargs replaces in its words: -I {}, -i, --replace."""
    for at, field in enumerate(options):
        text = field.text or ""
        if text == "-I":
            return (options[at + 1].text or "") if at + 1 < len(options) else ""
        if text.startswith(("-I", "-i")):
            return text[2:] or "{}"
        if text.startswith("--replace"):
            return text.partition("=")[2] or "{}"
    return ""


def _fill_template(code: Field, value: Field) -> Field:
    """The template of parallel with one input; other marks than {} are not known."""
    if (
        code.text is None
        or value.text is None
        or any(mark in code.text for mark in ("{.", "{/", "{#", "{%", "{=", "{1"))
    ):
        return Field(None, None)
    quoted = "'" + value.text.replace("'", "'\\''") + "'"
    return Field(code.text.replace("{}", quoted) if "{}" in code.text else f"{code.text} {quoted}".strip(), None)
