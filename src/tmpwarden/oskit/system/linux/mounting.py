"""What is mounted: the text of mountinfo, which can be read without touching a file system."""

from __future__ import annotations

import os

from ...proc.namespaces import Mount

TYPE_CHECKING = False
if TYPE_CHECKING:
    import select

_TABLE = "/proc/self/mountinfo"
BINDS = True  # a directory may be mounted elsewhere, with the device of what lies around it


def mounts(pid: int | str = "self") -> list[Mount]:
    """Those of a process's namespace. Raises OSError where they cannot be read."""
    with open(f"/proc/{pid}/mountinfo", "rb", buffering=0) as file:
        return parse_mounts(os.fsdecode(file.readall() or b""))


class Watched:
    """The mount table, open all the time: the kernel tells who polls it of each change, once. Those who
    share it ask one after the other, and keep what they read last in `seen`."""

    __slots__ = ("fd", "poll", "seen")

    def __init__(self, fd: int, poll: select.poll) -> None:
        self.fd, self.poll = fd, poll
        self.seen: object = None

    @classmethod
    def open(cls) -> Watched | None:
        import select

        try:
            fd = os.open(_TABLE, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        poll = select.poll()
        poll.register(fd, select.POLLPRI)
        poll.poll(0)
        return cls(fd, poll)

    def has_changed(self) -> bool:
        return len(self.poll.poll(0)) > 0


def unescape(text: str) -> str:
    r"""Undo the kernel's \040 for a space, \011, \012 and \134."""
    if "\\" not in text:
        return text
    head, *parts = text.split("\\")
    words = [head]
    for part in parts:
        if len(part) >= 3 and part[0] in "0123" and part[1] in "01234567" and part[2] in "01234567":
            words.append(os.fsdecode(bytes([int(part[:3], 8)])) + part[3:])
        else:
            words.append("\\" + part)
    # an escaped byte may be part of a longer UTF-8 sequence: decode the whole again
    return os.fsdecode(os.fsencode("".join(words)))


def parse_mount(line: str) -> Mount | None:
    """One line of mountinfo, or None if it is no such line."""
    fields = line.split(" ")
    try:
        dash = fields.index("-", 6)
        number, parent, device, root, point, options = fields[:6]
        filesystem, super_options = fields[dash + 1], fields[-1]
        source, both_options = unescape(fields[dash + 2]), f"{options},{super_options}"
        return Mount(
            number=int(number),
            parent=int(parent),
            device=device,
            root=unescape(root),
            point=unescape(point),
            options=both_options,
            filesystem=filesystem,
            source=source,
        )
    except (ValueError, IndexError):
        return None


def parse_mounts(text: str) -> list[Mount]:
    """All of mountinfo; what is no such line is passed over."""
    return [mount for line in text.split("\n") if (mount := parse_mount(line))]


def mount_id_of(fd: int) -> int | None:
    """The kernel's number for the mount behind an open descriptor; None where it cannot be told."""
    try:
        with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as lines:
            return next((int(line.split()[1]) for line in lines if line.startswith("mnt_id:")), None)
    except (OSError, ValueError, IndexError):
        return None
