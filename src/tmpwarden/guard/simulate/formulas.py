"""Arithmetic: what it changes, and whether a value in it could be code."""

from __future__ import annotations

from ..nouns.state import UNKNOWN, State
from ..shell.syntax import LITERAL, Part
from .shell import Shell


def calculate(shell: Shell, start: int, end: int, state: State) -> None:
    """Every name in it counts as changed if anything is; a value that is no number may be a formula with code."""
    text = shell.source[start:end]
    bare = text.replace("==", "").replace("<=", "").replace(">=", "").replace("!=", "")
    is_changed = "=" in bare or "++" in bare or "--" in bare
    for name in names_in(text):
        value = shell.variable(name, state)
        if value.text is None or not value.text.isdigit():
            shell.doubt("a value that is calculated is not known")
            refuse_text(shell, value.text)
        if is_changed:
            shell.assigned[name] = UNKNOWN


def refuse_code(shell: Shell, parts: list[Part]) -> None:
    """A quoted subscript is expanded once more when it is calculated."""
    for part in parts:
        if part.kind == LITERAL:
            refuse_text(shell, part.text)


def refuse_text(shell: Shell, text: str | None) -> None:
    if text is not None and "[" in text and ("$(" in text or "`" in text):
        shell.refuse("a subscript runs code")


def names_in(text: str) -> list[str]:
    """The names of variables in a formula."""
    found, name = [], ""
    for c in text + " ":
        if c.isalnum() or c == "_":
            name += c
        else:
            if name and not name[0].isdigit():
                found.append(name)
            name = ""
    return found
