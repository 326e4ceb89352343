"""$(mktemp ...): a name that nobody has yet, in TMPDIR or where it is told."""

from __future__ import annotations

from ..nouns.analysis import Simple
from ..nouns.fields import Field
from ..nouns.paths import joined
from ..nouns.state import State
from ..programs.options import parse
from ..programs.table import program
from .shell import Shell


def fresh_name(shell: Shell, commands: list[Simple], state: State) -> str | None:
    """The path that stands for it; None if it was not mktemp alone, or nobody knows where it goes."""
    if len(commands) != 1 or commands[0].argv[:1] != ("mktemp",) or commands[0].doubts or "mktemp" in state.functions:
        return None
    argv = commands[0].argv
    if None in argv or any(word in ("-u", "--dry-run") or "=" in (word or "") for word in argv):
        return None
    parsed = parse(program("mktemp").arguments, [Field(word, None) for word in argv])
    template = parsed.plain[0].text or "" if parsed.plain else "tmp.XXXXXXXXXX"
    told = next((argument.field.text for argument in parsed.found), None)
    if told is None and (parsed.has("t", "tmpdir") or not parsed.plain):
        told = shell.variable("TMPDIR", state).text
    elif told is None:
        told = "."
    if not told or ".." in template or "XXX" not in template:
        return None
    where = template if template.startswith("/") else f"{told}/{template}"
    return joined(state.cwds[0], where) if len(state.cwds) == 1 else None
