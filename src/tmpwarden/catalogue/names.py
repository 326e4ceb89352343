"""What Python's parser of regular expressions says of a row's name: whether a row may write it (nothing that takes
anything, or forever), and how every name that matches begins and ends. Pure.

What passes is matched by `re` in at most the third power of the text's length: no repeat holds another one of open
length, alternatives in a repeat begin differently, and one way through it meets at most three open repeats.

Most names in a temp root belong to no row, and a glance at their ends says so: no regular expression is compiled for
them, and `re` is not even imported. A hint says "surely not" or nothing.
"""

from __future__ import annotations

import re
import warnings

from .patterns import FLAGS, Hint, name_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

sre: Any = re._parser  # type: ignore[attr-defined]  # the only honest way to see a pattern's structure
op: Any = re._constants  # type: ignore[attr-defined]

MOST_OPEN = 3  # repeats without an end on one way through
_LARGE = 8  # a repeat of more counts as open
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_PROBES = tuple(map(chr, range(128)))


def why_costly(tree: Any) -> str:
    """A sentence about a parsed pattern, or "" if it surely ends soon."""
    for operation, argument, inside in operations(tree):
        if operation in (op.GROUPREF, op.GROUPREF_EXISTS):
            return "refers back to a group, which can take forever to match"
        if operation in REPEATS and inside and argument[0] != argument[1]:
            return "repeats a repetition, which can take forever to match"
        if operation is op.BRANCH and inside and _begin_alike(argument[1]):
            return "repeats alternatives that begin alike, which can take forever to match"
    if power(tree) > MOST_OPEN:
        return f"has more than {MOST_OPEN} open-ended repetitions in a row"
    return ""


def power(tree: Any) -> int:
    """Of the text's length, which matching may take. A last `.*` is none more: it takes all that is left, at once."""
    takes_rest = len(tree) > 0 and tree[-1][0] in REPEATS and tree[-1][1][2][0][0] is op.ANY
    return _open_repeats(tree) - takes_rest


def _open_repeats(tree: Any) -> int:
    """How many open or large repeats one way through the pattern can meet."""
    count = 0
    for operation, argument in tree:
        below = [_open_repeats(part) for part in parts(argument)]
        count += operation in REPEATS and _is_open(argument)
        count += (max(below) if operation is op.BRANCH else sum(below)) if below else 0
    return count


def parts(argument: Any) -> Iterator[Any]:
    """The patterns inside one operation."""
    for part in argument if isinstance(argument, tuple) else (argument,):
        for branch in part if isinstance(part, list) else (part,):
            if isinstance(branch, sre.SubPattern):
                yield branch


def _is_open(repeat: Any) -> bool:
    return bool(repeat[1] is op.MAXREPEAT or repeat[1] > _LARGE)


def operations(tree: Any, *, inside: bool = False) -> Iterator[tuple[Any, Any, bool]]:
    """Every operation below `tree`, and whether it lies in a repeat of open or large length."""
    for operation, argument in tree:
        yield operation, argument, inside
        grows = inside or (operation in REPEATS and _is_open(argument))
        for part in parts(argument):
            yield from operations(part, inside=grows)


def _begin_alike(branches: Any) -> bool:
    """Can two of them start with the same character, or one be nothing at all?"""
    seen: set[str] = set()
    for branch in branches:
        first = _first(branch)
        if first is None or seen & first:
            return True
        seen |= first
    return False


def _first(tree: Any) -> set[str] | None:
    """The characters that it may start with; None: it may be empty, or that cannot be told."""
    for operation, argument in tree:
        if operation is op.AT:
            continue
        if operation in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            beyond = {"beyond ASCII"} if _reaches_beyond(operation, argument) else set()
            return beyond | {letter.lower() for letter in _PROBES if takes(operation, argument, letter)}
        if operation is op.SUBPATTERN:
            return _first(argument[3])
        if operation in REPEATS and argument[0] > 0:
            return _first(argument[2])
        if operation is op.BRANCH:
            firsts = [_first(branch) for branch in argument[1]]
            return None if None in firsts else set().union(*(first or set() for first in firsts))
        return None
    return None


def _reaches_beyond(operation: Any, argument: Any) -> bool:
    """Past ASCII nobody counts letters here: two that reach there may be alike, by case or by category."""
    if operation is op.LITERAL:
        return bool(argument > 127)
    if operation is not op.IN:
        return True
    return any(
        kind in (op.NEGATE, op.CATEGORY) or (value[1] if kind is op.RANGE else value) > 127 for kind, value in argument
    )


def takes(operation: Any, argument: Any, letter: str) -> bool:
    """Does one step of a pattern match this character? As `re` does it for str patterns with DOTALL."""
    code = ord(letter)
    if operation is op.LITERAL:
        return bool(code == argument)
    if operation is op.NOT_LITERAL:
        return bool(code != argument)
    if operation is op.ANY:
        return True
    is_member = any(_is_in(kind, value, code, letter) for kind, value in argument if kind is not op.NEGATE)
    return is_member is not (argument[0][0] is op.NEGATE)


def _is_in(kind: Any, value: Any, code: int, letter: str) -> bool:
    if kind is op.LITERAL:
        return bool(code == value)
    if kind is op.RANGE:
        return bool(value[0] <= code <= value[1])
    return bool(_CATEGORIES[value](letter))


def is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    op.CATEGORY_DIGIT: lambda letter: letter.isdecimal(),
    op.CATEGORY_NOT_DIGIT: lambda letter: not letter.isdecimal(),
    op.CATEGORY_WORD: is_word,
    op.CATEGORY_NOT_WORD: lambda letter: not is_word(letter),
    op.CATEGORY_SPACE: lambda letter: letter.isspace(),
    op.CATEGORY_NOT_SPACE: lambda letter: not letter.isspace(),
}


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
    return Hint(_sorted_edges(starts), _sorted_edges(ends), int(least), min(int(most), _LONGEST_NAME))


def _sorted_edges(edges: set[str]) -> tuple[str, ...]:
    return ("",) if "" in edges else tuple(sorted(edges))


def _edges(tree: Any, *, backwards: bool) -> tuple[set[str], bool]:
    """Every text that a match can begin (or end) with, as far as letters are certain; and whether that is all of it."""
    edges = {""}
    for operation, argument in reversed(list(tree)) if backwards else tree:
        if operation in _NO_WIDTH:
            continue
        parts, is_whole = _part(operation, argument, backwards=backwards)
        if len(edges) * len(parts) > _MOST_EDGES:
            return edges, False
        edges = {part + known if backwards else known + part for known in edges for part in parts}
        if not is_whole:
            return edges, False
    return edges, True


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


_LONGEST_PATTERN = 1000
_OWNER_GROUPS = {"session", "pid"}
# In a directory that everybody shares a row must name its producer: a pattern that takes one of these takes anything.
_BLAND = ("a", "x1", "notes.txt", "backup.tar.gz", "My Documents", ".bashrc", "tmp.s41nKzCasd", "k" * 80)


def complaint_about_name(pattern: str, *, shared: bool) -> str | None:
    """Why `pattern` cannot be a row's `name`, or None. `shared`: the place is a temp root or a home itself."""
    if not 0 < len(pattern) <= _LONGEST_PATTERN:
        return f"needs 1 to {_LONGEST_PATTERN} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python only wonders about ("possible nested set") is a mistake here
            tree = sre.parse(name_pattern(pattern, 0), FLAGS)
            compiled = re.compile(name_pattern(pattern, 0), FLAGS)
    except (re.error, OverflowError, RecursionError, Warning) as broken:
        return f"is not a regular expression: {broken}"
    if strange := set(compiled.groupindex) - _OWNER_GROUPS:
        return f"has a group called {min(strange)!r}; only `session` and `pid` mean something"
    if compiled.fullmatch(""):
        return "matches the empty name"
    if shared and any(compiled.fullmatch(name) for name in _BLAND):
        return "is too wide for a directory that everybody shares"
    return _complaint_about_cost(tree)


def _complaint_about_cost(tree: Any) -> str | None:
    for operation, argument, _ in operations(tree):
        if operation is op.AT and argument not in (op.AT_END, op.AT_END_STRING):
            return "has an anchor; a name is matched in full anyway"
    return why_costly(tree) or None
