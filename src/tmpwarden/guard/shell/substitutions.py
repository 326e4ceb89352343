"""What a dollar sign or a backtick starts: parameters, arithmetic and commands inside of words."""

from __future__ import annotations

from .arithmetic import is_ambiguous, read_arithmetic
from .cursor import NAME, NAME_START, Cursor
from .parameters import SPECIAL_NAMES, braces
from .quotes import ansi, double
from .syntax import ARITHMETIC, COMMAND, LITERAL, PARAMETER, PROCESS, Part, Sequence, Unreadable


def dollar(cursor: Cursor, parts: list[Part], around: str) -> None:
    text, start = cursor.text, cursor.pos
    following = text[start + 1] if start + 1 < cursor.end else ""
    if following == "(":
        _parenthesis(cursor, parts, around)
    elif following == "{":
        braces(cursor, parts, around)
    elif following in NAME_START:
        stop = start + 2
        while stop < cursor.end and text[stop] in NAME:
            stop += 1
        _parameter(cursor, parts, stop, around)
    elif following in SPECIAL_NAMES:
        _parameter(cursor, parts, start + 2, around)
    elif following == "[":
        cursor.pos = start + 2
        _arithmetic_part(cursor, parts, start, "]", around)
    elif following == "'" and not around:
        ansi(cursor, parts)
    elif following == '"' and not around:
        cursor.pos = start + 1
        double(cursor, parts, "")
    elif following == "\\" and text.startswith("\\\n", start + 1):
        raise Unreadable("an expansion is split over two lines")
    else:
        parts.append(Part(LITERAL, "$", start, start + 1, around))
        cursor.pos = start + 1


def _parameter(cursor: Cursor, parts: list[Part], stop: int, around: str) -> None:
    if cursor.text.startswith("\\\n", stop):
        raise Unreadable("a name is split over two lines")
    parts.append(Part(PARAMETER, cursor.text[cursor.pos + 1 : stop], cursor.pos, stop, around))
    cursor.pos = stop


def _parenthesis(cursor: Cursor, parts: list[Part], around: str) -> None:
    start = cursor.pos
    if cursor.text.startswith("$((", start) and start not in cursor.not_arithmetic:
        mark = cursor.mark()
        try:
            cursor.pos = start + 3
            _arithmetic_part(cursor, parts, start, "))", around)
        except Unreadable:
            cursor.no_arithmetic(start)
            cursor.back_to(mark)
        else:
            if is_ambiguous(cursor.text[start + 3 : cursor.pos - 2]):
                raise Unreadable("arithmetic that bash may run as commands")
            return
    part = Part(COMMAND, "", start, start, around)
    cursor.pos = start + 2
    part.body = _inner(cursor)
    part.end = cursor.pos
    parts.append(part)


def process(cursor: Cursor, parts: list[Part], around: str) -> None:
    """<(...) and >(...)."""
    part = Part(PROCESS, cursor.text[cursor.pos], cursor.pos, cursor.pos)
    cursor.pos += 2
    part.body = _inner(cursor)
    part.end = cursor.pos
    parts.append(part)


def _inner(cursor: Cursor) -> Sequence:
    """The commands up to the closing parenthesis."""
    floor, cursor.floor = cursor.floor, len(cursor.waiting)
    here_floor, cursor.here_floor = cursor.here_floor, cursor.here_seen
    cursor.deeper()
    body = cursor.grammar.sequence(cursor)
    cursor.depth -= 1
    if cursor.pos >= cursor.end or cursor.text[cursor.pos] != ")":
        raise Unreadable("a parenthesis does not end")
    if len(cursor.waiting) > cursor.floor:
        raise Unreadable("a here-document does not end")
    cursor.floor, cursor.here_floor = floor, here_floor
    cursor.pos += 1
    return body


def _arithmetic_part(cursor: Cursor, parts: list[Part], start: int, closing: str, around: str) -> None:
    inside = read_arithmetic(cursor, closing)
    part = Part(ARITHMETIC, "", start, cursor.pos, around)
    part.parts = inside
    parts.append(part)


def backtick(cursor: Cursor, parts: list[Part], around: str) -> None:
    text, start = cursor.text, cursor.pos
    stop = start + 1
    pieces: list[str] = []
    run = stop
    while stop < cursor.end and text[stop] != "`":
        if text[stop] == "\\" and text[stop + 1 : stop + 2] in ("`", "\\", "$", '"' if around else "`"):
            pieces.append(text[run:stop])
            run = stop + 1
            stop += 1
        stop += 1
    if stop >= cursor.end:
        raise Unreadable("a backtick does not end")
    part = Part(COMMAND, "", start, stop + 1, around)
    cursor.deeper()
    if pieces:  # the text that bash reads is not the text that stands here: its places mean nothing
        part.text = "".join(pieces) + text[run:stop]
        part.body = Cursor(part.text, 0, len(part.text), cursor.depth, cursor.grammar).whole()
    else:
        part.body = Cursor(text, start + 1, stop, cursor.depth, cursor.grammar).whole()
    cursor.depth -= 1
    parts.append(part)
    cursor.pos = stop + 1
