"""Which machine, boot, pid namespace and mount namespace this is, and what is mounted where. Nothing here can hang."""

from __future__ import annotations

import os

from .. import system
from .slow_mounts import NETWORK_FILESYSTEMS
from .slow_mounts import waits_for_others as waits_for_others

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_LINKS = 40  # as the kernel

_boot_id: str | None = None
_machine_id: str | None = None


def boot_id() -> str | None:
    """Changes with every boot of the kernel; containers share their host's."""
    global _boot_id
    if _boot_id is None:
        _boot_id = system.machine.boot_id()
    return _boot_id


def machine_id() -> str | None:
    global _machine_id
    if _machine_id is None:
        _machine_id = system.machine.machine_id()
    return _machine_id


def pid_namespace() -> str | None:
    """`pid:[4026531836]`, or None where there is none."""
    return system.machine.pid_namespace()


def mount_namespace(pid: int | str = "self") -> str | None:
    """`mnt:[4026531841]`, or None where there is none."""
    return system.machine.mount_namespace(pid)


def in_initial_pid_namespace() -> bool:
    """Whether every process of this kernel can be seen here under its own number."""
    return system.machine.sees_all_processes()


class MountTable:
    """The mounts of one mount namespace, and where a path of that namespace really lies."""

    __slots__ = ("_last", "mounts", "visible")

    def __init__(self, mounts: list[Mount]) -> None:
        self.mounts = tuple(mounts)
        self.visible = visible_mounts(mounts)  # by mount point
        self._last: tuple[str, Mount | None] = ("", None)  # a directory, and the mount that it lies in

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
        return cls(system.mounting.mounts(pid))

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


def follow(path: str, is_end: Callable[[str], bool]) -> tuple[str, tuple[str, ...], bool]:
    """(where an absolute path leads, the names that are left beyond that, whether `is_end` said so). It is asked about
    each place before anything looks at that; with too many links the way ends unasked."""
    here, left, links = "/", path.split("/")[::-1], 0
    while left:
        part = left.pop()
        if part == "..":
            here = os.path.dirname(here)
        if part in ("", ".", ".."):
            continue
        step = f"{here.rstrip('/')}/{part}"
        if is_end(step):
            return step, tuple(left[::-1]), True
        if links > _MOST_LINKS:
            return step, tuple(left[::-1]), False
        try:
            target = os.readlink(step)
        except (OSError, ValueError):  # no link, or nothing there
            here = step
            continue
        links += 1
        left += target.split("/")[::-1]
        here = "/" if target.startswith("/") else here
    return here, (), False


class Mount:
    """One mount, as Linux tells it in one line of mountinfo."""

    __slots__ = ("_known", "_options", "device", "filesystem", "id", "parent", "point", "root", "source")

    def __init__(
        self, number: int, parent: int, device: str, root: str, point: str, options: str, filesystem: str, source: str
    ) -> None:
        self.id = number
        self.parent = parent
        self.device = device  # "major:minor" of the file system, which is not always what stat calls it (btrfs)
        self.root = root  # the directory of that file system which is mounted here
        self.point = point
        self._options = options
        self._known: frozenset[str] | None = None
        self.filesystem = filesystem
        self.source = source  # what is mounted: a device, a server's directory, or a mere word

    @property
    def options(self) -> frozenset[str]:
        """Of the mount and of the file system. Few ask, and a look at all processes reads every namespace's mounts."""
        if self._known is None:
            self._known = frozenset(self._options.split(","))
        return self._known

    @property
    def base(self) -> str:
        """The root without the mark that its directory was deleted."""
        return self.root.removesuffix("//deleted")


def visible_mounts(mounts: list[Mount]) -> dict[str, Mount]:
    """The mount that a walk finds at each mount point; what lies hidden below a later mount is left out."""
    numbers = {mount.id for mount in mounts}
    children: dict[int, dict[str, Mount]] = {}
    visible: dict[str, Mount] = {}
    for mount in mounts:
        if mount.parent in numbers and mount.parent != mount.id:
            children.setdefault(mount.parent, {})[mount.point] = mount
    todo = [mount for mount in mounts if mount.parent not in numbers or mount.parent == mount.id]
    while todo:
        mount = todo.pop(0)
        below = children.pop(mount.id, {})
        above = below.pop(mount.point, None)  # a mount over this one's root hides all of it
        if above is not None:
            todo.append(above)
            continue
        visible[mount.point] = mount
        todo.extend(below.values())
    return visible
