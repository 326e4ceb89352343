"""Line ends, with the here-documents that wait for them."""

from __future__ import annotations

from .cursor import Cursor
from .syntax import LITERAL, Part, Redirect, Unreadable


def skip_lines(cursor: Cursor) -> None:
    """Blanks, comments and line ends."""
    cursor.skip()
    while cursor.pos < cursor.end and cursor.text[cursor.pos] == "\n":
        _line_end(cursor)
        cursor.skip()


def expect(cursor: Cursor, word: str) -> None:
    """Pass a reserved word that must come next."""
    skip_lines(cursor)
    if cursor.bare_word() != word:
        raise Unreadable(f"'{word}' is missing")
    cursor.pos = cursor.bare_end


def _line_end(cursor: Cursor) -> None:
    cursor.pos += 1
    if not cursor.waiting:
        return
    if cursor.floor:
        raise Unreadable("a here-document waits outside of the substitution that ends its line")
    waiting, cursor.waiting = cursor.waiting, []
    for redirect, delimiter, is_quoted in waiting:
        _here_document(cursor, redirect, delimiter, is_quoted)


def _here_document(cursor: Cursor, redirect: Redirect, delimiter: str, is_quoted: bool) -> None:
    text, end, strips = cursor.text, cursor.end, redirect.op == "<<-"
    start = pos = cursor.pos
    while pos < end:
        stop = text.find("\n", pos, end)
        stop = end if stop < 0 else stop
        line = text[pos:stop]
        if (line.lstrip("\t") if strips else line) == delimiter:
            break
        if not is_quoted:
            stop = _continued(cursor, pos, stop)
            if text[pos:stop].replace("\\\n", "") == delimiter:
                raise Unreadable("the end of a here-document is split over two lines")
        pos = stop + 1
    else:
        raise Unreadable("a here-document does not end")
    redirect.body = text[start:pos]
    cursor.here_seen += 1
    cursor.pos = min(stop + 1, end)
    if not is_quoted:
        redirect.parts = _expansions(cursor, start, pos)


def _continued(cursor: Cursor, pos: int, stop: int) -> int:
    """The end of the line that starts at pos, with the lines that a backslash joins to it."""
    text, end = cursor.text, cursor.end
    while stop < end and text[stop - 1] == "\\" and stop > pos:
        run = stop
        while run > pos and text[run - 1] == "\\":
            run -= 1
        if (stop - run) % 2 == 0:
            break
        pos = stop + 1
        following = text.find("\n", pos, end)
        stop = end if following < 0 else following
    return stop


def _expansions(cursor: Cursor, start: int, stop: int) -> list[Part]:
    """The substitutions in the text of a here-document."""
    place, end, waiting = cursor.pos, cursor.end, cursor.waiting
    cursor.pos, cursor.end, cursor.waiting = start, stop, []
    text = cursor.text
    parts: list[Part] = []
    while cursor.pos < stop:
        run = cursor.pos
        while cursor.pos < stop and text[cursor.pos] not in "\\$`":
            cursor.pos += 1
        if cursor.pos > run:
            parts.append(Part(LITERAL, text[run : cursor.pos], run, cursor.pos, '"'))
        if cursor.pos < stop:
            _here_escape(cursor, parts) if text[cursor.pos] == "\\" else cursor.quoted(parts, '"')
    cursor.pos, cursor.end, cursor.waiting = place, end, waiting
    return parts


def _here_escape(cursor: Cursor, parts: list[Part]) -> None:
    pos, c = cursor.pos, cursor.text[cursor.pos + 1 : cursor.pos + 2]
    meaning = "" if c == "\n" else c if c in ("\\", "$", "`") else "\\" + c
    parts.append(Part(LITERAL, meaning, pos, pos + 2, '"'))
    cursor.pos = min(pos + 2, cursor.end)
