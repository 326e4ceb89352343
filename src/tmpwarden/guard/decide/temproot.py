"""Which paths below a temp root are led into the scratch, and which belong to somebody else."""

from __future__ import annotations

from .owning import is_kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..nouns.paths import Look

HIDDEN = "\0"  # stands for a part of a word that is not known


class TempRoot:
    """The rules of one rewrite: from any of the roots into the scratch."""

    __slots__ = ("keep", "look", "roots", "scratch")

    def __init__(self, scratch: str, roots: tuple[str, ...], keep: tuple[str, ...], look: Look) -> None:
        self.scratch = scratch
        self.roots = roots
        self.keep = keep
        self.look = look

    def end_of_root(self, path: str) -> int:
        """Where the temp root ends that the path starts with, -1 if it does not. //tmp and /./tmp are /tmp."""
        for root in self.roots:
            at = 0
            for name in root.split("/")[1:]:
                at = _behind(path, at, name)
                if at < 0:
                    break
            else:
                return at
        return -1

    def rest_of(self, path: str) -> str | None:
        """The path below the temp root, '' for the root itself; None where it must stay as it is."""
        at = self.end_of_root(path)
        if at < 0:
            return None
        rest = path[at:].lstrip("/")
        if _climbs_out(rest) or self._is_kept(rest) or self._is_in_scratch(path[at:]):
            return None
        return rest

    def _is_kept(self, rest: str) -> bool:
        first = rest.partition("/")[0]
        if not first or first.startswith(HIDDEN):
            return False
        return self._is_shared(first) or is_kept(first, self.keep)

    def _is_shared(self, first: str) -> bool:
        """The directory that holds the scratches of all sessions."""
        for root in self.roots:
            if self.scratch.startswith(root + "/"):
                above, _, below = self.scratch[len(root) + 1 :].partition("/")
                return bool(below) and first == above
        return False

    def _is_in_scratch(self, below: str) -> bool:
        names = _names(below)
        for root in self.roots:
            if self.scratch.startswith(root + "/"):
                inside = _names(self.scratch[len(root) :])
                return names[: len(inside)] == inside
        return False


def _behind(path: str, at: int, name: str) -> int:
    """Behind the component `name`, which must come next."""
    if path[at : at + 1] != "/":
        return -1
    while True:
        while path[at : at + 1] == "/":
            at += 1
        if path[at : at + 2] != "./":
            break
        at += 1
    stop = at + len(name)
    return stop if path.startswith(name, at) and path[stop : stop + 1] in ("", "/") else -1


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name and name != "."]


def _climbs_out(rest: str) -> bool:
    depth = 0
    for name in _names(rest):
        depth += -1 if name == ".." else 1
        if depth < 0:
            return True
    return False
