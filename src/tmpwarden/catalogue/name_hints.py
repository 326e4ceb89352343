"""What every name of a pattern has: how it begins and ends, how long it is. From the parsed pattern, once for a row.

Most names in a temp root belong to nobody's row, and a glance at their ends says so: no regular expression is compiled
for them, and `re` is not even imported. A hint says "surely not" or nothing.
"""

from __future__ import annotations

import re

from .patterns import FLAGS, Hint
from .regex_cost import REPEATS, op, sre

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_EDGES = 64
_LONGEST_NAME = 1 << 12
_NO_WIDTH = (op.ASSERT, op.ASSERT_NOT, op.AT)


def hint(pattern: str) -> Hint:
    """For a row's `name`, in which `{uid}` stands for any number."""
    tree = sre.parse(pattern.replace("{uid}", "[0-9]+"), FLAGS)
    least, most = tree.getwidth()
    if tree.state.flags & re.IGNORECASE:
        return Hint(("",), ("",), 0, _LONGEST_NAME)
    starts, _ = _edges(tree, backwards=False)
    ends, _ = _edges(tree, backwards=True)
    return Hint(_told(starts), _told(ends), int(least), min(int(most), _LONGEST_NAME))


def _told(edges: set[str]) -> tuple[str, ...]:
    return ("",) if "" in edges else tuple(sorted(edges))


def _edges(tree: Any, *, backwards: bool) -> tuple[set[str], bool]:
    """Every text that a match can begin (or end) with, as far as letters are certain; and whether that is all of it."""
    found = {""}
    for operation, argument in reversed(list(tree)) if backwards else tree:
        if operation in _NO_WIDTH:
            continue
        parts, is_whole = _part(operation, argument, backwards=backwards)
        if len(found) * len(parts) > _MOST_EDGES:
            return found, False
        found = {part + known if backwards else known + part for known in found for part in parts}
        if not is_whole:
            return found, False
    return found, True


def _part(operation: Any, argument: Any, *, backwards: bool) -> tuple[set[str], bool]:
    if operation is op.LITERAL:
        return {chr(argument)}, True
    if operation is op.BRANCH:
        ways = [_edges(way, backwards=backwards) for way in argument[1]]
        return {edge for edges, _ in ways for edge in edges}, all(is_whole for _, is_whole in ways)
    if operation is op.ATOMIC_GROUP:
        return _edges(argument, backwards=backwards)
    if operation is op.SUBPATTERN and not argument[1] and not argument[2]:  # no flags of its own
        return _edges(argument[3], backwards=backwards)
    if operation in REPEATS and argument[0]:
        return _edges(argument[2], backwards=backwards)[0], False
    return {""}, False
