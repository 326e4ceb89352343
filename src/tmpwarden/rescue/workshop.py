"""A repository of our own in which a bundle is built. It borrows the objects of another one and writes nothing there.

Its configuration is ours, so nothing that the other repository configures is even read here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..lazy_dataclass import dataclass
from ..oskit.files.descriptors import closing
from ..repos.git_program import NOBODY, Git

TIME_LIMIT_S = 600.0
# Whatever .gitattributes in the tree say: the bytes as they are.
RAW = "* -text -ident -filter -working-tree-encoding\n"


@dataclass(frozen=True, slots=True)
class Workshop:
    """Open while a repository is saved or brought back."""

    path: str
    fd: int

    def git(self, **more: str) -> Git:
        """Questions and orders to the workshop itself."""
        return Git(self.fd, ".", None, NOBODY | more, time.monotonic() + TIME_LIMIT_S)

    def git_in(self, tree_fd: int, index: str) -> Git:
        """The same with a work tree elsewhere and an index of our own."""
        more = {"GIT_INDEX_FILE": f"{self.path}/{index}"}
        return Git(tree_fd, self.path, ".", NOBODY | more, time.monotonic() + TIME_LIMIT_S)

    def borrow(self, objects: str) -> None:
        """Read objects from there too. Through a link of ours: the list of alternates cannot hold every name."""
        os.symlink(objects, f"{self.path}/borrowed")
        with open(f"{self.path}/objects/info/alternates", "w", encoding="ascii") as file:
            file.write("../borrowed\n")


def make_repository(path: str, object_format: str, *, is_bare: bool) -> None:
    """A git directory with nothing in it. By hand: a git that says nothing would have made nothing."""
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        os.makedirs(f"{path}/{name}", exist_ok=True)
    version, more = (1, "[extensions]\n\tobjectformat = sha256\n") if object_format == "sha256" else (0, "")
    core = f"[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = {str(is_bare).lower()}\n"
    core += "" if is_bare else "\tlogallrefupdates = true\n"
    for name, text in (("config", core + more), ("HEAD", "ref: refs/heads/main\n")):
        with open(f"{path}/{name}", "x", encoding="ascii") as file:
            file.write(text)


@contextmanager
def opened(path: str, object_format: str) -> Iterator[Workshop]:
    """A new one at `path`, which must not exist. Whoever asked removes it."""
    make_repository(path, object_format, is_bare=True)
    with open(f"{path}/info/attributes", "w", encoding="ascii") as file:
        file.write(RAW)
    with closing(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as fd:
        yield Workshop(path, fd)
