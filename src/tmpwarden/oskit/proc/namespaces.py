"""Which machine, boot, pid namespace and mount namespace this is. Read as text from /proc: nothing here can hang."""

from __future__ import annotations

import os

from . import procs
from .link_walk import follow
from .mountinfo import Mount, parse_mounts, visible_mounts
from .slow_mounts import NETWORK_FILESYSTEMS
from .slow_mounts import waits_for_others as waits_for_others

INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # a constant of the kernel: PROC_PID_INIT_INO

_boot_id: str | None = None
_machine_id: str | None = None


def _first_line(path: str) -> str | None:
    return (procs.read_whole(path) or b"").split(b"\n", 1)[0].decode("ascii", "replace").strip() or None


def boot_id() -> str | None:
    """Changes with every boot of the kernel; containers share their host's."""
    global _boot_id
    if _boot_id is None:
        _boot_id = _first_line("/proc/sys/kernel/random/boot_id")
    return _boot_id


def machine_id() -> str | None:
    global _machine_id
    if _machine_id is None:
        _machine_id = _first_line("/etc/machine-id") or _first_line("/var/lib/dbus/machine-id")
    return _machine_id


def pid_namespace() -> str | None:
    """`pid:[4026531836]`, or None where it cannot be read."""
    return _namespace("self/ns/pid")


def mount_namespace(pid: int | str = "self") -> str | None:
    """`mnt:[4026531841]`, or None where it cannot be read."""
    return _namespace(f"{pid}/ns/mnt")


def _namespace(link: str) -> str | None:
    try:
        return os.readlink(f"/proc/{link}")
    except (OSError, ValueError):
        return None


def in_initial_pid_namespace() -> bool:
    """Whether every process of this kernel has a number here, and /proc shows them under that number."""
    try:
        return pid_namespace() == INITIAL_PID_NAMESPACE and os.readlink("/proc/self") == str(os.getpid())
    except OSError:
        return False


class MountTable:
    """The mounts of one mount namespace, and where a path of that namespace really lies."""

    __slots__ = ("_last", "mounts", "visible")

    def __init__(self, mounts: list[Mount]) -> None:
        self.mounts = tuple(mounts)
        self.visible = visible_mounts(mounts)  # by mount point
        self._last: tuple[str, Mount | None] = ("", None)  # a directory, and the mount that it lies in

    @classmethod
    def parse(cls, text: str) -> MountTable:
        return cls(parse_mounts(text))

    def below(self, root: str) -> MountTable:
        """The same table as everybody else names its points: it was read from a process that has `root` as its root."""
        for mount in self.mounts:
            mount.point = (root + mount.point).rstrip("/") or "/"
        return MountTable(list(self.mounts))

    @classmethod
    def of(cls, pid: int | str = "self") -> MountTable | None:
        """The table of that process's namespace, or None where it cannot be read."""
        try:
            return cls.read(pid)
        except OSError:
            return None

    @classmethod
    def read(cls, pid: int | str = "self") -> MountTable:
        """The same; raises OSError where it cannot be read."""
        with open(f"/proc/{pid}/mountinfo", "rb", buffering=0) as file:
            return cls.parse(os.fsdecode(file.readall() or b""))

    def mount_of(self, path: str) -> Mount | None:
        """The mount that a walk along `path` ends in."""
        if path in self.visible or not path.startswith("/"):
            return self.visible.get(path)
        parent, (known, mount) = path[: path.rfind("/")] or "/", self._last
        if parent != known:  # most questions are about neighbours
            mount = self._mount_of(parent)
            self._last = parent, mount
        return mount

    def _mount_of(self, path: str) -> Mount | None:
        here = path
        while here.startswith("/"):
            mount = self.visible.get(here)
            if mount is not None:
                return mount
            if here == "/":
                break
            here = here[: here.rfind("/")] or "/"
        return None

    def locate(self, path: str) -> tuple[str, str] | None:
        """(device, path within that file system): the same for every name of a file, in every mount namespace."""
        path = _normal(path)
        mount = self.mount_of(path)
        if mount is None:
            return None
        below = path[len(mount.point) :] if mount.point != "/" else path
        return mount.device, _joined(mount.base, below)

    def options(self, path: str) -> frozenset[str]:
        mount = self.mount_of(_normal(path))
        return mount.options if mount else frozenset()

    def filesystem(self, path: str) -> str | None:
        mount = self.mount_of(_normal(path))
        return mount.filesystem if mount else None

    def resolve(self, path: str) -> str:
        """`path` with its links followed, as far as no file system has to be touched that may not answer."""
        where, left, _ = follow(path, self.may_hang)
        return "/".join([where, *left])

    def may_hang(self, path: str) -> bool:
        return waits_for_others(self.filesystem(path) or "autofs")

    def is_network(self, path: str) -> bool | None:
        """Whether another host may be using `path`; None if it cannot be told."""
        filesystem = self.filesystem(path)
        return None if filesystem is None else filesystem in NETWORK_FILESYSTEMS


def _normal(path: str) -> str:
    if path.startswith("/") and "//" not in path and "/." not in path and path[-1] != "/":
        return path
    return "/" + os.path.normpath(path).lstrip("/") if path.startswith("/") else path


def _joined(base: str, below: str) -> str:
    if below in ("", "/"):
        return base
    return below if base == "/" else base + below
