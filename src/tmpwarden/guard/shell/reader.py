"""The grammar of bash: text in, a tree with exact places out."""

from __future__ import annotations

from .compound import read_function
from .cursor import Cursor, Grammar
from .lists import read_command, read_sequence
from .quotes import backslash, double, single
from .substitutions import backtick, dollar, process
from .syntax import Sequence, Unreadable

MAX_LENGTH = 200_000  # characters; more is not looked at
DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
OPENERS = {"\\": backslash, "'": single, '"': double, "$": dollar, "`": backtick, "<": process, ">": process}
GRAMMAR = Grammar(OPENERS, read_sequence, read_command, read_function)


def read(text: str) -> Sequence:
    """The tree of a command line; raises Unreadable."""
    if len(text) > MAX_LENGTH:
        raise Unreadable("too long")
    if "\0" in text:
        raise Unreadable("has a NUL, which bash drops")
    if not text.isascii() and not DIRECTIONS.isdisjoint(text):
        raise Unreadable("has marks that change the reading direction")
    return read_part(text, 0, len(text), 0)


def read_part(text: str, start: int, end: int, depth: int) -> Sequence:
    """The same for the text between two places, as in a string that a shell is given."""
    return Cursor(text, start, end, depth, GRAMMAR).whole()
