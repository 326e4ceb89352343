"""Read a git directory by hand, through its descriptor: no link followed, nothing made younger, nothing that hangs.

HEAD and refs as they lie on the disk (what git says is compared with them), and the files that link worktrees to their
repository. What cannot be read this way (reftable, links in the place of refs, odd contents) is Unclear. The links
prove nothing: `repository.opened` checks both directions before anything is done.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator

from ..lazy_dataclass import dataclass
from ..oskit import system
from ..oskit.files.opening import closing, descend, entry_names, open_dir, open_unread
from ..oskit.proc.reach import Reach

LONGEST = 1 << 20
_CHUNK = 1 << 20
_INDEX_COUNT_AT = 8  # behind "DIRC" and the version


class Unclear(Exception):
    """Could not be inspected; its text says why."""


@dataclass(frozen=True, slots=True)
class Directory:
    """Questions about what lies in one open directory."""

    fd: int

    @property
    def path(self) -> str:
        """Where it is now."""
        return system.descriptors.path_of(self.fd)

    def read(self, name: str, longest: int = LONGEST) -> bytes:
        """A whole small file; Unclear if it is none."""
        with closing(open_unread(name, self.fd)) as fd:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Unclear(f"{name} is not a plain file")
            content = os.read(fd, longest)
        if len(content) == longest:
            raise Unclear(f"{name} is too long")
        return content

    def line(self, name: str) -> str:
        return self.read(name, 4097).decode("utf-8", "surrogateescape").rstrip("\n")

    def names(self, name: str = ".") -> list[str]:
        """What a directory in it holds; nothing if there is none."""
        try:
            fd = open_dir(name, self.fd)
        except FileNotFoundError:
            return []
        with closing(fd):
            return sorted(os.listdir(fd))

    def mode(self, name: str) -> int | None:
        try:
            return os.stat(name, dir_fd=self.fd, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None

    def has(self, name: str) -> bool:
        return self.mode(name) is not None

    def has_directory(self, name: str) -> bool:
        return stat.S_ISDIR(self.mode(name) or 0)

    def says_something(self, name: str) -> bool:
        """Whether there is anything but an empty file or an empty directory."""
        mode = self.mode(name)
        if mode is None:
            return False
        return bool(self.names(name)) if stat.S_ISDIR(mode) else not stat.S_ISREG(mode) or bool(self.read(name))

    def check_index(self) -> int:
        """How many entries the index has at least. git reads an index without comparing its checksum; a flipped bit in
        it may say that nothing was modified."""
        try:
            fd = open_unread("index", self.fd)
        except FileNotFoundError:
            return 0
        with closing(fd):
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Unclear("its index is not a plain file")
            if not any(_ends_in_its_checksum(fd, name) for name in ("sha1", "sha256")):
                raise Unclear("its index is corrupt")
            return int.from_bytes(os.pread(fd, 4, _INDEX_COUNT_AT), "big")


def _ends_in_its_checksum(fd: int, name: str) -> bool:
    """Zeros stand for a checksum that git was told not to compute (index.skipHash)."""
    digest = hashlib.new(name, usedforsecurity=False)
    left = os.fstat(fd).st_size - digest.digest_size
    if left < 0:
        return False
    os.lseek(fd, 0, os.SEEK_SET)
    while left and (chunk := os.read(fd, min(_CHUNK, left))):
        digest.update(chunk)
        left -= len(chunk)
    ending = os.read(fd, digest.digest_size + 1)
    return ending in (digest.digest(), bytes(digest.digest_size))


def copy_file(directory: Directory, name: str, target: str) -> None:
    """A plain file of a git directory, whole, to a new file of ours."""
    with closing(open_unread(name, directory.fd)) as fd:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise Unclear(f"{name} is not a plain file")
        with open(target, "xb") as file:
            while chunk := os.read(fd, _CHUNK):
                file.write(chunk)


OF_A_WORKTREE = ("refs/worktree/", "refs/bisect/", "refs/rewritten/")  # each worktree has its own
_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PACKED = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) ([^\n]+)")
_DEEPEST = 5  # symbolic refs that lead to each other


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
        refs = {name: _resolved(name, own, common, packed) for name in dict.fromkeys(names)}
    return {name: oid for name, oid in refs.items() if oid}  # git lists no symbolic ref that leads nowhere


def _common(own: Directory) -> int:
    """The directory with the refs of all worktrees: `own` itself, but in a linked worktree."""
    if not own.has("commondir"):
        return os.dup(own.fd)
    return os.open(own.line("commondir"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=own.fd)


def _resolved(name: str, own: Directory, common: Directory, packed: dict[str, str] | None) -> str:
    if common.has("reftable"):
        raise Unclear("its refs are in a format that is not supported (reftable)")
    for _ in range(_DEEPEST):
        if name != "HEAD" and (not name.startswith("refs/") or {"..", "."} & set(name.split("/"))):
            raise Unclear(f"{name} in it is not a ref")
        directory = own if name == "HEAD" or name.startswith(OF_A_WORKTREE) else common
        text = _text(directory, name)
        if text is None:
            return (_packed(common) if packed is None else packed).get(name, "")
        if not text.startswith("ref: "):
            if not _OBJECT.fullmatch(text):
                raise Unclear(f"{name} in it names no object")
            return text
        name = text.removeprefix("ref: ").strip()
    raise Unclear(f"{name} in it refers to itself")


def _text(directory: Directory, name: str) -> str | None:
    """What a loose ref says; None if there is no ref of this name."""
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
    todo = ["refs"]
    while todo:
        here = todo.pop()
        for name in directory.names(here):
            path = f"{here}/{name}"
            mode = directory.mode(path)
            if stat.S_ISDIR(mode or 0):
                todo.append(path)
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
            raise Unclear("packed-refs is not a plain file")
        content = b"".join(iter(lambda: os.read(fd, _CHUNK), b""))
    refs: dict[str, str] = {}
    for line in content.split(b"\n"):
        if line[:1] in (b"#", b"^", b""):
            continue
        if not (match := _PACKED.fullmatch(line)):
            raise Unclear("packed-refs has an unknown line")
        refs[os.fsdecode(match[2])] = match[1].decode()
    return refs


_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


def is_checkout(path: str) -> bool:
    """Whether something is checked out here: there is a `.git` in it."""
    return stat.S_IFMT(_git_mode(path)) in (stat.S_IFREG, stat.S_IFDIR)


def is_linked(path: str) -> bool:
    """Whether it is a linked worktree (or a submodule), and no repository of its own."""
    return stat.S_ISREG(_git_mode(path))


def _git_mode(path: str) -> int:
    try:
        return os.lstat(f"{path}/.git").st_mode
    except OSError:
        return 0


def common_directory(path: str) -> str | None:
    """The git directory of the repository that `path` is a checkout of; None if there is none that can be read."""
    own = own_directory(path)
    if own is None or os.path.isdir(f"{path}/.git"):
        return own
    try:
        return os.path.realpath(os.path.join(own, line_of(own, "commondir")))
    except (OSError, Unclear, ValueError):
        return None


def checkout_of(common: str) -> str | None:
    """Where a repository has its own checkout, by its place alone; None for a bare one."""
    main, name = os.path.split(common)
    return main if name == ".git" and os.path.isdir(common) else None


def linked_worktrees(common: str) -> list[str]:
    """Paths that a repository has entries for and where something is checked out now."""
    paths, reach = [], Reach.now()
    for name in entry_names(f"{common}/worktrees"):
        try:
            path = os.path.dirname(
                os.path.join(common, "worktrees", name, line_of(f"{common}/worktrees/{name}", "gitdir"))
            )
        except (OSError, Unclear, ValueError):
            continue
        if reach.frozen(path):
            continue
        path = os.path.realpath(path)
        if is_linked(path) and common_directory(path) == common:
            paths.append(path)
    return paths


def own_directory(path: str) -> str | None:
    """The git directory of a checkout itself: for a linked worktree its entry in the repository."""
    try:
        if os.path.isdir(f"{path}/.git"):
            return os.path.realpath(f"{path}/.git")
        word, _, target = line_of(path, ".git").partition(" ")
        return os.path.realpath(os.path.join(path, target)) if word == "gitdir:" else None
    except (OSError, Unclear, ValueError):
        return None


def entries(common: str) -> list[str]:
    """The administrative directories of all worktrees that a repository knows."""
    return [f"{common}/worktrees/{name}" for name in entry_names(f"{common}/worktrees")]


def line_of(directory: str, name: str) -> str:
    with closing(os.open(directory, _DIRECTORY)) as fd:
        return Directory(fd).line(name)
