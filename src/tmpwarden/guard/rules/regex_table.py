"""A regular expression as a table that answers in one step a character, and whether it can ever match.

The pattern becomes an automaton (Thompson), that one a table of states by classes of characters. A state knows what
kind of character came last, so that \\b and the anchors can be told. Back references and look-around have no table.
"""

from __future__ import annotations

import re
import string
from typing import Any

from ...catalogue.names import REPEATS, is_word, op, sre, takes

MOST_STATES = 2000
_MOST_NODES = 20_000
_KNOWN = 128  # characters with a class of their own; those beyond are told apart by kind alone
_KINDS = ("\u0663", "\u4e00", "\u2003", "\u20ac")  # a digit, a letter, a blank, another one
START, WORD, OTHER = "start", "word", "other"  # what came last
END, FINAL_NEWLINE = "end", "final newline"  # what comes next, where that is more than its class
_NOTHING_IS_NO_BOUNDARY = re.fullmatch(r"\B", "") is not None  # since Python 3.14
_LITERAL = (op.LITERAL, op.RANGE)
Step = tuple[Any, Any]  # operation, argument


class NoTable(Exception):
    """Why there is none."""


class _Automaton:
    """Nodes are numbers; from each go edges: nothing needed, an anchor, or one character."""

    def __init__(self) -> None:
        self.free: list[list[int]] = []
        self.anchors: list[list[tuple[Any, int]]] = []
        self.steps: list[list[tuple[int, int]]] = []
        self.kinds: dict[str, int] = {}  # of steps: each once
        self.tests: list[Step] = []

    def node(self) -> int:
        if len(self.free) >= _MOST_NODES:
            raise NoTable("is too large for a table")
        self.free.append([])
        self.anchors.append([])
        self.steps.append([])
        return len(self.free) - 1

    def add(self, tree: Any, start: int) -> int:
        """The node behind the pattern."""
        for operation, argument in tree:
            start = self._one(operation, argument, start)
        return start

    def _one(self, operation: Any, argument: Any, start: int) -> int:
        if operation in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            kind = self.kinds.setdefault(f"{operation} {argument}", len(self.tests))
            if kind == len(self.tests):
                self.tests.append((operation, argument))
            end = self.node()
            self.steps[start].append((kind, end))
            return end
        if operation is op.AT:
            end = self.node()
            self.anchors[start].append((argument, end))
            return end
        if operation is op.SUBPATTERN and not argument[1] and not argument[2]:
            return self.add(argument[3], start)
        if operation is op.BRANCH:
            ends = [self.add(branch, start) for branch in argument[1]]
            return self._joined(ends)
        if operation in REPEATS and operation is not op.POSSESSIVE_REPEAT:
            least, most, body = argument
            return self._repeat(least, most, body, start)
        raise NoTable(f"holds {_NAMES.get(operation, 'what')} a table cannot have")

    def _repeat(self, least: int, most: Any, body: Any, start: int) -> int:
        for _ in range(least):
            start = self.add(body, start)
        if most is op.MAXREPEAT:
            loop, end = self.node(), self.node()
            self.free[start].append(loop)
            self.free[loop].append(end)
            self.free[self.add(body, loop)].append(loop)
            return end
        ends = [start]
        for _ in range(most - least):
            start = self.add(body, start)
            ends.append(start)
        return self._joined(ends)

    def _joined(self, ends: list[int]) -> int:
        end = self.node()
        for one in ends:
            self.free[one].append(end)
        return end

    def closure(self, nodes: frozenset[int], before: str, after: str) -> frozenset[int]:
        """All that is reached without a character, between what came and what comes."""
        reach, todo = set(nodes), list(nodes)
        while todo:
            node = todo.pop()
            ahead = [*self.free[node], *(end for anchor, end in self.anchors[node] if _holds(anchor, before, after))]
            todo += [end for end in ahead if end not in reach]
            reach.update(ahead)
        return frozenset(reach)


_NAMES = {
    op.GROUPREF: "a back reference, which",
    op.GROUPREF_EXISTS: "a back reference, which",
    op.ASSERT: "look-around, which",
    op.ASSERT_NOT: "look-around, which",
    op.SUBPATTERN: "flags for a part, which",
}


def _holds(anchor: Any, before: str, after: str) -> bool:
    if anchor in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
        return before == START
    if anchor is op.AT_END_STRING:
        return after == END
    if anchor is op.AT_END:
        return after in (END, FINAL_NEWLINE)
    if before == START and after == END:
        return anchor is op.AT_NON_BOUNDARY and _NOTHING_IS_NO_BOUNDARY
    is_boundary = (before == WORD) is not (after == WORD)
    return is_boundary if anchor is op.AT_BOUNDARY else not is_boundary


class _Classes:
    """Characters that no step of the pattern can tell apart."""

    def __init__(self, tests: list[Step], folds: bool) -> None:
        self.tests = tests
        self.folds = folds
        self.masks: dict[str, int] = {}  # "0110word" -> class
        self.takers: list[frozenset[int]] = []  # class -> the steps that take it
        self.after: list[str] = []  # class -> WORD or OTHER
        self.letters = "".join(chr(self.of(chr(code))) for code in range(_KNOWN))
        names_more = any(code >= _KNOWN for test in tests for code in _codes(*test))
        self.beyond = "" if names_more else "".join(chr(self.of(letter)) for letter in _KINDS)

    def of(self, letter: str) -> int:
        taken = [_takes(*test, letter, self.folds) for test in self.tests]
        after = WORD if is_word(letter) else OTHER
        mask = "".join("01"[yes] for yes in taken) + after
        if mask not in self.masks:
            self.masks[mask] = len(self.takers)
            self.takers.append(frozenset(at for at, yes in enumerate(taken) if yes))
            self.after.append(after)
        return self.masks[mask]


def _takes(operation: Any, argument: Any, letter: str, folds: bool) -> bool:
    """With (?i) what is left out is left out in both cases."""
    cases = (letter, letter.lower(), letter.upper()) if folds else (letter,)
    if operation is op.NOT_LITERAL:
        return not any(takes(op.LITERAL, argument, one) for one in cases)
    if operation is op.IN and argument[0][0] is op.NEGATE:
        return not any(takes(operation, argument[1:], one) for one in cases)
    return any(takes(operation, argument, one) for one in cases)


def _codes(operation: Any, argument: Any) -> list[int]:
    """The characters that a step names itself."""
    if operation is op.IN:
        return [
            code for kind, value in argument for code in (value if kind is op.RANGE else [value]) if kind in _LITERAL
        ]
    return [argument] if operation in (op.LITERAL, op.NOT_LITERAL) else []


def table_of(regex: str) -> dict[str, object]:
    """What `patterns.matches_table` goes by. Raises NoTable, whose text says why there is none."""
    tree = sre.parse(regex, re.DOTALL)
    flags = tree.state.flags
    if flags & ~(re.DOTALL | re.UNICODE | re.IGNORECASE | re.VERBOSE):
        raise NoTable("has flags that a table cannot have: only (?i), (?s) and (?x)")
    automaton = _Automaton()
    first = automaton.node()
    last = automaton.add(tree, first)
    classes = _Classes(automaton.tests, bool(flags & re.IGNORECASE))
    rows, ends = _rows(automaton, classes, first, last)
    return {"letters": classes.letters, "beyond": classes.beyond, "folds": classes.folds, "rows": rows, "ends": ends}


def _rows(automaton: _Automaton, classes: _Classes, first: int, last: int) -> tuple[list[str], str]:
    """For each state the next one by class, and whether the text may end there. In state 0 nothing fits any more.

    Behind the classes stands one more: a newline that nothing follows, which `$` looks past.
    """
    nowhere: tuple[frozenset[int], str] = (frozenset(), OTHER)
    states = [nowhere, (frozenset((first,)), START)]
    numbers = {state: number for number, state in enumerate(states)}
    newline = ord(classes.letters[10])
    kinds = [(kind, after, after) for kind, after in enumerate(classes.after)]
    kinds.append((newline, OTHER, FINAL_NEWLINE))
    rows, ends = [], ""
    for nodes, before in states:  # grows while it is walked
        row = ""
        for kind, after, ahead in kinds:
            took = classes.takers[kind]
            inside = automaton.closure(nodes, before, ahead)
            goes = frozenset(end for node in inside for step, end in automaton.steps[node] if step in took)
            state = (goes, after) if goes else nowhere
            if state not in numbers:
                if len(states) == MOST_STATES:
                    raise NoTable(f"needs a table of more than {MOST_STATES} states")
                numbers[state] = len(states)
                states.append(state)
            row += chr(numbers[state])
        rows.append(row)
        ends += "01"[last in automaton.closure(nodes, before, END)]
    return rows, ends


_STARTS = string.ascii_letters + string.digits + "._/~[:$?@+%{"  # what a program is called by
_OPERATORS = "|;&<>\n"
_ALL = "".join(map(chr, range(128)))


def why_never(regex: str) -> str:
    """A sentence, or "" if some command may match, or if that cannot be told."""
    try:
        table = table_of(regex)
    except NoTable:
        return ""
    if not _reaches(table, _ALL, _ALL):
        return "can never match: no text does"
    if not _reaches(table, _STARTS, _ALL):
        return "can never match: it must match the whole command, and none starts like that; begin it with .*"
    plain = "".join(letter for letter in _ALL if letter not in _OPERATORS)
    if not _reaches(table, _STARTS, plain):
        return "can never match: each command is judged alone, without the | ; & < > around it (unless they are quoted)"
    return ""


def _reaches(table: dict[str, object], starts: str, letters: str) -> bool:
    """Is there an end that these characters lead to, behind one of `starts`?"""
    rows, ends, kinds = table["rows"], table["ends"], table["letters"]
    assert isinstance(rows, list) and isinstance(ends, str) and isinstance(kinds, str)
    beyond = [ord(kind) for kind in str(table["beyond"])]
    steps = {*(ord(kinds[ord(letter)]) for letter in letters), *beyond}
    todo = [ord(rows[1][ord(kinds[ord(letter)])]) for letter in starts]
    seen = set(todo)
    while todo:
        state = todo.pop()
        if ends[state] == "1":
            return True
        ahead = {ord(rows[state][step]) for step in steps} - seen if state else set()
        seen |= ahead
        todo += ahead
    return False
