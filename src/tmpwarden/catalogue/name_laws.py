"""What a row may not write as a name: what is no regular expression, takes anything, or takes forever. Pure."""

from __future__ import annotations

import re
import warnings

from .patterns import FLAGS, name_pattern
from .regex_cost import op, operations, sre, why_costly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
