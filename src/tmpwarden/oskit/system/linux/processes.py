"""One process, as /proc shows it. Light enough for the hot path: hooks ask here who their agent is."""

from __future__ import annotations

import errno
import os

from ...proc.procs import ENDED, Process
from .reading import read, read_whole

_EXITING, _KERNEL_THREAD = 0x00000004, 0x00200000  # PF_EXITING, PF_KTHREAD


def parse_stat(pid: int, line: bytes) -> Process | None:
    """/proc/PID/stat. The command stands in parentheses and may itself contain spaces and parentheses."""
    opening, closing = line.find(b"("), line.rfind(b")")
    fields = line[closing + 2 :].split(None, 20)
    try:
        flags = int(fields[6])
        return Process(
            pid,
            int(fields[1]),
            int(fields[19]),
            os.fsdecode(line[opening + 1 : closing]),
            is_kernel_thread=bool(flags & _KERNEL_THREAD),
            is_exiting=bool(flags & _EXITING),
            threads=int(fields[17]),
        )
    except (IndexError, ValueError):
        return None


def living(pid: int) -> Process | None:
    """That process now, or None if it has ended (as a zombie has: it holds nothing). Raises OSError: not measured."""
    try:
        line = read(f"/proc/{pid}/stat")
    except ENDED:
        if _is_hidden(pid):
            raise PermissionError(errno.EACCES, "it is hidden", f"/proc/{pid}") from None
        return None
    if _is_over(line):
        return None
    process = parse_stat(pid, line)
    if process is None:
        raise OSError(errno.EBADMSG, os.strerror(errno.EBADMSG), f"/proc/{pid}/stat")
    return process


def other_threads(pid: int) -> list[int]:
    """All threads of a process but its first; none if it has ended. Raises OSError: not measured."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task") if name != str(pid)]
    except ENDED:
        return []


def pids() -> list[int]:
    """Every process number in /proc. Raises OSError: not measured."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def owner_of(pid: int) -> int | None:
    """The effective uid, None if it has ended. Raises OSError: not measured. From status: /proc/PID itself belongs to
    root when a process is not dumpable."""
    try:
        text = read(f"/proc/{pid}/status")
    except ENDED:
        return None
    start = text.find(b"\nUid:")
    try:
        return int(text[start + 5 :].split(None, 2)[1])
    except (IndexError, ValueError):
        raise OSError(errno.EBADMSG, os.strerror(errno.EBADMSG), f"/proc/{pid}/status") from None


def numbers_below(pid: int) -> tuple[int, ...] | None:
    """What it is called in pid namespaces below ours; None if it has ended. Raises OSError: not measured."""
    try:
        text = read(f"/proc/{pid}/status")
    except ENDED:
        return None
    line = text.partition(b"\nNSpid:")[2].partition(b"\n")[0]
    if not line:
        raise OSError(errno.EBADMSG, os.strerror(errno.EBADMSG), f"/proc/{pid}/status")
    return tuple(map(int, line.split()[1:]))


def arguments(pid: int) -> tuple[bytes, ...]:
    """Its command line; empty for kernel threads. Raises OSError."""
    line = read(f"/proc/{pid}/cmdline")
    return tuple(line.rstrip(b"\0").split(b"\0")) if line else ()


def environment(thread: int) -> bytes:
    """What it was started with. The kernel shows neither this nor its arguments while it loads a program, as long as a
    file system likes. Raises one of ENDED where the thread has none any more; OSError: not measured."""
    trouble = OSError(errno.EAGAIN, "its program is still being loaded")
    try:
        text = read(f"/proc/{thread}/environ")
        if text or read(f"/proc/{thread}/cmdline"):
            return text
    except PermissionError as refused:  # as every user but root is without its memory
        trouble = refused
    process = living(thread)
    raise ProcessLookupError(errno.ESRCH, "it is ending") if process is None or process.is_exiting else trouble


def program(pid: int) -> str:
    """The file that it runs. Raises OSError."""
    return os.readlink(f"/proc/{pid}/exe")


def cgroup(pid: int) -> str | None:
    """Where the process is accounted for, or None where that cannot be read."""
    text = read_whole(f"/proc/{pid}/cgroup")
    return None if text is None else cgroup_in(text) or None


def cgroup_in(text: bytes) -> str:
    """The path in the one hierarchy of cgroup 2; with cgroup 1, the one that systemd names processes by."""
    for line in text.splitlines():
        number, _, rest = line.partition(b":")
        controller, _, path = rest.partition(b":")
        if (number == b"0" and not controller) or controller == b"name=systemd":
            return os.fsdecode(path)
    return ""


def boot_time_s() -> float | None:
    """When this kernel started, by the clock of now."""
    for line in (read_whole("/proc/stat") or b"").split(b"\n"):
        if line.startswith(b"btime "):
            return float(line[6:])
    return None


def started_s(pid: int, start: int) -> float | None:
    """When it started, by the clock of now."""
    booted = boot_time_s()
    return None if booted is None else booted + start / os.sysconf("SC_CLK_TCK")


def _is_hidden(pid: int) -> bool:
    """hidepid makes other users' processes look as if they had ended; a signal's address cannot be hidden."""
    if os.name != "posix":  # there, signal 0 is no question
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _is_over(line: bytes) -> bool:
    """A zombie (Z) or a dead one (X) has let go of everything, unless only its first thread has ended."""
    fields = line[line.rfind(b")") + 2 :].split(None, 18)
    return fields[:1] in ([b"Z"], [b"X"]) and len(fields) > 17 and fields[17] in (b"0", b"1")
