"""Everything one process holds, as the paths that /proc shows. Only readlink and read: no path is ever followed."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable
from functools import cache

from ....model.terms import WitnessKind
from ...proc import procs
from .reading import read

TOO_DEEP = b"/\0"  # a path that is too long to be told

_LINKS = (
    (b"cwd", WitnessKind.WORKING_DIRECTORY),
    (b"root", WitnessKind.ROOT_DIRECTORY),
    (b"exe", WitnessKind.EXECUTABLE),
)
NO_FILES = ("/memfd:", "/dmabuf:", "/SYSV", "/dev/zero", "/anon_hugepage", "/[aio]")
_DELETED = " (deleted)"
_MAPPED = re.compile(rb" (/[^\n]*)")  # one pass in C over forty lines for each process
_KCMP = {"x86_64": 312, "aarch64": 272, "riscv64": 272, "loongarch64": 272, "ppc64le": 354, "s390x": 343}
_SAME_FILES, _SAME_DIRECTORIES = 2, 3  # KCMP_FILES, KCMP_FS
_OPENED_TO_LOOK = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0)


def mount_namespace(pid: int) -> str:
    """`mnt:[4026531841]`. Raises OSError, as everything here: one of procs.ENDED, or why it could not be read."""
    return os.readlink(f"/proc/{pid}/ns/mnt")


class Look:
    """What /proc shows of one process, or of one thread with tables of its own: each file of it read once."""

    __slots__ = ("cwd", "descriptors", "links", "maps")

    def __init__(self) -> None:
        self.cwd = b""  # as the kernel tells it, also where that is no path
        self.links: list[tuple[WitnessKind, bytes]] = []
        self.descriptors: list[tuple[bytes, bytes]] = []  # (name in fd/, where it leads), as far as that is a file
        self.maps = b""

    @property
    def held(self) -> list[tuple[WitnessKind, Iterable[bytes]]]:
        """(how, paths as that process's mount namespace names them, in the kernel's spelling)"""
        links = [(kind, (path,)) for kind, path in self.links if path != b"/"]
        return [
            *links,
            (WitnessKind.OPEN_FILE, dict.fromkeys([target for _, target in self.descriptors])),
            (WitnessKind.MAPPED_FILE, mapped(self.maps)),
        ]


def look_at(pid: int, *, ours: bool = False) -> Look:
    """`ours`: what this very process opened to look at things (directories, O_PATH pins) does not count."""
    look = Look()
    _read_links(look, pid, _LINKS)
    look.descriptors = _descriptors(pid, ours=ours)
    look.maps = read(f"/proc/{pid}/maps")
    return look


def look_at_tables(thread: int) -> Look:
    """What a thread with a table of its own holds by it."""
    look = Look()
    look.descriptors = _descriptors(thread, ours=False)
    _read_links(look, thread, _LINKS[:2])
    return look


def mapped(maps: bytes) -> dict[bytes, None]:
    """The files in the text of maps, each once."""
    return dict.fromkeys(_MAPPED.findall(maps))


def _read_links(look: Look, pid: int, links: Iterable[tuple[bytes, WitnessKind]]) -> None:
    for name, kind in links:
        target = _target(b"/proc/%d/%s" % (pid, name))
        if kind is WitnessKind.WORKING_DIRECTORY:
            look.cwd = target
        if target[:1] == b"/":
            look.links.append((kind, target))


def _descriptors(pid: int, *, ours: bool) -> list[tuple[bytes, bytes]]:
    folder, links = b"/proc/%d/fd/" % pid, []
    for name in os.listdir(folder):
        if ours and _opened_to_look(int(name)):
            continue
        target = _target(folder + name)
        if target[:1] == b"/":
            links.append((name, target))
    return links


def _target(link: bytes) -> bytes:
    """Where it leads; nothing where it is there no more (closed meanwhile). Any other trouble is raised, but for a path
    that is too long for the kernel to tell."""
    try:
        return os.readlink(link)
    except procs.ENDED:
        return b""
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return TOO_DEEP


def _opened_to_look(fd: int) -> bool:
    """By the flags it was opened with: fstat could hang on a dead network mount."""
    import fcntl

    try:
        return bool(fcntl.fcntl(fd, fcntl.F_GETFL) & _OPENED_TO_LOOK)
    except OSError:
        return True


def spellings(raw: bytes) -> tuple[str, ...]:
    r"""What the kernel's text may mean: " (deleted)" is a mark or part of the name, \012 a newline or four letters."""
    target = os.fsdecode(raw)
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


def apart(pid: int) -> list[int]:
    """The threads whose table the first thread does not share, or may not: where the kernel does not say, all of them.

    Raises OSError: not measured."""
    return [thread for thread in procs.other_threads(pid) if not _shares(pid, thread)]


def _shares(pid: int, thread: int) -> bool:
    compare = _kcmp()
    if compare is None:
        return False
    return compare(pid, thread, _SAME_FILES) and compare(pid, thread, _SAME_DIRECTORIES)


@cache
def _kcmp() -> Callable[[int, int, int], bool] | None:
    """The system call, which Python has no name for; None on a machine whose number for it we do not know."""
    number = _KCMP.get(os.uname().machine)
    if number is None:
        return None
    import ctypes  # only a deed looks this closely

    libc = ctypes.CDLL(None, use_errno=True)
    call = libc.syscall

    def is_same(pid: int, thread: int, what: int) -> bool:
        answer: int = call(number, pid, thread, what, 0, 0)
        return answer == 0 or (answer < 0 and ctypes.get_errno() == errno.ESRCH)

    return is_same
