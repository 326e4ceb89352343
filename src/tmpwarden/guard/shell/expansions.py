"""What a dollar sign or a backtick starts: parameters, arithmetic and commands inside of words."""

from __future__ import annotations

from .parameters import SPECIAL_NAMES, Parameters
from .scanner import NAME, NAME_START
from .syntax import ARITHMETIC, COMMAND, LITERAL, PARAMETER, PROCESS, Part, Sequence, Unreadable

# what bash writes otherwise when it reads a substitution within arithmetic a second time
REWRITTEN = ("esac", "$'", "\\\n")


class Expansions(Parameters):
    """Adds substitutions; the commands inside are left to the Reader."""

    def dollar(self, parts: list[Part], around: str) -> None:
        text, start = self.text, self.pos
        following = text[start + 1] if start + 1 < self.end else ""
        if following == "(":
            self._parenthesis(parts, around)
        elif following == "{":
            self.braces(parts, around)
        elif following in NAME_START:
            stop = start + 2
            while stop < self.end and text[stop] in NAME:
                stop += 1
            self._parameter(parts, stop, around)
        elif following in SPECIAL_NAMES:
            self._parameter(parts, start + 2, around)
        elif following == "[":
            self.pos = start + 2
            self._arithmetic_part(parts, start, "]", around)
        elif following == "'" and not around:
            self._ansi(parts)
        elif following == '"' and not around:
            self.pos = start + 1
            self.double(parts)
        elif following == "\\" and text.startswith("\\\n", start + 1):
            raise Unreadable("an expansion is split over two lines")
        else:
            parts.append(Part(LITERAL, "$", start, start + 1, around))
            self.pos = start + 1

    def _parameter(self, parts: list[Part], stop: int, around: str) -> None:
        if self.text.startswith("\\\n", stop):
            raise Unreadable("a name is split over two lines")
        parts.append(Part(PARAMETER, self.text[self.pos + 1 : stop], self.pos, stop, around))
        self.pos = stop

    def _parenthesis(self, parts: list[Part], around: str) -> None:
        start = self.pos
        if self.text.startswith("$((", start) and start not in self.not_arithmetic:
            mark = self.mark()
            try:
                self.pos = start + 3
                self._arithmetic_part(parts, start, "))", around)
            except Unreadable:
                self.no_arithmetic(start)
                self.back_to(mark)
            else:
                if _is_ambiguous(self.text[start + 3 : self.pos - 2]):
                    raise Unreadable("arithmetic that bash may run as commands")
                return
        part = Part(COMMAND, "", start, start, around)
        self.pos = start + 2
        part.body = self._inner()
        part.end = self.pos
        parts.append(part)

    def process(self, parts: list[Part]) -> None:
        part = Part(PROCESS, self.text[self.pos], self.pos, self.pos)
        self.pos += 2
        part.body = self._inner()
        part.end = self.pos
        parts.append(part)

    def _inner(self) -> Sequence:
        """The commands up to the closing parenthesis."""
        floor, self.floor = self.floor, len(self.waiting)
        here_floor, self.here_floor = self.here_floor, self.here_seen
        self.deeper()
        body = self.sequence()
        self.depth -= 1
        if self.pos >= self.end or self.text[self.pos] != ")":
            raise Unreadable("a parenthesis does not end")
        if len(self.waiting) > self.floor:
            raise Unreadable("a here-document does not end")
        self.floor, self.here_floor = floor, here_floor
        self.pos += 1
        return body

    def sequence(self) -> Sequence:
        raise NotImplementedError

    def _arithmetic_part(self, parts: list[Part], start: int, closing: str, around: str) -> None:
        inside = self.arithmetic(closing)
        part = Part(ARITHMETIC, "", start, self.pos, around)
        part.parts = inside
        parts.append(part)

    def arithmetic(self, closing: str) -> list[Part]:
        """The substitutions up to `closing`; raises where the text is no arithmetic."""
        text, end = self.text, self.end
        opener = "[" if closing == "]" else "("
        parts: list[Part] = []
        nested = 0
        self.deeper()
        while self.pos < end:
            c = text[self.pos]
            if c in "'\"\\$`":
                self.quoted(parts, "")
                continue
            if c == closing[0]:
                if nested == 0:
                    if not text.startswith(closing, self.pos, end):
                        break
                    self.pos += len(closing)
                    self.depth -= 1
                    return [part for part in parts if part.kind != LITERAL]
                nested -= 1
            elif c == opener:
                nested += 1
            self.pos += 1
        raise Unreadable("arithmetic does not end")

    def backtick(self, parts: list[Part], around: str) -> None:
        text, start = self.text, self.pos
        stop = start + 1
        pieces: list[str] = []
        run = stop
        while stop < self.end and text[stop] != "`":
            if text[stop] == "\\" and text[stop + 1 : stop + 2] in ("`", "\\", "$", '"' if around else "`"):
                pieces.append(text[run:stop])
                run = stop + 1
                stop += 1
            stop += 1
        if stop >= self.end:
            raise Unreadable("a backtick does not end")
        part = Part(COMMAND, "", start, stop + 1, around)
        self.deeper()
        if pieces:  # the text that bash reads is not the text that stands here: its places mean nothing
            part.text = "".join(pieces) + text[run:stop]
            part.body = self.elsewhere(part.text, 0, len(part.text))
        else:
            part.body = self.elsewhere(text, start + 1, stop)
        self.depth -= 1
        parts.append(part)
        self.pos = stop + 1

    def elsewhere(self, text: str, start: int, end: int) -> Sequence:
        """Read the commands of another text, or of another place, with a reader of its own."""
        raise NotImplementedError

    def _ansi(self, parts: list[Part]) -> None:
        """$'...': escapes as in C."""
        from .escapes import escape  # rare, and every hook pays for each module

        text, start = self.text, self.pos
        pos = start + 2
        decoded = ""
        while pos < self.end and text[pos] != "'":
            if text[pos] == "\\":
                c, pos = escape(text, pos + 1, self.end)
                decoded += c
            else:
                decoded += text[pos]
                pos += 1
        if pos >= self.end:
            raise Unreadable("a single quote does not end")
        self.pos = pos + 1
        parts.append(Part(LITERAL, decoded, start, self.pos, "$"))

    def expansions(self, start: int, stop: int) -> list[Part]:
        place, end, waiting = self.pos, self.end, self.waiting
        self.pos, self.end, self.waiting = start, stop, []
        text = self.text
        parts: list[Part] = []
        while self.pos < stop:
            run = self.pos
            while self.pos < stop and text[self.pos] not in "\\$`":
                self.pos += 1
            if self.pos > run:
                parts.append(Part(LITERAL, text[run : self.pos], run, self.pos, '"'))
            if self.pos < stop:
                self._here_escape(parts) if text[self.pos] == "\\" else self.quoted(parts, '"')
        self.pos, self.end, self.waiting = place, end, waiting
        return parts

    def _here_escape(self, parts: list[Part]) -> None:
        pos, c = self.pos, self.text[self.pos + 1 : self.pos + 2]
        meaning = "" if c == "\n" else c if c in ("\\", "$", "`") else "\\" + c
        parts.append(Part(LITERAL, meaning, pos, pos + 2, '"'))
        self.pos = min(pos + 2, self.end)


def _is_ambiguous(inside: str) -> bool:
    """bash counts the parentheses between $(( and )) again; if they do not match, it runs all of it as commands."""
    if not _is_balanced(inside) or (("'" in inside or '"' in inside) and not _is_balanced(_without_quoted(inside))):
        return True
    if "$(" not in inside and "`" not in inside:
        return False
    comments = [line.partition(" #")[2] for line in inside.replace("\t", " ").replace(";", " ").split("\n")]
    return any(mark in inside for mark in REWRITTEN) or any(c in comment for comment in comments for c in "()'\"`")


def _is_balanced(text: str) -> bool:
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return depth == 0


def _without_quoted(text: str) -> str:
    bare, at = [], 0
    while at < len(text):
        c = text[at]
        at += 1
        if c == "\\":
            at += 1
        elif c in "'\"":
            while at < len(text) and text[at] != c:
                at += 2 if c == '"' and text[at] == "\\" else 1
            at += 1
        else:
            bare.append(c)
    return "".join(bare)
