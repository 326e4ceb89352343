"""HEAD and refs as they lie on the disk, read without git: what git says is compared with them.

What cannot be read this way (reftable, links in the place of refs, odd contents) is Unclear.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from ..oskit.files.descriptors import closing
from ..oskit.files.opening import descend, open_unread
from .gitdir import Directory, Unclear

OF_A_WORKTREE = ("refs/worktree/", "refs/bisect/", "refs/rewritten/")  # each worktree has its own
_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PACKED = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) ([^\n]+)")
_DEEPEST = 5  # symbolic refs that lead to each other
_CHUNK = 1 << 20


def head_in(own_fd: int) -> str:
    """The object that HEAD of a git directory names; "" before the first commit."""
    own = Directory(own_fd)
    with closing(_common(own)) as common_fd:
        return _resolved("HEAD", own, Directory(common_fd), None)


def branch_in(own: Directory) -> str:
    """The ref that HEAD stands on; "" where it is detached."""
    line = own.line("HEAD")
    return line.removeprefix("ref: ").strip() if line.startswith("ref: ") else ""


def refs_in(own: Directory) -> dict[str, str]:
    """Every ref that git lists for this git directory, and its object."""
    with closing(_common(own)) as common_fd:
        common = Directory(common_fd)
        packed = _packed(common)
        is_linked = not os.path.sameopenfile(own.fd, common_fd)
        names = [name for name in (*packed, *_loose(common)) if not (is_linked and name.startswith(OF_A_WORKTREE))]
        names += [name for name in _loose(own) if name.startswith(OF_A_WORKTREE)] if is_linked else []
        found = {name: _resolved(name, own, common, packed) for name in dict.fromkeys(names)}
    return {name: oid for name, oid in found.items() if oid}  # git lists no symbolic ref that leads nowhere


def _common(own: Directory) -> int:
    """The directory with the refs of all worktrees: `own` itself, but in a linked worktree."""
    if not own.has("commondir"):
        return os.dup(own.fd)
    return os.open(own.line("commondir"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=own.fd)


def _resolved(name: str, own: Directory, common: Directory, packed: dict[str, str] | None) -> str:
    if common.has("reftable"):
        raise Unclear("its refs are in a form that is not read (reftable)")
    for _ in range(_DEEPEST):
        if name != "HEAD" and (not name.startswith("refs/") or {"..", "."} & set(name.split("/"))):
            raise Unclear(f"{name} in it is no ref")
        directory = own if name == "HEAD" or name.startswith(OF_A_WORKTREE) else common
        text = _text(directory, name)
        if text is None:
            return (_packed(common) if packed is None else packed).get(name, "")
        if not text.startswith("ref: "):
            if not _OBJECT.fullmatch(text):
                raise Unclear(f"{name} in it names no object")
            return text
        name = text.removeprefix("ref: ").strip()
    raise Unclear(f"{name} in it leads round in a circle")


def _text(directory: Directory, name: str) -> str | None:
    """What a loose ref says; None if there is none of this name."""
    *above, last = name.split("/")
    try:
        fd = descend(directory.fd, "/".join(above))
    except (FileNotFoundError, NotADirectoryError):
        return None
    with closing(fd):
        parent = Directory(fd)
        mode = parent.mode(last)
        return None if mode is None or stat.S_ISDIR(mode) else parent.line(last).rstrip()


def _loose(directory: Directory) -> Iterator[str]:
    waiting = ["refs"]
    while waiting:
        here = waiting.pop()
        for name in directory.names(here):
            path = f"{here}/{name}"
            mode = directory.mode(path)
            if stat.S_ISDIR(mode or 0):
                waiting.append(path)
            elif stat.S_ISLNK(mode or 0):
                raise Unclear(f"{path} in it is a link")
            elif not name.startswith(".") and not name.endswith(".lock"):
                yield path


def _packed(common: Directory) -> dict[str, str]:
    try:
        fd = open_unread("packed-refs", common.fd)
    except FileNotFoundError:
        return {}
    with closing(fd):
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise Unclear("packed-refs is no plain file")
        content = b"".join(iter(lambda: os.read(fd, _CHUNK), b""))
    found: dict[str, str] = {}
    for line in content.split(b"\n"):
        if line[:1] in (b"#", b"^", b""):
            continue
        if not (match := _PACKED.fullmatch(line)):
            raise Unclear("packed-refs has a line that is not understood")
        found[os.fsdecode(match[2])] = match[1].decode()
    return found
