"""Words, each piece with its place in the text."""

from __future__ import annotations

from .cursor import MAX_WORDS, META, Cursor
from .syntax import LITERAL, TILDE, Part, Unreadable, Word

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
    """A no-break space outside of quotes is no separator to bash, but it is to whoever reads along."""
    for c in text:
        if c in DISGUISES:
            raise Unreadable("a character that looks like a blank and is none")
