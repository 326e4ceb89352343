"""Can a check ever match? Its table is walked with the characters that a simple command can be made of."""

from __future__ import annotations

import string

from .regex_table import NoTable, table_of

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
