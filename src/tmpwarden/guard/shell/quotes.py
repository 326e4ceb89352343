"""Quotes and backslashes: the pieces of a word that mean themselves."""

from __future__ import annotations

from .cursor import Cursor
from .syntax import LITERAL, Part, Unreadable


def backslash(cursor: Cursor, parts: list[Part], around: str) -> None:
    pos = cursor.pos
    cursor.pos = min(pos + 2, cursor.end)
    if pos + 1 >= cursor.end:
        parts.append(Part(LITERAL, "\\", pos, cursor.pos, "\\"))
    elif cursor.text[pos + 1] != "\n":
        parts.append(Part(LITERAL, cursor.text[pos + 1], pos, pos + 2, "\\"))


def single(cursor: Cursor, parts: list[Part], around: str) -> None:
    start = cursor.pos
    stop = cursor.text.find("'", start + 1, cursor.end)
    if stop < 0:
        raise Unreadable("a single quote does not end")
    parts.append(Part(LITERAL, cursor.text[start + 1 : stop], start, stop + 1, "'"))
    cursor.pos = stop + 1


def double(cursor: Cursor, parts: list[Part], around: str) -> None:
    """Literal pieces span what stands between the quotes; an empty string spans the quotes."""
    text, end, opening = cursor.text, cursor.end, cursor.pos
    before = len(parts)
    pieces: list[str] = []
    start = pos = opening + 1
    while True:
        run = pos
        while pos < end and text[pos] not in '"\\$`':
            pos += 1
        if pos >= end:
            raise Unreadable("a double quote does not end")
        if pos > run:
            pieces.append(text[run:pos])
        c = text[pos]
        if c == "\\":
            pieces.append(_unescaped(text[pos + 1 : pos + 2]))
            pos += 2
            continue
        if pieces:
            parts.append(Part(LITERAL, "".join(pieces), start, pos, '"'))
            pieces = []
        if c == '"':
            break
        cursor.pos = pos
        cursor.quoted(parts, '"')
        start = pos = cursor.pos
    if len(parts) == before:
        parts.append(Part(LITERAL, "", opening, pos + 1, '"'))
    cursor.pos = pos + 1


def ansi(cursor: Cursor, parts: list[Part]) -> None:
    """$'...': escapes as in C."""
    from .escapes import escape  # rare, and every hook pays for each module

    text, start = cursor.text, cursor.pos
    pos = start + 2
    decoded = ""
    while pos < cursor.end and text[pos] != "'":
        if text[pos] == "\\":
            c, pos = escape(text, pos + 1, cursor.end)
            decoded += c
        else:
            decoded += text[pos]
            pos += 1
    if pos >= cursor.end:
        raise Unreadable("a single quote does not end")
    cursor.pos = pos + 1
    parts.append(Part(LITERAL, decoded, start, cursor.pos, "$"))


def _unescaped(c: str) -> str:
    """What a backslash and this character mean between double quotes."""
    if c == "\n":
        return ""
    return c if c in '"\\$`' else "\\" + c
