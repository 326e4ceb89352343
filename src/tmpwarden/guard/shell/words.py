"""Words, quotes and escapes: each piece with its place in the text."""

from __future__ import annotations

from .cursor import MAX_WORDS, META, Cursor
from .syntax import LITERAL, TILDE, Part, Unreadable, Word

ANSI = dict(zip("ntrabeEfv\\'\"?", "\n\t\r\a\b\x1b\x1b\f\v\\'\"?", strict=True))
RADIX = {"x": (16, 2), "u": (16, 4), "U": (16, 8)}


def escape(text: str, pos: int, end: int) -> tuple[str, int]:
    """The character that the escape behind a backslash at this place means, and where the text was resumed."""
    c = text[pos : pos + 1]
    if c in ANSI:
        return ANSI[c], pos + 1
    radix, width = RADIX.get(c, (8, 3) if c in "01234567" else (0, 0))
    if not radix:
        if c == "c":
            raise Unreadable("a control character")
        return "\\" + c, pos + 1
    first = pos if radix == 8 else pos + 1
    stop = first
    digits = "01234567" if radix == 8 else "0123456789abcdefABCDEF"
    while stop < end and stop < first + width and text[stop] in digits:
        stop += 1
    code = int(text[first:stop] or "0", radix)
    if code == 0 or 0xD800 <= code < 0xE000 or code > 0x10FFFF or (code > 0x7F and c not in "uU"):
        raise Unreadable("a byte that is no character")
    return chr(code), stop


SPECIAL = META | frozenset("'\"\\$`*?[{~")
ENDS_TILDE = META | frozenset("/:'\"\\$`}")
# blanks that look like a space and are none to bash, and marks that turn the reading direction
DISGUISES = frozenset(
    "\u0085\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d"
    "\u200e\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)


def read_word(cursor: Cursor, in_assignment: bool = False) -> Word:
    """The word at this place, up to the next metacharacter. Never empty."""
    text, end = cursor.text, cursor.end
    start = pos = cursor.pos
    cursor.words += 1
    if cursor.words > MAX_WORDS:
        raise Unreadable("too many words")
    while pos < end and text[pos] not in SPECIAL:
        pos += 1
    if pos == end or text[pos] in META:
        if pos > start:
            cursor.pos = pos
            plain = text[start:pos]
            if not plain.isascii():
                refuse_disguises(plain)
            return Word(start, pos, plain, [Part(LITERAL, plain, start, pos)])
        if pos == end or text[pos] not in "<>" or text[pos + 1 : pos + 2] != "(":
            raise Unreadable("a word is missing")
    return _mixed_word(cursor, in_assignment)


def _mixed_word(cursor: Cursor, in_assignment: bool) -> Word:
    text, end, start = cursor.text, cursor.end, cursor.pos
    parts: list[Part] = []
    magic = False
    while cursor.pos < end:
        pos = cursor.pos
        c = text[pos]
        if c in META:
            if c in "<>" and text[pos + 1 : pos + 2] == "(" and pos + 1 < end:
                cursor.quoted(parts, "")
                continue
            last = parts[-1] if parts and c == "(" else None
            if last and last.kind == LITERAL and not last.quote and last.text[-1:] in ("?", "*", "+", "@", "!"):
                raise Unreadable("an extended pattern")
            break
        if c == "~" and _is_tilde(cursor, start, pos, in_assignment):
            _tilde(cursor, parts)
        elif c in SPECIAL and c not in "*?[{~":
            cursor.quoted(parts, "")
        else:
            cursor.pos = pos + 1
            while cursor.pos < end and text[cursor.pos] not in SPECIAL:
                cursor.pos += 1
            magic = magic or c in "*?[{"
            _add_plain(parts, text[pos : cursor.pos], pos, cursor.pos)
    static = not magic and all(part.kind == LITERAL for part in parts)
    plain = "".join([part.text for part in parts]) if static else None
    return Word(start, cursor.pos, plain, parts, magic)


def _is_tilde(cursor: Cursor, start: int, pos: int, in_assignment: bool) -> bool:
    if pos == start:
        return True
    if cursor.text[pos - 1] not in "=:":
        return False
    name = cursor.text[start:pos].partition("=")[0]  # NAME=~ is expanded in any word
    return in_assignment or (name.isidentifier() and name.isascii() and "=" in cursor.text[start:pos])


def _tilde(cursor: Cursor, parts: list[Part]) -> None:
    text, start = cursor.text, cursor.pos
    stop = start + 1
    while stop < cursor.end and text[stop] not in ENDS_TILDE:
        stop += 1
    is_cut = stop < cursor.end and text[stop] in "'\"\\$`"
    if is_cut:  # a quote in the name makes it no tilde at all
        _add_plain(parts, text[start:stop], start, stop)
    else:
        parts.append(Part(TILDE, text[start + 1 : stop], start, stop))
    cursor.pos = stop


def _add_plain(parts: list[Part], text: str, start: int, end: int) -> None:
    if not text.isascii():
        refuse_disguises(text)
    last = parts[-1] if parts else None
    if last is not None and last.kind == LITERAL and not last.quote and last.end == start:
        last.text += text
        last.end = end
    else:
        parts.append(Part(LITERAL, text, start, end))


def refuse_disguises(text: str) -> None:
    """A no-break space outside of quotes is no separator to bash, but it is to a person who reads the line."""
    for c in text:
        if c in DISGUISES:
            raise Unreadable("a character that looks like a blank and is none")


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
    # rare, and every hook pays for each module

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
