"""[[ ... ]]: words and operators, patterns and the files that are asked about."""

from __future__ import annotations

from .compound_syntax import Expression
from .cursor import Cursor
from .lines import skip_lines
from .syntax import FILE_COMPARISONS, FILE_TESTS, Node, Part, Unreadable, Word
from .words import read_word


def read_condition(cursor: Cursor) -> Node:
    """[[ ... ]]: words and operators up to the closing brackets; a regular expression may hold parentheses."""
    node = Expression(cursor.pos, [])
    cursor.pos = cursor.bare_end
    text = cursor.text
    before = ""
    last: Word | None = None
    while True:
        skip_lines(cursor)
        if cursor.pos >= cursor.end:
            raise Unreadable("[[ does not end")
        bare = cursor.bare_word()
        if bare == "]]":
            cursor.pos = cursor.bare_end
            return node
        if before in ("=~", "==", "=", "!="):
            _pattern(cursor, node.parts)
        elif text[cursor.pos] in ";":
            raise Unreadable("an operator in an odd place")
        elif text[cursor.pos] in "()&|" or (text[cursor.pos] in "<>" and not text.startswith("(", cursor.pos + 1)):
            cursor.pos += 1
        else:
            operand = read_word(cursor)
            node.parts += operand.parts
            if before in FILE_TESTS or before in FILE_COMPARISONS:
                node.files.append(operand)
            elif bare in FILE_COMPARISONS and last is not None:
                node.files.append(last)
            last = operand
        before = bare


def _pattern(cursor: Cursor, parts: list[Part]) -> None:
    """The right side of a comparison, where parentheses and bars are part of the word."""
    text, nested = cursor.text, 0
    while cursor.pos < cursor.end:
        c = text[cursor.pos]
        if c in "'\"\\$`":
            cursor.quoted(parts, "")
            continue
        if c == "(":
            nested += 1
        elif c == ")":
            nested -= 1
            if nested < 0:
                return
        elif nested == 0 and (c in " \t\n&" or (c == "|" and text.startswith("||", cursor.pos))):
            return
        cursor.pos += 1
