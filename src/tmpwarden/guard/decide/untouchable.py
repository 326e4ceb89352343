"""What no allow covers: removing, replacing or emptying the project, its `.git`, the home or a parent of the scratch.

No rule is asked: an allow of `rm` was meant for files of the project, not for the project.
"""

from __future__ import annotations

from ...text import is_within
from ..nouns.analysis import ANY, CREATE, DELETE, READ, WRITE, PathUse, Simple
from ..nouns.paths import real
from ..rules.patterns import matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..context import Context

RULE = "guard:untouchable"
_PROJECT = "the project itself"


class Untouchable:
    """The places, as they are written and where they really are, each with what it is."""

    __slots__ = ("_exact", "_places")

    def __init__(self, context: Context, scratch: str | None, never: tuple[str, ...] = ()) -> None:
        self._places: list[tuple[str, str]] = []
        self._exact: list[tuple[str, str]] = []  # of these, another file in their place counts too
        self._add(context, context.place.home, "the home directory")
        project = context.place.project
        if project and not (scratch and is_within(project, scratch)):
            self._add(context, project, _PROJECT)
            self._add(context, f"{project}/.git", "the project's history", is_exact=True)
        above = (scratch or "").rpartition("/")[0]
        while above:
            self._add(context, above, "a directory above the session's temp directory")
            above = above.rpartition("/")[0]
        for path in never:
            whole = context.place.home + path[1:] if path[:2] == "~/" else path
            self._add(context, whole, f"{path}, which `never` names", is_exact=True)

    def _add(self, context: Context, path: str, what: str, is_exact: bool = False) -> None:
        parent, slash, name = path.rpartition("/")
        above = real(parent, context.probes.look) if parent else "/"
        whole = real(path, context.probes.look)
        paths = {path, whole or path, f"{above or parent}{slash}{name}" if parent else path}
        for place in paths:
            self._places.append((place, what))
            if is_exact:
                self._exact.append((place, what))

    def why(self, simple: Simple) -> tuple[str, bool]:
        """What of them the command takes away, "" if nothing.

        True: only what a star names, by `rm`: hidden files stay. Where no rule speaks, the agent's own rules decide.
        """
        by_star = ""
        empties = _empties(simple)
        for use in simple.paths:
            if use.mode == DELETE or use.mode == empties:
                what = self._within(use)
            elif use.mode in (READ, CREATE) or simple.name == "git":
                what = ""
            else:
                what = self._replaced(use)
            if what == _PROJECT and simple.name == "rm" and use.pattern[1].removeprefix("./") == "*":
                by_star = by_star or what
            elif what:
                return what, False
        return by_star, True

    def why_file(self, use: PathUse) -> str:
        """Of a file tool that writes."""
        return self._replaced(use) if use.mode != READ else ""

    def _replaced(self, use: PathUse) -> str:
        if use.is_glob:
            return ""
        return next((what for place, what in self._exact if place in (use.path, use.resolved)), "")

    def _within(self, use: PathUse) -> str:
        """It, or a directory in which it lies."""
        for place, what in self._places:
            if use.is_glob:
                if _reaches(use, place):
                    return what
            elif any(known is not None and is_within(place, known) for known in (use.path, use.resolved)):
                return what
        return ""


def _empties(simple: Simple) -> str:
    """How a program uses a directory in which it removes what lies there: `rsync --delete`, `git rm -r`."""
    words = [word or "" for word in simple.argv[1:]]
    if simple.name == "rsync":
        return WRITE if any(word.startswith("--del") for word in words) else ""
    if simple.name == "git" and "rm" in words:
        return ANY if any(word[:1] == "-" and word[:2] != "--" and "r" in word for word in words) else ""
    return ""


def _reaches(use: PathUse, place: str) -> bool:
    """May what the pattern matches be the place, a directory above it, or all that lies in it?"""
    _, pattern = use.pattern
    parts = [part for part in pattern.split("/") if part and part != "."]
    for directory in {use.pattern[0], use.path, use.resolved}:
        if directory and is_within(place, directory):
            rest = [part for part in place[len(directory.rstrip("/")) :].split("/") if part]
            met = all(may_match(part, name) for part, name in zip(parts, rest, strict=False))
            if met and all(is_wild(part) for part in parts[len(rest) :]):
                return True
    return False


def is_wild(part: str) -> bool:
    """`*`, `?*`, `[a-z]*`, `*.*`, `.[!.]*`: what it spares nobody knows. find's own mark for any file below is `?`."""
    return ("*" in part or "[" in part) and not _without_brackets(part).strip("*?.")


def may_match(part: str, name: str) -> bool:
    """A component of a pattern; what stands in brackets may be any letter."""
    if name[:1] == "." and part[:1] != ".":
        return False
    part = _without_brackets(part)
    return matches(part, name)


def _without_brackets(part: str) -> str:
    while "[" in part and "]" in part[part.index("[") + 2 :]:
        start = part.index("[")
        end = part.index("]", start + 2)
        part = f"{part[:start]}?{part[end + 1 :]}"
    return part
