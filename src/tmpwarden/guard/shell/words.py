"""Words and their quotes, each piece with its place in the text."""

from __future__ import annotations

from .scanner import MAX_WORDS, META, Scanner
from .syntax import LITERAL, TILDE, Part, Unreadable, Word

SPECIAL = META | frozenset("'\"\\$`*?[{~")
ENDS_TILDE = META | frozenset("/:'\"\\$`}")
# blanks that look like a space and are none to bash, and marks that turn the reading direction
DISGUISES = frozenset(
    "\u0085\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d"
    "\u200e\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)


class WordReader(Scanner):
    """Adds words; what stands behind a dollar sign is left to Expansions."""

    def word(self, in_assignment: bool = False) -> Word:
        """The word at this place, up to the next metacharacter. Never empty."""
        text, end = self.text, self.end
        start = pos = self.pos
        self.words += 1
        if self.words > MAX_WORDS:
            raise Unreadable("too many words")
        while pos < end and text[pos] not in SPECIAL:
            pos += 1
        if pos == end or text[pos] in META:
            if pos > start:
                self.pos = pos
                plain = text[start:pos]
                if not plain.isascii():
                    refuse_disguises(plain)
                return Word(start, pos, plain, [Part(LITERAL, plain, start, pos)])
            if pos == end or text[pos] not in "<>" or text[pos + 1 : pos + 2] != "(":
                raise Unreadable("a word is missing")
        return self._mixed_word(in_assignment)

    def _mixed_word(self, in_assignment: bool) -> Word:
        text, end, start = self.text, self.end, self.pos
        parts: list[Part] = []
        magic = False
        while self.pos < end:
            pos = self.pos
            c = text[pos]
            if c in META:
                if c in "<>" and text[pos + 1 : pos + 2] == "(" and pos + 1 < end:
                    self.process(parts)
                    continue
                if c == "(" and parts and _ends_in_extglob(parts[-1]):
                    raise Unreadable("an extended pattern")
                break
            if c == "~" and self._is_tilde(start, pos, in_assignment):
                self._tilde(parts)
            elif c in SPECIAL and c not in "*?[{~":
                self.quoted(parts, "")
            else:
                self.pos = pos + 1
                while self.pos < end and text[self.pos] not in SPECIAL:
                    self.pos += 1
                magic = magic or c in "*?[{"
                _add_plain(parts, text[pos : self.pos], pos, self.pos)
        static = not magic and all(part.kind == LITERAL for part in parts)
        plain = "".join([part.text for part in parts]) if static else None
        return Word(start, self.pos, plain, parts, magic)

    def _is_tilde(self, start: int, pos: int, in_assignment: bool) -> bool:
        if pos == start:
            return True
        if self.text[pos - 1] not in "=:":
            return False
        name = self.text[start:pos].partition("=")[0]  # NAME=~ is expanded in any word
        return in_assignment or (name.isidentifier() and name.isascii() and "=" in self.text[start:pos])

    def _tilde(self, parts: list[Part]) -> None:
        text, start = self.text, self.pos
        stop = start + 1
        while stop < self.end and text[stop] not in ENDS_TILDE:
            stop += 1
        is_cut = stop < self.end and text[stop] in "'\"\\$`"
        if is_cut:  # a quote in the name makes it no tilde at all
            _add_plain(parts, text[start:stop], start, stop)
        else:
            parts.append(Part(TILDE, text[start + 1 : stop], start, stop))
        self.pos = stop

    def quoted(self, parts: list[Part], around: str) -> None:
        """What a quote, a backslash, a dollar sign or a backtick starts; `around` is '"' within double quotes."""
        c = self.text[self.pos]
        if c == "\\":
            self._backslash(parts)
        elif c == "'":
            self._single(parts)
        elif c == '"':
            self.double(parts)
        elif c == "$":
            self.dollar(parts, around)
        else:
            self.backtick(parts, around)

    def _backslash(self, parts: list[Part]) -> None:
        pos = self.pos
        self.pos = min(pos + 2, self.end)
        if pos + 1 >= self.end:
            parts.append(Part(LITERAL, "\\", pos, self.pos, "\\"))
        elif self.text[pos + 1] != "\n":
            parts.append(Part(LITERAL, self.text[pos + 1], pos, pos + 2, "\\"))

    def _single(self, parts: list[Part]) -> None:
        start = self.pos
        stop = self.text.find("'", start + 1, self.end)
        if stop < 0:
            raise Unreadable("a single quote does not end")
        parts.append(Part(LITERAL, self.text[start + 1 : stop], start, stop + 1, "'"))
        self.pos = stop + 1

    def double(self, parts: list[Part]) -> None:
        """Literal pieces span what stands between the quotes; an empty string spans the quotes."""
        text, end, opening = self.text, self.end, self.pos
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
            self.pos = pos
            self.quoted(parts, '"')
            start = pos = self.pos
        if len(parts) == before:
            parts.append(Part(LITERAL, "", opening, pos + 1, '"'))
        self.pos = pos + 1

    def dollar(self, parts: list[Part], around: str) -> None:
        raise NotImplementedError

    def backtick(self, parts: list[Part], around: str) -> None:
        raise NotImplementedError

    def process(self, parts: list[Part]) -> None:
        raise NotImplementedError


def _unescaped(c: str) -> str:
    """What a backslash and this character mean between double quotes."""
    if c == "\n":
        return ""
    return c if c in '"\\$`' else "\\" + c


def _add_plain(parts: list[Part], text: str, start: int, end: int) -> None:
    if not text.isascii():
        refuse_disguises(text)
    last = parts[-1] if parts else None
    if last is not None and last.kind == LITERAL and not last.quote and last.end == start:
        last.text += text
        last.end = end
    else:
        parts.append(Part(LITERAL, text, start, end))


def _ends_in_extglob(part: Part) -> bool:
    return part.kind == LITERAL and not part.quote and part.text[-1:] in ("?", "*", "+", "@", "!")


def refuse_disguises(text: str) -> None:
    """A no-break space outside of quotes is no separator to bash, but it is to whoever reads along."""
    for c in text:
        if c in DISGUISES:
            raise Unreadable("a character that looks like a blank and is none")
