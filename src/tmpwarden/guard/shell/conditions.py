"""[[ ... ]]: words and operators, patterns and the files that are asked about."""

from __future__ import annotations

from ..programs.table import FILE_COMPARISONS, FILE_TESTS
from .lists import Lists
from .syntax import Expression, Node, Part, Unreadable, Word


class Conditions(Lists):
    """Adds conditions to lists."""

    def condition(self) -> Node:
        """[[ ... ]]: words and operators up to the closing brackets; a regular expression may hold parentheses."""
        node = Expression(self.pos, [])
        self.pos = self.bare_end
        text = self.text
        before = ""
        last: Word | None = None
        while True:
            self.skip_lines()
            if self.pos >= self.end:
                raise Unreadable("[[ does not end")
            word = self.bare_word()
            if word == "]]":
                self.pos = self.bare_end
                return node
            if before in ("=~", "==", "=", "!="):
                self._pattern(node.parts)
            elif text[self.pos] in ";":
                raise Unreadable("an operator in an odd place")
            elif text[self.pos] in "()&|" or (text[self.pos] in "<>" and not text.startswith("(", self.pos + 1)):
                self.pos += 1
            else:
                operand = self.word()
                node.parts += operand.parts
                if before in FILE_TESTS or before in FILE_COMPARISONS:
                    node.files.append(operand)
                elif word in FILE_COMPARISONS and last is not None:
                    node.files.append(last)
                last = operand
            before = word

    def _pattern(self, parts: list[Part]) -> None:
        """The right side of a comparison, where parentheses and bars are part of the word."""
        text, nested = self.text, 0
        while self.pos < self.end:
            c = text[self.pos]
            if c in "'\"\\$`":
                self.quoted(parts, "")
                continue
            if c == "(":
                nested += 1
            elif c == ")":
                nested -= 1
                if nested < 0:
                    return
            elif nested == 0 and (c in " \t\n&" or (c == "|" and text.startswith("||", self.pos))):
                return
            self.pos += 1
