"""Which paths below a temp root are led into the scratch, and which belong to somebody else."""

from __future__ import annotations

from ...agent_facts import NAMES_IN_TEMP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..nouns.paths import Look

# names of sockets and directories that other programs keep in /tmp; a last * stands for any ending
KEPT = ".X11-unix .ICE-unix .XIM-unix .font-unix .Test-unix tmux-* ssh-* .s.PGSQL.* .X0-lock .X1-lock dbus-* pulse-*"
KEPT += " systemd-private-* snap-private-tmp gpg-* com.apple.* mysql.sock mysqld.sock docker.sock agent.*"
_OF_AGENTS = tuple([name.partition("{")[0] for name in NAMES_IN_TEMP])
HIDDEN = "\0"  # stands for a part of a word that is not known


class TempRoot:
    """The rules of one rewrite: from any of the roots into the scratch."""

    __slots__ = ("keep", "look", "made", "roots", "scratch", "uid")

    def __init__(self, scratch: str, roots: tuple[str, ...], uid: int, keep: tuple[str, ...], look: Look) -> None:
        self.scratch = scratch
        self.roots = roots
        self.uid = uid
        self.keep = keep
        self.look = look
        self.made: list[str] = []  # what the line itself makes, relative to the root

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
        if _climbs_out(rest) or self._is_kept(rest) or self._is_inside(path[at:]):
            return None
        return rest

    def _is_kept(self, rest: str) -> bool:
        first = rest.partition("/")[0]
        if not first or first.startswith(HIDDEN):
            return False
        if any(first.startswith(prefix) and first[len(prefix) :].isdigit() for prefix in _OF_AGENTS):
            return True  # an agent's own directory, whoever's it is
        if first in self.keep or self._is_shared(first):
            return True
        return any(first == kept or (kept[-1] == "*" and first.startswith(kept[:-1])) for kept in KEPT.split(" "))

    def _is_shared(self, first: str) -> bool:
        """The directory that holds the scratches of all sessions."""
        for root in self.roots:
            if self.scratch.startswith(root + "/"):
                above, _, below = self.scratch[len(root) + 1 :].partition("/")
                return bool(below) and first == above
        return False

    def _is_inside(self, below: str) -> bool:
        names = _names(below)
        for root in self.roots:
            if self.scratch.startswith(root + "/"):
                inside = _names(self.scratch[len(root) :])
                return names[: len(inside)] == inside
        return False

    def is_there(self, rest: str) -> bool:
        """It is in the scratch, or the line itself puts it there."""
        return rest in self.made or self.look(f"{self.scratch}/{rest}")[1]

    def is_only_here(self, rest: str) -> bool:
        """It exists in the temp root and not in the scratch: whoever only reads it means the one that exists."""
        if not rest or HIDDEN in rest or any(_is_near(rest, made) for made in self.made):
            return False
        rest = rest.rstrip("/")
        return any(self.look(f"{root}/{rest}")[1] for root in self.roots) and not self.look(f"{self.scratch}/{rest}")[1]


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


def _is_near(rest: str, made: str) -> bool:
    return rest == made or rest.startswith(made + "/") or made.startswith(rest + "/")
