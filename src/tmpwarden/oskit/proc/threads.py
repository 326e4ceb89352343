"""Threads with a table of open files or a working directory of their own: /proc/PID shows the first thread's alone."""

from __future__ import annotations

import errno
import os
from functools import cache

from . import procs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_KCMP = {"x86_64": 312, "aarch64": 272, "riscv64": 272, "loongarch64": 272, "ppc64le": 354, "s390x": 343}
_FILES, _DIRECTORIES = 2, 3  # KCMP_FILES, KCMP_FS


def apart(pid: int) -> list[int]:
    """The threads whose table the first thread does not share, or may not: where the kernel does not say, all of them.

    Raises OSError: not measured."""
    return [thread for thread in procs.other_threads(pid) if not _shares(pid, thread)]


def _shares(pid: int, thread: int) -> bool:
    compare = _kcmp()
    if compare is None:
        return False
    return compare(pid, thread, _FILES) and compare(pid, thread, _DIRECTORIES)


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
