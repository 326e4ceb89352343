"""What a row may say about names and places: regular expressions that cannot blow up, paths of components. Pure."""

from __future__ import annotations

import re
import warnings

from ..lazy_dataclass import dataclass
from .regex_cost import op, operations, sre, why_costly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BASES = ("tmp", "home", "xdg_cache", "xdg_config", "xdg_data", "xdg_state", "project", "mac_folders")
FLAGS = re.ASCII | re.DOTALL
_LONGEST_PATTERN = 1000
_OWNER_GROUPS = {"session", "pid"}
_NOT_STRUCTURE = re.compile(r"\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
_PUNCTUATION, _MAYBE_NONE = frozenset(".-_"), frozenset("?*{")
# In a directory that everybody shares a row must name its producer: a pattern that takes one of these takes anything.
_BLAND = ("a", "x1", "notes.txt", "backup.tar.gz", "My Documents", ".bashrc", "tmp.s41nKzCasd", "k" * 80)


def complaint_about_name(pattern: str, *, shared: bool) -> str | None:
    """Why `pattern` cannot be a row's `name`, or None. `shared`: the place is a temp root or a home itself."""
    if not 0 < len(pattern) <= _LONGEST_PATTERN:
        return f"needs 1 to {_LONGEST_PATTERN} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python only wonders about ("possible nested set") is a mistake here
            tree = sre.parse(_spelled(pattern), FLAGS)
            compiled = re.compile(_spelled(pattern), FLAGS)
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


def _spelled(pattern: str, uid: int = 0) -> str:
    """`{uid}` is no quantifier, so it can stand for the number inside a pattern."""
    return pattern.replace("{uid}", str(uid))


def name_pattern(pattern: str, uid: int) -> str:
    return _spelled(pattern, uid)


def literal_start(pattern: str) -> str:
    """What every name of this pattern starts with, as far as the text of the pattern shows it."""
    if _has_alternatives(pattern):
        return ""
    start, at = "", 0
    while at < len(pattern):
        escaped = pattern.startswith("\\", at)
        letter = pattern[at + escaped : at + escaped + 1]
        after = pattern[at + escaped + 1 : at + escaped + 2]
        if not (letter in _PUNCTUATION if escaped else letter.isalnum() or letter in "_-") or after in _MAYBE_NONE:
            break
        start += letter
        at += escaped + 1
        if after == "+":
            break
    return start


def _has_alternatives(pattern: str) -> bool:
    """Whether there may be a bar outside every group: what escapes and classes hold is taken out first."""
    bare = _NOT_STRUCTURE.sub("", pattern) if "|" in pattern else ""
    depth = 0
    for letter in bare:
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and depth == 0:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Component:
    """One step of a row's place: a name, or a name with `*` in it."""

    text: str
    glob: tuple[str, ...] | None  # what stands between the stars

    def matches(self, name: str) -> bool:
        if self.glob is None:
            return self.text == name
        first, *middle, last = self.glob
        if not name.startswith(first) or len(name) < len(first) + len(last):
            return False
        at, end = len(first), len(name) - len(last)
        for part in middle:
            at = name.find(part, at, end) + len(part)
            if at < len(part):
                return False
        return name.endswith(last)


def split_place(place: str) -> tuple[str, tuple[str, ...]]:
    """`{tmp}/claude-{uid}/*` -> ("tmp", ("claude-{uid}", "*")). Raises ValueError with a sentence."""
    base, *rest = place.split("/")
    if base[1:-1] not in BASES or base != f"{{{base[1:-1]}}}":
        raise ValueError("must start with one of " + " ".join(f"{{{name}}}" for name in BASES))
    for part in rest:
        if part in ("", ".", "..") or "**" in part:
            raise ValueError("is a path of plain names; `*` stands for anything within one of them")
        if set(re.findall(r"\{[^}]*\}?|\}", part)) - {"{uid}"}:
            raise ValueError("knows only {uid} after the first name")
    return base[1:-1], tuple(rest)


def component(text: str, uid: int) -> Component:
    spelled = text.replace("{uid}", str(uid))
    if "*" not in spelled:
        return Component(spelled, None)
    return Component(spelled, tuple(spelled.split("*")))
