"""Which regexes a config may hold: none that can take the hook's time away, and what commands they speak of."""

import re
from collections.abc import Iterator
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MAX_WILD = 3  # unbounded repeats in one regex: one more makes the worst case cubic and longer
_LONG, _SHORT = 4096, 1024  # characters: quadratic and cubic then stay below a third of a second
_MANY = 16  # a bounded repeat beyond this counts as unbounded
_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT)


def why_refused(regex: str) -> str:
    """A sentence, or "" if the regex is fine."""
    try:
        tree = parser.parse(regex, re.DOTALL)
    except (re.error, RecursionError, OverflowError) as error:
        return f"not a regex: {error}"
    if any(op in (ops.GROUPREF, ops.GROUPREF_EXISTS) for op, _ in _nodes(tree)):
        return "can blow up: it refers back to a group"
    wild = [body for op, body in _nodes(tree) if op in _REPEATS and _is_wild(body)]
    for _, _, inner in wild:
        if any(op in _REPEATS and body[1] != body[0] for op, body in _nodes(inner)):
            return "can blow up: a repeat inside a repeat"
        if any(op is ops.BRANCH for op, _ in _nodes(inner)):
            return "can blow up: alternatives inside a repeat"
    if len(wild) > MAX_WILD:
        return f"can blow up: {len(wild)} unbounded repeats, at most {MAX_WILD}"
    return ""


def most_characters(regex: str) -> int:
    """How long a text it may see: each unbounded repeat but a last one that takes all the rest is a power more."""
    tree = parser.parse(regex, re.DOTALL)
    wild = sum(op in _REPEATS and _is_wild(body) for op, body in _nodes(tree))
    takes_rest = len(tree) > 0 and tree[-1][0] in _REPEATS and tree[-1][1][2][0][0] is ops.ANY
    return _LONG if wild - takes_rest < MAX_WILD else _SHORT


def _is_wild(body: Any) -> bool:
    return bool(body[1] is ops.MAXREPEAT or body[1] > _MANY)


def _nodes(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every node of a parsed regex, at any depth."""
    for op, body in tree:
        yield op, body
        for inner in _inner(op, body):
            yield from _nodes(inner)


def _inner(op: Any, body: Any) -> list[Any]:
    if op in _REPEATS or op is ops.POSSESSIVE_REPEAT:
        return [body[2]]
    if op is ops.SUBPATTERN:
        return [body[3]]
    if op is ops.BRANCH:
        return list(body[1])
    if op in (ops.ASSERT, ops.ASSERT_NOT):
        return [body[1]]
    if op is ops.ATOMIC_GROUP:
        return [body]
    if op is ops.GROUPREF_EXISTS:
        return [one for one in body[1:] if one is not None]
    return []


def first_words(regex: str) -> tuple[str, ...]:
    """Every plain word in a regex: `(cp|mv) .*` speaks of cp and mv."""
    return tuple(re.findall(r"(?<![\w/.-])[a-z][a-z0-9_]*(?![\w-])", regex.replace("\\b", " ").replace("\\s", " ")))
