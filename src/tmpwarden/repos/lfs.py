"""Files whose content git-lfs keeps elsewhere: the index has a pointer to it. Compared without running git-lfs."""

from __future__ import annotations

import hashlib
import os
import re
import stat

from .git_program import Git
from .gitdir import Directory

_BRINGS_NOTHING_NEW = frozenset(("clone", "checkout", "reset", "fetch", "branch", "pull"))  # in the log of HEAD

_LONGEST_POINTER = 1024
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]+)\n"
)


def is_same(git: Git, tree: Directory, blob: str, name: str) -> bool:
    """Whether the file is what the pointer in the index stands for. Our calls run no filter, so that git takes a
    file that was checked out in full for a modified one."""
    if int(git.output("cat-file", "-s", blob)) > _LONGEST_POINTER:
        return False
    pointer = _POINTER.fullmatch(git.output("cat-file", "blob", blob))
    return pointer is not None and _digest(tree, name, int(pointer[2])) == pointer[1].decode()


def may_be_only_here(common: Directory) -> bool:
    """Whether objects lie here and commits were made here. A push takes commits along, and objects only if a hook of
    git-lfs runs, which `core.hooksPath` (husky) switches off; which of them the server has, no file tells."""
    if not common.names("lfs/objects"):
        return False
    if not common.has("logs/HEAD"):
        return True
    return any(_action(line) not in _BRINGS_NOTHING_NEW for line in common.read("logs/HEAD").splitlines())


def _action(line: bytes) -> str:
    """The first word of a line's message, `commit (amend): subject`; a pull that merged made a commit too."""
    message = line.partition(b"\t")[2].decode("utf-8", "replace")
    words = message.partition(":")[0].split()
    return "merge" if "Merge made by" in message else words[0] if words else ""


def _digest(tree: Directory, name: str, size: int) -> str | None:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=tree.fd)
    except OSError:
        return None
    with open(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size != size:
            return None
        return hashlib.file_digest(file, "sha256").hexdigest()
