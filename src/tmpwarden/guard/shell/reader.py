"""The grammar of bash: text in, a tree with exact places out. Sequences, && and ||, pipelines."""

from __future__ import annotations

from .commands import read_redirect, read_simple
from .compound import read_compound, read_function, timed
from .cursor import Cursor, Grammar, skip_lines
from .substitutions import backtick, dollar, process
from .syntax import AndOr, Node, Pipeline, Sequence, Unreadable
from .words import backslash, double, single

CLOSING = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
RESERVED = CLOSING | {"{", "[[", "if", "while", "until", "for", "case", "select", "function", "coproc", "!", "time"}
ENDS_SEQUENCE = frozenset((")", ";;", ";&", ";;&"))


def read_sequence(cursor: Cursor) -> Sequence:
    """Commands up to the end, a closing parenthesis, the end of a case clause or a closing reserved word."""
    result = Sequence(cursor.pos)
    while True:
        skip_lines(cursor)
        operator = cursor.operator()
        if cursor.pos >= cursor.end or operator in ENDS_SEQUENCE or cursor.bare_word() in CLOSING:
            break
        if operator and operator != "(":
            raise Unreadable("an operator in an odd place")
        if 0 <= cursor.here_floor < cursor.here_seen:
            # bash 5.2 puts the text of $(...) together anew and loses a ';' behind a here-document
            raise Unreadable("commands behind a here-document within a substitution")
        node = _and_or(cursor)
        cursor.skip()
        operator = cursor.operator()
        result.items.append((node, operator if operator == "&" else ";"))
        if operator == ";" or operator == "&":
            cursor.pos += 1
        elif operator != "\n":
            if operator in ENDS_SEQUENCE or cursor.pos >= cursor.end:
                break
            raise Unreadable("something stands in an odd place")
    result.end = cursor.pos
    return result


def _and_or(cursor: Cursor) -> Node:
    first = _pipeline(cursor)
    chain: AndOr | None = None
    while True:
        cursor.skip()
        operator = cursor.operator()
        if operator != "&&" and operator != "||":
            break
        cursor.pos += 2
        skip_lines(cursor)
        if chain is None:
            chain = AndOr(first)
        chain.rest.append((operator, _pipeline(cursor)))
    if chain is None:
        return first
    chain.end = chain.rest[-1][1].end
    return chain


def _pipeline(cursor: Cursor) -> Node:
    start = cursor.pos
    is_negated, is_timed = _prefixes(cursor)
    if start != cursor.pos and (cursor.pos >= cursor.end or cursor.operator() in (";", "&", "\n", ")")):
        return Sequence(start)  # `time` and `!` alone
    first = read_command(cursor)
    if is_timed:
        first = timed(first)
    cursor.skip()
    operator = cursor.operator()
    if operator != "|" and operator != "|&" and not is_negated:
        return first
    stages = [first]
    while operator == "|" or operator == "|&":
        cursor.pos += len(operator)
        skip_lines(cursor)
        stages.append(read_command(cursor))
        cursor.skip()
        operator = cursor.operator()
    pipeline = Pipeline(start, stages, is_negated)
    pipeline.end = stages[-1].end
    return pipeline


def _prefixes(cursor: Cursor) -> tuple[bool, bool]:
    """Pass `!` and `time`: is there an odd number of the one, and any of the other?"""
    is_negated = is_timed = False
    while True:
        word = cursor.bare_word()
        if word == "!":
            is_negated = not is_negated
            cursor.take_word()
        elif word == "time":
            is_timed = True
            cursor.take_word()
            while cursor.bare_word() in ("-p", "--"):
                cursor.take_word()
        else:
            return is_negated, is_timed


def read_command(cursor: Cursor) -> Node:
    cursor.skip()
    if cursor.pos >= cursor.end:
        raise Unreadable("a command is missing")
    operator = cursor.operator()
    start = cursor.pos
    if not operator and cursor.bare_word() not in RESERVED:
        return read_simple(cursor)
    node = read_compound(cursor, operator)
    node.start = start
    return _with_redirects(cursor, node)


def _with_redirects(cursor: Cursor, node: Node) -> Node:
    node.end = cursor.pos
    while True:
        cursor.skip()
        if cursor.pos >= cursor.end or cursor.text[cursor.pos] not in "<>&{0123456789":
            return node
        redirect = read_redirect(cursor)
        if redirect is None:
            return node
        node.redirects.append(redirect)
        node.end = cursor.pos


MAX_LENGTH = 200_000  # characters of commands; of here-documents that are only text, LONGEST
LONGEST = 8_000_000
DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
OPENERS = {"\\": backslash, "'": single, '"': double, "$": dollar, "`": backtick, "<": process, ">": process}
GRAMMAR = Grammar(OPENERS, read_sequence, read_command, read_function)


def read(text: str) -> Sequence:
    """The tree of a command line; raises Unreadable."""
    if len(text) > LONGEST:
        raise Unreadable("too long")
    if "\0" in text:
        raise Unreadable("has a NUL, which bash drops")
    if not text.isascii() and not DIRECTIONS.isdisjoint(text):
        raise Unreadable("has marks that change the reading direction")
    if len(text) <= MAX_LENGTH:
        return read_part(text, 0, len(text), 0)
    cursor = Cursor(text, 0, MAX_LENGTH, 0, GRAMMAR)
    cursor.farthest = len(text)
    try:
        tree = cursor.whole()
    except Unreadable as why:
        raise why if cursor.limit == len(text) else Unreadable("too long") from None
    if cursor.limit < len(text):
        raise Unreadable("too long")
    return tree


def read_part(text: str, start: int, end: int, depth: int) -> Sequence:
    """The same for the text between two places, as in a string that a shell is given."""
    return Cursor(text, start, end, depth, GRAMMAR).whole()
