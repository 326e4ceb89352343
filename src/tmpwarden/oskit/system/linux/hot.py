"""What every tool call may ask: one file of /proc each, and no import. Nothing raises: no answer is an empty one."""

import posix

from ....small_files import read, read_text

TELLS_PROCESSES = True  # what these say of a process is an answer
TELLS_MOUNTS = True  # else "no mounts" is an answer, because nobody can bind a directory elsewhere
_PAGE = 1 << 12  # the kernel writes so much at a time, whatever it is asked for


def program(pid: int) -> str:
    """The file that it runs; "" where that is not told."""
    try:
        return posix.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def parent(pid: int) -> int:
    """0: not told."""
    try:
        return int(stat_fields(pid)[1])
    except (ValueError, IndexError):
        return 0


def start(pid: int) -> "int | None":
    """With the number its identity within one boot, as `processes.living` has it."""
    try:
        return int(stat_fields(pid)[19])
    except (ValueError, IndexError):
        return None


def arguments(pid: "int | str", most_bytes: int) -> "list[str]":
    """Its words, as far as so many bytes hold them."""
    return read_text(f"/proc/{pid}/cmdline", most_bytes).split("\0")


def environment(pid: int, most_bytes: int) -> "bytes | None":
    """What it was started with, NUL separated; None: not told."""
    return read(f"/proc/{pid}/environ", most_bytes, flags=0)


def mounts() -> "bytes | None":
    """The text of mountinfo; None: not measured."""
    try:
        fd = posix.open("/proc/self/mountinfo", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return None
    try:
        parts = []
        while part := posix.read(fd, _PAGE):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return None
    finally:
        posix.close(fd)


def stat_fields(pid: int) -> "list[bytes]":
    """/proc/PID/stat behind the name of the program; nothing where there is no such process."""
    return (read(f"/proc/{pid}/stat", 4096) or b"").rpartition(b")")[2].split()
