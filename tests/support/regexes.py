"""Names that a pattern matches, and patterns that are a little wrong."""

import functools
import re
from collections.abc import Iterator
from random import Random
from typing import Any

_sre: Any = re._parser  # type: ignore[attr-defined]
_op: Any = re._constants  # type: ignore[attr-defined]
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._- ~"


def names_of(pattern: str, random: Random, count: int) -> Iterator[str]:
    """Random names that `pattern` matches in full (look-aheads are checked afterwards)."""
    tree, compiled = _sre.parse(pattern, re.ASCII | re.DOTALL), re.compile(pattern, re.ASCII | re.DOTALL)
    for _ in range(count):
        name = _from(tree, random)
        if name and "/" not in name and compiled.fullmatch(name):
            yield name


def _from(tree: Any, random: Random) -> str:
    return "".join(_one(operation, argument, random) for operation, argument in tree)


def _one(operation: Any, argument: Any, random: Random) -> str:
    if operation is _op.LITERAL:
        return chr(argument)
    if operation is _op.NOT_LITERAL:
        return random.choice([letter for letter in _LETTERS if ord(letter) != argument])
    if operation is _op.ANY:
        return random.choice(_LETTERS)
    if operation is _op.IN:
        return random.choice(_letters_in(tuple(argument)))
    if operation is _op.BRANCH:
        return _from(random.choice(argument[1]), random)
    if operation is _op.SUBPATTERN:
        return _from(argument[3], random)
    if operation in (_op.MAX_REPEAT, _op.MIN_REPEAT):
        low, high, inner = argument
        return "".join(_from(inner, random) for _ in range(random.randint(low, min(high, low + 6))))
    return ""  # anchors and look-aheads


@functools.cache
def _letters_in(parts: Any) -> list[str]:
    return [letter for letter in _LETTERS if _is_in(parts, letter)]


def _is_in(parts: Any, letter: str) -> bool:
    negated = parts[0][0] is _op.NEGATE
    for operation, argument in parts:
        if (operation is _op.LITERAL and argument == ord(letter)) or (
            operation is _op.RANGE and argument[0] <= ord(letter) <= argument[1]
        ):
            return not negated
    return negated


_CLASS = re.compile(r"\[\^?[^\]]+\]")
_COUNT = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_DOT = re.compile(r"\\\.")


def widened(pattern: str) -> Iterator[tuple[str, str]]:
    """(what was done, the pattern that matches more): an anchor dropped, a class, a count or a dot widened."""
    yield "anything before", f".*(?:{pattern})"
    yield "anything after", f"(?:{pattern}).*"
    for token, replacement in ((_CLASS, "."), (_COUNT, "+"), (_DOT, ".")):
        for found in token.finditer(pattern):
            mutant = pattern[: found.start()] + replacement + pattern[found.end() :]
            yield f"{found[0]} at {found.start()} became {replacement}", mutant


def narrowed(pattern: str) -> Iterator[tuple[str, str]]:
    """The pattern with one of its alternatives dropped."""
    for start, end in _alternatives(pattern):
        kept = pattern[:start] + pattern[end:]
        yield f"without {pattern[start:end]}", re.sub(r"\|(?=\||\)|\Z)|(?<=\()\||(?<=\?:)\||\A\|", "", kept)


def _alternatives(pattern: str) -> Iterator[tuple[int, int]]:
    """Spans of alternatives in groups that are not repeated, and at the top."""
    stack: list[list[int]] = [[0]]
    skip = -1
    for index, letter in enumerate(pattern):
        if index <= skip:
            continue
        if letter == "\\":
            skip = index + 1
        elif letter == "[":
            skip = pattern.index("]", index + 2)
        elif letter == "(":
            body = index + len(re.match(r"\((?:\?(?::|P<[a-z]+>|!|=))?", pattern[index:])[0])  # type: ignore[index]
            stack.append([body])
        elif letter == "|":
            stack[-1].append(index + 1)
        elif letter == ")":
            yield from _spans(stack.pop(), index)
    yield from _spans(stack.pop(), len(pattern))


def _spans(starts: list[int], end: int) -> Iterator[tuple[int, int]]:
    if len(starts) > 1:
        yield from zip(starts, [start - 1 for start in starts[1:]] + [end], strict=True)
