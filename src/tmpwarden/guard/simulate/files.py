"""The files that the shell itself opens or looks at: redirects and conditions."""

from __future__ import annotations

from ..nouns.analysis import APPEND, READ, WRITE, PathUse
from ..nouns.fields import Field
from ..nouns.invocation import Invocation
from ..nouns.landing import is_descriptor
from ..nouns.state import UNKNOWN, State
from ..programs.options import Argument
from ..shell.syntax import Node, Redirect, Word
from .expand import DASH, ZSH, discard, expand, expand_single
from .shell import Shell

REDIRECT_MODES = {
    ">": WRITE, ">|": WRITE, "&>": WRITE, ">&": WRITE, ">>": APPEND, "&>>": APPEND, "<": READ, "<>": WRITE,
}  # fmt: skip


def open_files(shell: Shell, node: Node, state: State) -> State:
    """The redirects behind a compound command."""
    redirects = opened(shell, node.redirects, state)
    if redirects:
        shell.emit(Invocation(node, [], redirects, None), [], state)
    return shell.take_assigned(state)


def opened(shell: Shell, redirects: list[Redirect], state: State) -> list[PathUse]:
    found: list[PathUse] = []
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
            found += shell.touch(Argument(field, 0, mode), state, "")
    return found


def look_at_files(shell: Shell, files: list[Word], state: State) -> None:
    for word in files:
        shell.touch(Argument(expand_single(shell, word.parts, word, state), 0, READ), state, "[[")


def _is_number(text: str | None) -> bool:
    """Of a descriptor, with a dash behind it if that one is closed."""
    return text is not None and (text == "-" or (text.removesuffix("-").isdigit() and text.isascii()))
