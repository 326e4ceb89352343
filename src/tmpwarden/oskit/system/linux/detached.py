"""What a process uses on a mount that was taken away under it (`umount -l`): its paths there lead nowhere.

The kernel then tells a path that begins at the top of the lost mount, and that looks like any other. The number of the
mount behind a descriptor tells them apart; of a working directory or a mapping, that nothing of the name is there.
Reading either touches no file system. Only which device it is must be asked there, by a child with a deadline.
"""

from __future__ import annotations

import _thread
import errno
import os
import time
from collections.abc import Iterable, Iterator

from ...files.opening import closing
from ...proc import procs
from ...proc.namespaces import MountTable
from ...proc.reach import answer_of
from .links import NO_FILES, TOO_DEEP, Look, mapped
from .reading import read

_NO_FILES = tuple(map(str.encode, NO_FILES))
_ELSEWHERE = (b"/dev/", b"/proc/", b"/sys/", *_NO_FILES)
_DELETED = b" (deleted)"
_KNOWN_S = 30.0
_STUCK_S = 5.0  # a busy machine takes a moment for each, and never that long
_known: dict[tuple[str, str], tuple[str, float]] = {}  # (link, where it leads) -> device, and when it was asked
_DEVICE = "import os, sys; print(os.stat(sys.argv[1]).st_dev)"


class Suspects:
    """What the processes of one look use by mounts that their own namespace does not have."""

    def __init__(self) -> None:
        self.top: frozenset[bytes] | None = None  # what lies in our root directory, once it is asked for
        self.descriptors: list[tuple[int, int, str]] = []  # (process, number of the mount, descriptor)
        self.others: list[tuple[int, str]] = []  # (process, working directory)
        self.at_top: list[tuple[int, str]] = []  # the same, of those that read "/": of our root, or of a lost mount
        self.numbers: dict[MountTable, frozenset[int]] = {}  # of the mounts of each namespace
        self.devices: dict[str, int] = {}  # of lost mappings: by whom

    def look_at(self, pid: int, look: Look, table: MountTable, *, has_our_root: bool) -> None:
        """Raises OSError, as every look at a process: one of procs.ENDED, or why it could not be read."""
        numbers = self.numbers.get(table)
        if numbers is None:
            numbers = self.numbers[table] = frozenset(mount.id for mount in table.mounts)
        descriptors = dict(_descriptors(pid, look, numbers))
        self.descriptors += [(pid, number, link) for number, link in descriptors.items()]
        if has_our_root:
            if self.top is None:
                self.top = frozenset(os.listdir(b"/"))
            self.devices |= dict.fromkeys(_lost_mappings(look.maps, self.top), pid)
            if look.cwd == b"/":
                self.at_top.append((pid, f"/proc/{pid}/cwd"))
            elif look.cwd != TOO_DEEP and not _is_there(look.cwd, self.top):  # a doubt about deep units already
                self.others.append((pid, f"/proc/{pid}/cwd"))

    def lost(self, tables: Iterable[MountTable]) -> dict[str, int]:
        """Device -> who uses it by a mount that no namespace has any more; only devices that are mounted elsewhere."""
        tops = _numbers_behind([link for _, link in self.at_top])
        known = frozenset({-1}).union(*self.numbers.values())
        self.descriptors += [(pid, tops[link], link) for pid, link in self.at_top if tops.get(link, -1) not in known]
        if not (self.descriptors or self.others or self.devices):
            return {}
        mounts = [mount for table in tables for mount in table.mounts]
        numbers = {mount.id for mount in mounts} | _numbers_now()
        links = [(pid, link) for pid, number, link in self.descriptors if number not in numbers]
        behind = {_device_behind(link): pid for pid, link in (*links, *self.others)}
        devices = {mount.device for mount in mounts}
        return {device: pid for device, pid in {**self.devices, **behind}.items() if device in devices}


def _numbers_now() -> set[int]:
    """One may have come since the tables were read."""
    table = MountTable.of()
    return {mount.id for mount in table.mounts} if table else set()


def _numbers_behind(links: list[str]) -> dict[str, int]:
    """The number of the mount behind each link. Opened to look and for nothing else; yet what is lost may be a network
    mount whose server must be asked before, so a thread does it, and is left alone when it gets no further."""
    numbers: dict[str, int] = {}
    troubles: list[OSError] = []
    is_done = _thread.allocate_lock()

    def work() -> None:
        try:
            for link in links:
                try:
                    numbers[link] = _number_behind(link)
                except procs.ENDED:
                    numbers[link] = -1
        except OSError as error:
            troubles.append(error)
        finally:
            is_done.release()

    is_done.acquire()
    try:
        _thread.start_new_thread(work, ())
    except RuntimeError:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from None
    before = -1
    while not is_done.acquire(timeout=_STUCK_S):
        if len(numbers) == before:
            raise OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
        before = len(numbers)
    if troubles:
        raise troubles[0]
    return numbers


def _number_behind(link: str) -> int:
    with closing(os.open(link, os.O_PATH | os.O_CLOEXEC)) as fd:
        return _number_in(read(f"/proc/self/fdinfo/{fd}"))


def _number_in(text: bytes) -> int:
    """-1: this kernel does not tell."""
    at = text.find(b"mnt_id:")
    return int(text[at + 7 : text.index(b"\n", at)]) if at >= 0 else -1


def _descriptors(thread: int, look: Look, known: frozenset[int]) -> Iterator[tuple[int, str]]:
    """(number of a mount that is not known, a descriptor on it)."""
    for raw, target in look.descriptors:
        if target.startswith(_ELSEWHERE) or target.endswith(_DELETED):
            continue
        name = os.fsdecode(raw)
        try:
            text = read(f"/proc/{thread}/fdinfo/{name}")
        except procs.ENDED:
            continue
        if (number := _number_in(text)) not in known and number >= 0:
            yield number, f"/proc/{thread}/fd/{name}"


def _lost_mappings(maps: bytes, top: frozenset[bytes]) -> Iterator[str]:
    """The devices, as mountinfo writes them, of mapped files whose name is not there."""
    for path in mapped(maps):
        if not _is_there(path, top):
            line = next(line for line in maps.split(b"\n") if line.endswith(b" " + path))
            major, _, minor = line.split(None, 5)[3].partition(b":")
            yield f"{int(major, 16)}:{int(minor, 16)}"


def _is_there(path: bytes, top: frozenset[bytes]) -> bool:
    """By the first component alone, which is looked for in a list: what lies below may hang."""
    if path[1:].partition(b"/")[0] in top or path == b"/":
        return True
    return path.endswith(_DELETED) or path.startswith(_NO_FILES)


def _device_behind(link: str) -> str:
    """As mountinfo writes it; "" if nobody answers: then it is no local file system. Asked once for a while: a child is
    started for it, and a long run looks many times."""
    try:
        target, now = os.readlink(link), time.monotonic()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            return ""  # closed meanwhile, or ended
        target, now = "", time.monotonic()
    key = (link, target)
    device, asked_at = _known.get(key, ("", -_KNOWN_S))
    if now - asked_at >= _KNOWN_S:
        answer = answer_of(_DEVICE, link)
        device = f"{os.major(int(answer))}:{os.minor(int(answer))}" if answer.isdigit() else ""
        _known[key] = (device, time.monotonic())
    return device
