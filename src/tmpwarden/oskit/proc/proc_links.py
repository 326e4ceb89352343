"""Everything one process holds, as the paths that /proc shows. Only readlink and read: no path is ever followed."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator

from ... import agent_facts
from ...model.terms import WitnessKind
from . import procs

_OF_AGENTS = (*agent_facts.TEMP_VARIABLES, *agent_facts.TEMP_WITNESSES)
TEMP_VARIABLES = (b"TMPDIR", b"TMP", b"TEMP", *(name.encode() for name in _OF_AGENTS))

TOO_DEEP = "/\0"  # a path that is too long to be told

_LINKS = (
    ("cwd", WitnessKind.WORKING_DIRECTORY),
    ("root", WitnessKind.ROOT_DIRECTORY),
    ("exe", WitnessKind.EXECUTABLE),
)
NO_FILES = ("/memfd:", "/dmabuf:", "/SYSV", "/dev/zero", "/anon_hugepage", "/[aio]")
_DELETED = " (deleted)"
_OPENED_TO_LOOK = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0)


def mount_namespace(pid: int) -> str:
    """`mnt:[4026531841]`. Raises OSError, as everything here: one of procs.ENDED, or why it could not be read."""
    return os.readlink(f"/proc/{pid}/ns/mnt")


def held_paths(pid: int, *, ours: bool = False) -> list[tuple[WitnessKind, str]]:
    """(how, path as that process's mount namespace names it).

    `ours`: what this very process opened to look at things (directories, O_PATH pins) does not count.
    """
    held = []
    for name, kind in _LINKS:
        held += [(kind, path) for path in _targets([f"/proc/{pid}/{name}"]) if path != "/"]
    held += [(WitnessKind.OPEN_FILE, path) for path in _open_files(pid, ours=ours)]
    held += [(WitnessKind.MAPPED_FILE, path) for path in _mapped_files(pid)]
    return held


def table_paths(thread: int) -> list[tuple[WitnessKind, str]]:
    """What a thread with a table of its own holds by it."""
    held = [(WitnessKind.OPEN_FILE, path) for path in _open_files(thread, ours=False)]
    for name, kind in _LINKS[:2]:
        held += [(kind, path) for path in _targets([f"/proc/{thread}/{name}"]) if path != "/"]
    return held


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


def _targets(links: Iterable[str]) -> list[str]:
    """Where these links lead, as far as that is a file. One that is there no more is passed over (closed meanwhile);
    any other trouble is raised, but for a path that is too long for the kernel to tell."""
    found: list[str] = []
    for link in links:
        try:
            target = os.readlink(link)
        except procs.ENDED:
            continue
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            target = TOO_DEEP
        if target[0] == "/":
            found += _spellings(target)
    return found


def _open_files(pid: int, *, ours: bool) -> list[str]:
    folder = f"/proc/{pid}/fd/"
    names = os.listdir(folder)
    return _targets([folder + name for name in names if not (ours and _opened_to_look(int(name)))])


def _opened_to_look(fd: int) -> bool:
    """By the flags it was opened with: fstat could hang on a dead network mount."""
    import fcntl

    try:
        return bool(fcntl.fcntl(fd, fcntl.F_GETFL) & _OPENED_TO_LOOK)
    except OSError:
        return True


def _mapped_files(pid: int) -> list[str]:
    lines = procs.read(f"/proc/{pid}/maps").split(b"\n")
    paths = {line[at:] for line in lines if (at := line.find(b" /") + 1)}
    return [spelling for path in paths for spelling in _spellings(os.fsdecode(path))]


def _spellings(target: str) -> tuple[str, ...]:
    r"""What the kernel's text may mean: " (deleted)" is a mark or part of the name, \012 a newline or four letters."""
    if target[-1] != ")" and "\\" not in target:
        return (target,)
    if target.startswith(NO_FILES):
        return ()
    paths = [target]
    if target.endswith(_DELETED):
        paths.append(target.removesuffix(_DELETED))
    if "\\012" in target:
        paths += [path.replace("\\012", "\n") for path in paths]
    return tuple(paths)
