"""${...}: a parameter, the operator behind its name, and the operand, which is a word of its own kind."""

from __future__ import annotations

from .arithmetic import read_arithmetic
from .cursor import NAME, Cursor
from .syntax import LITERAL, PARAMETER, TILDE, Part, Unreadable
from .words import ENDS_TILDE

SPECIAL_NAMES = frozenset("@*#?$!-0123456789")
TESTS = (":-", ":=", ":?", ":+", "-", "=", "?", "+")


def braces(cursor: Cursor, parts: list[Part], around: str) -> None:
    text, start = cursor.text, cursor.pos
    part = Part(PARAMETER, "", start, start, around)
    pos = start + 2
    if text[pos : pos + 1] in ("!", "#") and text[pos + 1 : pos + 2] not in tuple("}:-+=?#%/"):
        part.op = text[pos]
        pos += 1
    stop = pos
    while stop < cursor.end and text[stop] in NAME:
        stop += 1
    if stop == pos and text[pos : pos + 1] in SPECIAL_NAMES:
        stop += 1
    if stop == pos:
        raise Unreadable("a parameter expansion that is not understood")
    part.text = text[pos:stop]
    cursor.pos = stop
    _operator(cursor, part, around)
    part.end = cursor.pos
    parts.append(part)


def _operator(cursor: Cursor, part: Part, around: str) -> None:
    text = cursor.text
    cursor.deeper()
    if text.startswith("[", cursor.pos):
        cursor.pos += 1
        _index(cursor, part)
    if text.startswith("}", cursor.pos):
        cursor.pos += 1
    else:
        test = next((op for op in TESTS if text.startswith(op, cursor.pos)), "")
        part.op = "other" if part.op else test or "other"
        cursor.pos += len(test)
        cursor.operands += 1
        _operand(cursor, part, around if test else "")
        cursor.operands -= 1
    cursor.depth -= 1


def _index(cursor: Cursor, part: Part) -> None:
    """NAME[index]: one element or all of an array; its value is never known to us."""
    part.parts = read_arithmetic(cursor, "]")
    part.op = "other"


def _operand(cursor: Cursor, part: Part, around: str) -> None:
    """Up to the first free closing brace. Between double quotes single ones mean nothing, except in patterns."""
    text, end, parts = cursor.text, cursor.end, part.parts
    start = cursor.pos
    while cursor.pos < end:
        pos = cursor.pos
        c = text[pos]
        if c == "}":
            cursor.pos += 1
            return
        if c == "~" and pos == start and not around:
            _operand_tilde(cursor, parts)
        elif c in '"\\$`' or (c == "'" and not around):
            _operand_quote(cursor, parts, c, around)
        elif c in "<>" and not around and text.startswith("(", pos + 1):
            cursor.quoted(parts, "")
        else:
            cursor.pos = pos + 1
            while cursor.pos < end and text[cursor.pos] not in "}'\"\\$`<>":
                cursor.pos += 1
            parts.append(Part(LITERAL, text[pos : cursor.pos], pos, cursor.pos, around))
    raise Unreadable("a parameter expansion does not end")


def _operand_quote(cursor: Cursor, parts: list[Part], c: str, around: str) -> None:
    pos = cursor.pos
    if c == "\\" and around and cursor.text[pos + 1 : pos + 2] not in ("}", '"', "\\", "$", "`", "\n"):
        parts.append(Part(LITERAL, cursor.text[pos : pos + 2], pos, pos + 2, around))
        cursor.pos += 2
    else:
        cursor.quoted(parts, around)


def _operand_tilde(cursor: Cursor, parts: list[Part]) -> None:
    stop = cursor.pos + 1
    while stop < cursor.end and cursor.text[stop] not in ENDS_TILDE:
        stop += 1
    parts.append(Part(TILDE, cursor.text[cursor.pos + 1 : stop], cursor.pos, stop))
    cursor.pos = stop
