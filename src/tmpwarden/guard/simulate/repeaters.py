"""Programs that run another for whatever they find or read: find, xargs, parallel."""

from __future__ import annotations

from ..nouns.analysis import READ, WRITE, PathUse
from ..nouns.fields import Field
from ..nouns.invocation import Invocation
from ..nouns.names import names
from ..nouns.state import State
from ..programs.options import Argument, Parsed
from ..programs.table import program
from .code import child_state, joined, simulate_code
from .plain import tell
from .shell import Shell, Ways
from .wrappers import past_options

WRITING_TESTS = ("-fprint", "-fprint0", "-fprintf", "-fls")
READING_TESTS = ("-newer", "-anewer", "-cnewer", "-samefile", "-newermm", "-neweraa", "-newercc")
EXECUTING = ("-exec", "-execdir", "-ok", "-okdir")
MAX_INPUTS = 8
# without any of these find comes to everything, the start itself among it
NARROWING = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -empty -size -mtime -mmin -atime "
    "-amin -ctime -cmin -newer -newermt -newerct -user -group -perm -links -inum -samefile -false"
)


def simulate_find(shell: Shell, call: Invocation, state: State) -> Ways:
    starts, expression, follows = _taken_apart(call.fields)
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
    if not _is_narrowed(expression):
        below = [*starts, *below]
    if any(field.text == "-delete" for field in expression):
        for start in starts:
            shell.touch(Argument(start, 0, "delete"), state, "find")
        shell.call(call.inside("find", [Field("rm", None), *below]).quiet(), state)
    _executed(shell, call, expression, below, state)
    if any(field.text is None and field.stem is None for field in expression):
        shell.refuse("what find does is not known")
    return state, state


def _executed(shell: Shell, call: Invocation, expression: list[Field], below: list[Field], state: State) -> None:
    at = 0
    while at < len(expression):
        test = expression[at].text
        at += 1
        if test not in EXECUTING:
            continue
        inner: list[Field] = []
        while at < len(expression) and expression[at].text not in (";", "+"):
            text = expression[at].text or ""
            inner += below if text == "{}" else [Field(None, None)] if "{}" in text else [expression[at]]
            at += 1
        if inner:
            moved = state if test in ("-exec", "-ok") else state.at((None,))
            shell.call(call.inside("find", inner).quiet(), moved)


def simulate_xargs(shell: Shell, call: Invocation, state: State) -> Ways:
    """Its arguments come from its input: nobody knows them."""
    parsed = Parsed(program("xargs"))
    at = past_options(shell, 1, parsed, call.fields)
    if at < 0:
        shell.refuse("what xargs runs is not known")
        return tell(shell, call, state)
    inner = call.fields[at:] or [Field("echo", None)]
    unknown = Field(None, None)
    replaced = _replaced(call.fields[1:at])
    given = [unknown if replaced and replaced in (field.text or "") else field for field in inner]
    inner = given if replaced else [*given, unknown]
    paths = [use for argument in parsed.found for use in shell.touch(argument, state, "xargs")]
    shell.emit(call, paths, state)
    shell.call(call.inside("xargs", inner).quiet(), state)
    return state, state


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
    shell.emit(call, [use for one in parsed.found for use in shell.touch(one, state, "parallel")], state)
    code = joined(template) if template else None  # without one, each input is a command
    for value in inputs[:MAX_INPUTS]:
        simulate_code(
            shell,
            value if code is None else _filled(code, value),
            child_state(shell, state, []),
            *call.wrappers,
            "parallel",
        )
    if len(inputs) > MAX_INPUTS or parsed.moves is not None:
        shell.refuse("what parallel runs is not known")
    return state, state


def _taken_apart(fields: list[Field]) -> tuple[list[Field], list[Field], bool]:
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


def _is_narrowed(expression: list[Field]) -> bool:
    values = [*expression[1:], Field(None, None)]
    return any(test.text in NARROWING and value.text != "*" for test, value in zip(expression, values, strict=False))


def _below(start: Field, follows: bool) -> Field:
    """Any file that find may come to: below the start, through no link."""
    field = Field(None, None, start.sites)
    if start.stem is not None and start.pattern_at < 0 and not follows:
        field.stem = start.stem.rstrip("/") + "/?"
        field.pattern_at = len(field.stem) - 1
    return field


def _replaced(options: list[Field]) -> str:
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


def _filled(code: Field, value: Field) -> Field:
    """The template of parallel with one input; other marks than {} are not known."""
    if (
        code.text is None
        or value.text is None
        or any(mark in code.text for mark in ("{.", "{/", "{#", "{%", "{=", "{1"))
    ):
        return Field(None, None)
    quoted = "'" + value.text.replace("'", "'\\''") + "'"
    return Field(code.text.replace("{}", quoted) if "{}" in code.text else f"{code.text} {quoted}".strip(), None)
