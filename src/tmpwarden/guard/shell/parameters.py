"""${...}: a parameter, the operator behind its name, and the operand, which is a word of its own kind."""

from __future__ import annotations

from .scanner import NAME
from .syntax import LITERAL, PARAMETER, TILDE, Part, Unreadable
from .words import ENDS_TILDE, WordReader

SPECIAL_NAMES = frozenset("@*#?$!-0123456789")
TESTS = (":-", ":=", ":?", ":+", "-", "=", "?", "+")


class Parameters(WordReader):
    """Adds parameters in braces to words."""

    def arithmetic(self, closing: str) -> list[Part]:
        raise NotImplementedError

    def braces(self, parts: list[Part], around: str) -> None:
        text, start = self.text, self.pos
        part = Part(PARAMETER, "", start, start, around)
        pos = start + 2
        if text[pos : pos + 1] in ("!", "#") and text[pos + 1 : pos + 2] not in (
            "}",
            ":",
            "-",
            "+",
            "=",
            "?",
            "#",
            "%",
            "/",
        ):
            part.op = text[pos]
            pos += 1
        stop = pos
        while stop < self.end and text[stop] in NAME:
            stop += 1
        if stop == pos and text[pos : pos + 1] in SPECIAL_NAMES:
            stop += 1
        if stop == pos:
            raise Unreadable("a parameter expansion that is not understood")
        part.text = text[pos:stop]
        self.pos = stop
        self._operator(part, around)
        part.end = self.pos
        parts.append(part)

    def _operator(self, part: Part, around: str) -> None:
        text = self.text
        self.deeper()
        if text.startswith("[", self.pos):
            self.pos += 1
            self._index(part)
        if text.startswith("}", self.pos):
            self.pos += 1
        else:
            test = next((op for op in TESTS if text.startswith(op, self.pos)), "")
            part.op = "other" if part.op else test or "other"
            self.pos += len(test)
            self.operands += 1
            self._operand(part, around if test else "")
            self.operands -= 1
        self.depth -= 1

    def _index(self, part: Part) -> None:
        """NAME[index]: one element or all of an array; its value is never known to us."""
        part.parts = self.arithmetic("]")
        part.op = "other"

    def _operand(self, part: Part, around: str) -> None:
        """Up to the first free closing brace. Between double quotes single ones mean nothing, except in patterns."""
        text, end, parts = self.text, self.end, part.parts
        start = self.pos
        while self.pos < end:
            pos = self.pos
            c = text[pos]
            if c == "}":
                self.pos += 1
                return
            if c == "~" and pos == start and not around:
                self._operand_tilde(parts)
            elif c in '"\\$`' or (c == "'" and not around):
                self._operand_quote(parts, c, around)
            elif c in "<>" and not around and text.startswith("(", pos + 1):
                self.process(parts)
            else:
                self.pos = pos + 1
                while self.pos < end and text[self.pos] not in "}'\"\\$`<>":
                    self.pos += 1
                parts.append(Part(LITERAL, text[pos : self.pos], pos, self.pos, around))
        raise Unreadable("a parameter expansion does not end")

    def _operand_quote(self, parts: list[Part], c: str, around: str) -> None:
        pos = self.pos
        if c == "\\" and around and self.text[pos + 1 : pos + 2] not in ("}", '"', "\\", "$", "`", "\n"):
            parts.append(Part(LITERAL, self.text[pos : pos + 2], pos, pos + 2, around))
            self.pos += 2
        else:
            self.quoted(parts, around)

    def _operand_tilde(self, parts: list[Part]) -> None:
        stop = self.pos + 1
        while stop < self.end and self.text[stop] not in ENDS_TILDE:
            stop += 1
        parts.append(Part(TILDE, self.text[self.pos + 1 : stop], self.pos, stop))
        self.pos = stop
