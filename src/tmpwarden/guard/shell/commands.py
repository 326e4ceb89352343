"""Simple commands: assignments, words and redirects."""

from __future__ import annotations

from .cursor import MAX_HERE_DOCUMENTS, NAME, NAME_START, Cursor, skip_lines
from .substitutions import read_arithmetic
from .syntax import LITERAL, Assignment, Node, Part, Redirect, SimpleCommand, Unreadable, Word
from .words import read_word

REDIRECTS = ("&>>", "<<<", "<<-", "&>", "<<", ">>", ">|", "<>", ">&", "<&", "<", ">")
DECLARING = frozenset(("export", "declare", "local", "readonly", "typeset", "eval", "alias"))
MAX_INDEX = 256  # characters in NAME[...]=


def read_simple(cursor: Cursor) -> Node:
    command = SimpleCommand(cursor.pos)
    text, words = cursor.text, command.words
    while True:
        cursor.skip()
        if cursor.pos >= cursor.end:
            break
        c = text[cursor.pos]
        if c in "<>&{0123456789":
            redirect = read_redirect(cursor)
            if redirect is not None:
                command.redirects.append(redirect)
                continue
        if c in ";&|()\n":
            if c == "(" and len(words) == 1 and not command.assignments and not command.redirects:
                return cursor.grammar.function(cursor, command.start, words[0])
            if c == "(":
                raise Unreadable("a parenthesis in an odd place")
            break
        _add_word(cursor, command)
    if not (words or command.redirects or command.assignments):
        raise Unreadable("a command is missing")
    command.end = _last_end(cursor, command)
    return command


def _last_end(cursor: Cursor, command: SimpleCommand) -> int:
    ends = [item[-1].end for item in (command.assignments, command.words, command.redirects) if item]
    return max(ends)


def _add_word(cursor: Cursor, command: SimpleCommand) -> None:
    words = command.words
    if not words:
        assignment = read_assignment(cursor)
        if assignment is not None:
            command.assignments.append(assignment)
            return
    elif cursor.text[cursor.pos] in NAME_START and isinstance(words[0], Word) and words[0].text in DECLARING:
        assignment = read_assignment(cursor)
        if assignment is not None:
            words.append(assignment)
            return
    words.append(read_word(cursor))


def read_assignment(cursor: Cursor) -> Assignment | None:
    text, end, start = cursor.text, cursor.end, cursor.pos
    if text[start] not in NAME_START:
        return None
    pos = start + 1
    while pos < end and text[pos] in NAME:
        pos += 1
    if pos >= end or text[pos] not in "=+[":
        return None
    name, index = text[start:pos], None
    if text[pos] == "[":
        closing = _closing_bracket(cursor, pos)
        if closing < 0:
            return None
        index = _index_parts(cursor, pos, closing)
        pos = closing + 1
    is_append = text.startswith("+=", pos, end)
    if not is_append and not text.startswith("=", pos, end):
        return None
    cursor.pos = pos + (2 if is_append else 1)
    assignment = _assigned(cursor, name, start)
    assignment.index, assignment.is_append, assignment.end = index, is_append, cursor.pos
    return assignment


def _closing_bracket(cursor: Cursor, opening: int) -> int:
    """Where NAME[ ends if an assignment follows; -1 if it is an ordinary word."""
    text, nested = cursor.text, 0
    limit = min(cursor.end, opening + MAX_INDEX)
    for pos in range(opening, limit):
        c = text[pos]
        if c == "[":
            nested += 1
        elif c == "]":
            nested -= 1
            if nested == 0:
                is_assigned = text.startswith(("=", "+="), pos + 1)
                return pos if is_assigned else -1
        elif c in " \t\n;&|<>":
            break
    if limit < cursor.end and pos == limit - 1:
        raise Unreadable("a subscript is too long")
    return -1


def _index_parts(cursor: Cursor, opening: int, closing: int) -> list[Part]:
    end, cursor.pos, cursor.end = cursor.end, opening + 1, closing + 1
    parts = read_arithmetic(cursor, "]")
    if cursor.pos != closing + 1:
        raise Unreadable("a subscript that is not understood")
    cursor.end = end
    return parts


def _assigned(cursor: Cursor, name: str, start: int) -> Assignment:
    text, pos = cursor.text, cursor.pos
    if text.startswith("(", pos):
        return Assignment(name, start, None, _array(cursor))
    c = text[pos] if pos < cursor.end else " "
    if c in " \t\n;&|)" or (c in "<>" and not text.startswith("(", pos + 1)):
        return Assignment(name, start, Word(pos, pos, "", []), None)
    return Assignment(name, start, read_word(cursor, in_assignment=True), None)


def _array(cursor: Cursor) -> list[Word]:
    cursor.pos += 1
    items: list[Word] = []
    while True:
        skip_lines(cursor)
        if cursor.pos >= cursor.end:
            raise Unreadable("an array does not end")
        if cursor.text[cursor.pos] == ")":
            cursor.pos += 1
            return items
        items.append(read_word(cursor))


def read_redirect(cursor: Cursor) -> Redirect | None:
    text, start, end = cursor.text, cursor.pos, cursor.end
    pos = start
    while pos < end and text[pos] in "0123456789":
        pos += 1
    if pos == start and text[pos] == "{":
        pos = _named_descriptor(cursor, pos)
    if pos >= end or text[pos] not in "<>&" or (text[pos] == "&" and pos > start):
        return None
    op = next((op for op in REDIRECTS if text.startswith(op, pos, end)), "")
    if not op or (op in "<>" and text.startswith("(", pos + 1)):
        return None
    cursor.pos = pos + len(op)
    if text.startswith("\\\n", cursor.pos):
        raise Unreadable("an operator may be split over two lines")
    cursor.skip()
    if op == "<<" or op == "<<-":
        return _here(cursor, op, text[start:pos], start)
    target = read_word(cursor)
    return Redirect(op, text[start:pos], target, start, cursor.pos)


def _named_descriptor(cursor: Cursor, opening: int) -> int:
    """Behind {name} if a redirect follows at once, else `opening`."""
    text, pos = cursor.text, opening + 1
    while pos < cursor.end and text[pos] in NAME:
        pos += 1
    if pos > opening + 1 and text.startswith(("}<", "}>"), pos):
        return pos + 1
    return opening


def _here(cursor: Cursor, op: str, fd: str, start: int) -> Redirect:
    if cursor.operands:  # bash 5.2 joins the lines behind it when it puts the text back together
        raise Unreadable("a here-document within a parameter expansion")
    delimiter = read_word(cursor)
    if any(part.kind != LITERAL for part in delimiter.parts):
        raise Unreadable("the end of a here-document is an expansion")
    source = cursor.text[delimiter.start : delimiter.end]
    is_quoted = "'" in source or '"' in source or "\\" in source
    redirect = Redirect(op, fd, delimiter, start, cursor.pos)
    if len(cursor.waiting) >= MAX_HERE_DOCUMENTS:
        raise Unreadable("too many here-documents")
    cursor.waiting.append((redirect, "".join([part.text for part in delimiter.parts]), is_quoted))
    return redirect
