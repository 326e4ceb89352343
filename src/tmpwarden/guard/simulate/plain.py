"""An ordinary program: told with its paths, and followed into the code that its options carry."""

from __future__ import annotations

from ...text import is_within
from ..nouns.analysis import CODE, READ, PathUse
from ..nouns.fields import Field, Invocation
from ..nouns.state import UNKNOWN, State
from ..programs.arguments import arguments
from ..programs.options import Argument
from ..programs.table import program
from ..shell.reader import read_part
from ..shell.syntax import LITERAL, Unreadable
from .shell import Shell, Ways

MAX_SHELLS = 6


def simulate_code(shell: Shell, field: Field, state: State, *around: str) -> Ways:
    """Read a string as bash does, in its place in the text if it stands there as it is."""
    if field.text is None:
        shell.refuse("a shell is given code that is not known")
        return state.at((None,)).forgetting(), state.at((None,)).forgetting()
    shell.nested += 1
    if shell.nested > MAX_SHELLS:
        raise Unreadable("shells in shells, too deep")
    outer, shell.around = shell.around, shell.around + around
    place = _place(shell, field)
    try:
        if place is not None:
            ways = shell.simulate(read_part(shell.source, place[0], place[1], shell.nested), state)
        else:
            ways = shell.simulate_text(read_part(field.text, 0, len(field.text), shell.nested), field.text, state)
    finally:
        shell.around = outer
        shell.nested -= 1
    return ways


def _place(shell: Shell, field: Field) -> tuple[int, int] | None:
    if not shell.in_text or field.word is None or len(field.word.parts) != 1:
        return None
    part = field.word.parts[0]
    if part.kind != LITERAL or part.quote not in ("'", '"'):
        return None
    start, end = (part.start + 1, part.end - 1) if part.quote == "'" else (part.start, part.end)
    return (start, end) if shell.source[start:end] == field.text else None


def child_state(shell: Shell, state: State, values: list[Field]) -> State:
    """The state of a shell that is started: it sees what is exported, nothing else."""
    inner = state.copy()
    inner.variables = {
        name: value if name in state.exported or name in shell.environment else UNKNOWN
        for name, value in state.variables.items()
    }
    inner.positional = tuple([value.text for value in values[1:]]) if all(v.stem is not None for v in values) else None
    if values and any(value.text is None for value in values):
        inner.positional = None
    return inner


def value_of(argument: Argument) -> Field:
    """The word of an option's value, in its place in the text if it is a word of its own."""
    text = argument.field.text
    return argument.field if not argument.offset else Field(None if text is None else text[argument.offset :], None)


def as_one_field(fields: list[Field]) -> Field:
    """As one string of code; in its place if it is one word."""
    if len(fields) == 1:
        return fields[0]
    known = all(field.text is not None for field in fields)
    return Field(" ".join([field.text or "" for field in fields]) if known else None, None)


def plain(
    shell: Shell, call: Invocation, state: State, name: str, uses: tuple[PathUse, ...] | list[PathUse] = ()
) -> list[PathUse]:
    """`found`: paths that were found otherwise."""
    paths = list(uses)
    code: list[Argument] = []
    if not (call.is_remote or shell.is_remote):
        for argument in arguments(name, call.fields):
            if argument.mode == CODE:
                code.append(argument)
            else:
                paths += shell.touch(argument, state, name)
    shell.emit(call, paths, state)
    for argument in code:
        simulate_code(shell, value_of(argument), child_state(shell, state, []), name)
    return paths


def tell(shell: Shell, call: Invocation, state: State) -> Ways:
    """A command that changes nothing here."""
    first = call.fields[0].text or ""
    plain(shell, call, state, first.rpartition("/")[2])
    return state, state


def note_links(shell: Shell, name: str, call: Invocation, paths: list[PathUse]) -> None:
    letters = program(name).text("links")
    options = "".join([field.text or "" for field in call.fields[1:] if (field.text or "-").startswith("-")])
    if name.endswith("tar"):
        options += call.fields[1].text or "" if len(call.fields) > 1 else ""
    if letters and not any(c in options for c in letters):
        return
    if name in ("cp", "gcp", "rsync") and _is_of_the_project(shell, paths):
        return
    depth = 0 if name.endswith("tar") or name in ("unzip", "git") else -1
    for use in paths:
        if use.mode != READ and use.path is not None:
            shell.links.append((use.path, depth))
            if use.resolved is not None and use.resolved != use.path:
                shell.links.append((use.resolved, depth))


def _is_of_the_project(shell: Shell, paths: list[PathUse]) -> bool:
    """A copy of what lies here, to here: it brings no link that was not here before. In the scratch an allow is at
    stake, and there it counts as one that may."""
    temp = shell.environment.get("TMPDIR")
    if not temp or not all(_is_near(use) for use in paths):
        return False
    return not any(is_within(use.path or "", temp) or is_within(temp, use.path or "") for use in paths)


def _is_near(use: PathUse) -> bool:
    return bool(use.path) and use.raw[:1] not in ("/", "~", "$", "'", '"') and ".." not in use.raw
