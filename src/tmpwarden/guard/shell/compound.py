"""Compound commands: one reader for each reserved word, and [[ ... ]]."""

from __future__ import annotations

from .cursor import Cursor, expect, skip_lines
from .substitutions import read_arithmetic
from .syntax import (
    FILE_COMPARISONS,
    FILE_TESTS,
    Assignment,
    Block,
    Case,
    Expression,
    For,
    Function,
    If,
    Loop,
    Node,
    Part,
    Sequence,
    Unreadable,
    Word,
)
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


OPENING = frozenset(("{", "[[", "if", "while", "until", "for", "case", "select"))


def read_compound(cursor: Cursor, operator: str) -> Node:
    """What starts with a parenthesis or a reserved word."""
    if operator == "(":
        return _parenthesis_command(cursor)
    if operator:
        raise Unreadable("an operator in an odd place")
    cursor.deeper()
    node = READERS[cursor.bare_word()](cursor)
    cursor.depth -= 1
    return node


def timed(node: Node) -> Block:
    block = Block(node.start, "time", node)
    block.end = node.end
    return block


def _filled(cursor: Cursor) -> Sequence:
    """A sequence that must not be empty."""
    body = cursor.grammar.sequence(cursor)
    if not body.items:
        raise Unreadable("a command is missing")
    return body


def _parenthesis_command(cursor: Cursor) -> Node:
    start = cursor.pos
    if cursor.text.startswith("((", start) and start not in cursor.not_arithmetic:
        mark = cursor.mark()
        try:
            cursor.pos = start + 2
            return Expression(start, read_arithmetic(cursor, "))"))
        except Unreadable:
            cursor.no_arithmetic(start)
            cursor.back_to(mark)
    cursor.pos += 1
    cursor.deeper()
    body = _filled(cursor)
    cursor.depth -= 1
    if cursor.operator() != ")":
        raise Unreadable("a parenthesis does not end")
    cursor.pos += 1
    return Block(start, "(", body)


def _group(cursor: Cursor) -> Node:
    start = cursor.pos
    cursor.pos = cursor.bare_end
    body = _filled(cursor)
    expect(cursor, "}")
    return Block(start, "{", body)


def _if(cursor: Cursor) -> Node:
    node = If(cursor.pos)
    cursor.pos = cursor.bare_end
    while True:
        condition = _filled(cursor)
        expect(cursor, "then")
        node.branches.append((condition, _filled(cursor)))
        word = cursor.bare_word()
        if word == "elif":
            cursor.pos = cursor.bare_end
            continue
        if word == "else":
            cursor.pos = cursor.bare_end
            node.otherwise = _filled(cursor)
        expect(cursor, "fi")
        return node


def _while(cursor: Cursor) -> Node:
    start = cursor.pos
    cursor.pos = cursor.bare_end
    condition = _filled(cursor)
    return Loop(start, condition, _do(cursor), [])


def _do(cursor: Cursor) -> Sequence:
    expect(cursor, "do")
    body = _filled(cursor)
    expect(cursor, "done")
    return body


def _for_body(cursor: Cursor) -> Sequence:
    cursor.skip()
    if cursor.operator() == ";":
        cursor.pos += 1
    skip_lines(cursor)
    if cursor.bare_word() != "{":
        return _do(cursor)
    cursor.pos = cursor.bare_end
    body = _filled(cursor)
    expect(cursor, "}")
    return body


def _for(cursor: Cursor) -> Node:
    start = cursor.pos
    cursor.pos = cursor.bare_end
    cursor.skip()
    if cursor.text.startswith("((", cursor.pos, cursor.end):
        cursor.pos += 2
        parts = read_arithmetic(cursor, "))")
        return Loop(start, None, _for_body(cursor), parts)
    name = read_word(cursor)
    if name.text is None:
        raise Unreadable("the variable of a loop is an expansion")
    skip_lines(cursor)
    words: list[Word] | None = None
    if cursor.bare_word() == "in":
        cursor.pos = cursor.bare_end
        words = []
        cursor.skip()
        while cursor.pos < cursor.end and not cursor.operator():
            words.append(read_word(cursor))
            cursor.skip()
    return For(start, name.text, words, _for_body(cursor))


def _case(cursor: Cursor) -> Node:
    start = cursor.pos
    cursor.pos = cursor.bare_end
    cursor.skip()
    node = Case(start, read_word(cursor))
    expect(cursor, "in")
    while True:
        skip_lines(cursor)
        if cursor.bare_word() == "esac":
            cursor.pos = cursor.bare_end
            return node
        patterns = _patterns(cursor)
        body = cursor.grammar.sequence(cursor)
        operator = cursor.operator()
        node.clauses.append((patterns, body, operator))
        if operator in (";;", ";&", ";;&"):
            cursor.pos += len(operator)
        elif cursor.bare_word() != "esac":
            raise Unreadable("'esac' is missing")


def _patterns(cursor: Cursor) -> list[Word]:
    if cursor.operator() == "(":
        cursor.pos += 1
    patterns = []
    while True:
        cursor.skip()
        patterns.append(read_word(cursor))
        cursor.skip()
        operator = cursor.operator()
        cursor.pos += 1
        if operator == ")":
            return patterns
        if operator != "|":
            raise Unreadable("a case pattern that is not understood")


def _function(cursor: Cursor) -> Node:
    start = cursor.pos
    cursor.pos = cursor.bare_end
    cursor.skip()
    name = read_word(cursor)
    cursor.skip()
    if cursor.operator() == "(":
        return read_function(cursor, start, name)
    return _function_rest(cursor, start, name)


def read_function(cursor: Cursor, start: int, name: Word | Assignment) -> Node:
    cursor.pos += 1
    cursor.skip()
    if cursor.operator() != ")":
        raise Unreadable("a parenthesis in an odd place")
    cursor.pos += 1
    return _function_rest(cursor, start, name)


def _function_rest(cursor: Cursor, start: int, name: Word | Assignment) -> Node:
    if isinstance(name, Assignment) or name.text is None:
        raise Unreadable("the name of a function is an expansion")
    skip_lines(cursor)
    if cursor.operator() != "(" and cursor.bare_word() not in OPENING:
        raise Unreadable("a function without a body")
    cursor.deeper()
    node = Function(start, name.text, cursor.grammar.command(cursor))
    cursor.depth -= 1
    node.end = cursor.pos
    return node


def _coproc(cursor: Cursor) -> Node:
    start = cursor.pos
    cursor.pos = cursor.bare_end
    cursor.skip()
    place, word, name = cursor.pos, cursor.bare_word(), "COPROC"
    if word and word not in OPENING:
        cursor.take_word()
        if cursor.operator() == "(" or cursor.bare_word() in OPENING:
            name = word
        else:
            cursor.pos = place
    return Block(start, "coproc", cursor.grammar.command(cursor), name)


def _misplaced(cursor: Cursor) -> Node:
    raise Unreadable("a reserved word in an odd place")


READERS = {
    "{": _group, "if": _if, "while": _while, "until": _while, "for": _for, "select": _for, "case": _case,
    "[[": read_condition, "function": _function, "coproc": _coproc,
    **dict.fromkeys(("then", "elif", "else", "fi", "do", "done", "esac", "}", "!", "time"), _misplaced),
}  # fmt: skip
