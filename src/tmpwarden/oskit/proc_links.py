"""Everything one process holds, as the paths that /proc shows. Only readlink and read: no path is ever followed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ..model.sweep import WitnessKind
from . import procs

TEMP_VARIABLES = (b"TMPDIR", b"TMP", b"TEMP", b"CLAUDE_CODE_TMPDIR", b"CLAUDE_TMPDIR")

_LINKS = (
    ("cwd", WitnessKind.WORKING_DIRECTORY),
    ("root", WitnessKind.ROOT_DIRECTORY),
    ("exe", WitnessKind.EXECUTABLE),
)
_MAPPED = re.compile(rb"^[^/\n]*(/.*)$", re.MULTILINE)
_NO_FILES = ("/memfd:", "/SYSV", "/dev/zero", "/anon_hugepage", "/[aio]")
_DELETED = " (deleted)"
_OPENED_TO_LOOK = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0)


class Unreadable(Exception):
    """This process is not for us to look at."""


def mount_namespace(pid: int) -> str:
    """`mnt:[4026531841]`. Raises Unreadable, or FileNotFoundError when the process is gone."""
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt")
    except PermissionError:
        raise Unreadable from None


def held_paths(pid: int, *, ours: bool = False) -> Iterator[tuple[WitnessKind, str]]:
    """(how, path as that process's mount namespace names it). Raises Unreadable or FileNotFoundError.

    `ours`: what this very process opened to look at things (directories, O_PATH pins) does not count.
    """
    for name, kind in _LINKS:
        if target := _link(f"/proc/{pid}/{name}"):
            yield from ((kind, path) for path in _spellings(target) if path != "/")
    for target in _open_files(pid, ours=ours):
        yield from ((WitnessKind.OPEN_FILE, path) for path in _spellings(target))
    for target in _mapped_files(pid):
        yield from ((WitnessKind.MAPPED_FILE, path) for path in _spellings(target))


def temp_directories(environ: bytes) -> Iterator[tuple[str, str]]:
    """(variable, value) of every absolute temp directory in an environment."""
    for variable in TEMP_VARIABLES:
        value = variable_in(environ, variable)
        if value is not None and value.startswith("/"):
            yield os.fsdecode(variable), value


def variable_in(environ: bytes, name: bytes) -> str | None:
    """The value of one variable in a NUL separated environment."""
    needle = name + b"="
    at = 0 if environ.startswith(needle) else environ.find(b"\0" + needle) + 1
    if at == 0 and not environ.startswith(needle):
        return None
    at += len(needle)
    end = environ.find(b"\0", at)
    return os.fsdecode(environ[at : end if end >= 0 else len(environ)])


def _link(path: str) -> str | None:
    """The target, or None where this one link leads nowhere (a kernel thread has no exe)."""
    try:
        target = os.readlink(path)
    except PermissionError:
        raise Unreadable from None
    except OSError:
        return None
    return target if target.startswith("/") and not target.startswith(_NO_FILES) else None


def _open_files(pid: int, *, ours: bool) -> Iterator[str]:
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except PermissionError:
        raise Unreadable from None
    for name in names:
        if (target := _link(f"{folder}/{name}")) and not (ours and _opened_to_look(int(name))):
            yield target


def _opened_to_look(fd: int) -> bool:
    """By the flags it was opened with: fstat could hang on a dead network mount."""
    import fcntl

    try:
        return bool(fcntl.fcntl(fd, fcntl.F_GETFL) & _OPENED_TO_LOOK)
    except OSError:
        return True


def _mapped_files(pid: int) -> set[str]:
    text = procs.read_whole(f"/proc/{pid}/maps")
    if text is None:
        return set()
    found = {os.fsdecode(path) for path in set(_MAPPED.findall(text))}
    return {path for path in found if not path.startswith(_NO_FILES)}


def _spellings(target: str) -> tuple[str, ...]:
    r"""What the kernel's text may mean: " (deleted)" is a mark or part of the name, \012 a newline or four letters."""
    paths = [target]
    if target.endswith(_DELETED):
        paths.append(target.removesuffix(_DELETED))
    if "\\012" in target:
        paths += [path.replace("\\012", "\n") for path in paths]
    return tuple(paths)
