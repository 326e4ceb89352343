"""Which machine, boot, pid namespace and mount namespace this is. Read as text from /proc: nothing here can hang."""

from __future__ import annotations

import os

INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # a constant of the kernel: PROC_PID_INIT_INO

# A process on another host can own what lies here, so no record of ours proves that it is gone.
NETWORK_FILESYSTEMS = frozenset(
    (
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "9p",
        "afs",
        "ceph",
        "glusterfs",
        "lustre",
        "gfs",
        "gfs2",
        "ocfs2",
        "beegfs",
        "gpfs",
        "pvfs2",
        "orangefs",
        "davfs",
        "virtiofs",
        "fuse.sshfs",
        "fuse.glusterfs",
        "fuse.cephfs",
        "fuse.davfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.gcsfuse",
        "fuse.juicefs",
    )
)

_MOST_LINKS = 40

_boot_id: str | None = None
_machine_id: str | None = None


def _first_line(path: str) -> str | None:
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    try:
        return os.read(fd, 256).split(b"\n", 1)[0].decode("ascii", "replace").strip() or None
    except OSError:
        return None
    finally:
        os.close(fd)


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


def pid_namespace(pid: int | str = "self") -> str | None:
    """`pid:[4026531836]`, or None where it cannot be read."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except (OSError, ValueError):
        return None


def mount_namespace(pid: int | str = "self") -> str | None:
    """`mnt:[4026531841]`, or None where it cannot be read."""
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt")
    except (OSError, ValueError):
        return None


def in_initial_pid_namespace() -> bool:
    """Whether every process of this kernel has a number here, and /proc shows them under that number."""
    try:
        return pid_namespace() == INITIAL_PID_NAMESPACE and os.readlink("/proc/self") == str(os.getpid())
    except OSError:
        return False


class Mount:
    """One line of mountinfo."""

    __slots__ = ("device", "filesystem", "id", "options", "parent", "point", "root")

    def __init__(
        self, number: int, parent: int, device: str, root: str, point: str, options: str, filesystem: str
    ) -> None:
        self.id = number
        self.parent = parent
        self.device = device  # "major:minor" of the file system, which is not always what stat calls it (btrfs)
        self.root = root  # the directory of that file system which is mounted here
        self.point = point
        self.options = frozenset(options.split(","))  # of the mount and of the file system
        self.filesystem = filesystem

    @property
    def base(self) -> str:
        """The root without the mark that its directory was deleted."""
        return self.root.removesuffix("//deleted")


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
        return Mount(
            int(number), int(parent), device, unescape(root), unescape(point), f"{options},{super_options}", filesystem
        )
    except (ValueError, IndexError):
        return None


class MountTable:
    """The mounts of one mount namespace, and where a path of that namespace really lies."""

    __slots__ = ("_visible", "mounts")

    def __init__(self, mounts: list[Mount]) -> None:
        self.mounts = tuple(mounts)
        self._visible = _visible_mounts(mounts)

    @classmethod
    def parse(cls, text: str) -> MountTable:
        return cls([mount for line in text.split("\n") if (mount := parse_mount(line))])

    @classmethod
    def of(cls, pid: int | str = "self") -> MountTable | None:
        """The table of that process's namespace, or None where it cannot be read."""
        try:
            with open(f"/proc/{pid}/mountinfo", "rb", buffering=0) as file:
                return cls.parse(os.fsdecode(file.readall() or b""))
        except OSError:
            return None

    def mount_of(self, path: str) -> Mount | None:
        """The mount that a walk along `path` ends in."""
        here = path
        while here.startswith("/"):
            mount = self._visible.get(here)
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

    def points_below(self, path: str) -> tuple[str, ...]:
        """Mount points at or below `path`, hidden ones too."""
        path = _normal(path)
        stem = path if path.endswith("/") else path + "/"
        return tuple(mount.point for mount in self.mounts if mount.point == path or mount.point.startswith(stem))

    def options(self, path: str) -> frozenset[str]:
        mount = self.mount_of(_normal(path))
        return mount.options if mount else frozenset()

    def filesystem(self, path: str) -> str | None:
        mount = self.mount_of(_normal(path))
        return mount.filesystem if mount else None

    def resolve(self, path: str) -> str:
        """`path` with its links followed, as far as no file system has to be touched that may not answer."""
        here, left, links = "/", path.split("/")[::-1], 0
        while left:
            part = left.pop()
            if part == "..":
                here = os.path.dirname(here)
            if part in ("", ".", ".."):
                continue
            step = f"{here.rstrip('/')}/{part}"
            if links > _MOST_LINKS or self._may_hang(step):
                return "/".join([step, *left[::-1]])
            try:
                target = os.readlink(step)
            except OSError:  # no link, or nothing there
                here = step
                continue
            links += 1
            left += target.split("/")[::-1]
            here = "/" if target.startswith("/") else here
        return here

    def _may_hang(self, path: str) -> bool:
        filesystem = self.filesystem(path) or "autofs"
        return filesystem in NETWORK_FILESYSTEMS or filesystem == "autofs" or filesystem.startswith("fuse")

    def is_network(self, path: str) -> bool | None:
        """Whether another host may be using `path`; None if it cannot be told."""
        filesystem = self.filesystem(path)
        return None if filesystem is None else filesystem in NETWORK_FILESYSTEMS


def _visible_mounts(mounts: list[Mount]) -> dict[str, Mount]:
    """The mount that a walk finds at each mount point; what lies hidden below a later mount is left out."""
    numbers = {mount.id for mount in mounts}
    children: dict[int, dict[str, Mount]] = {}
    visible: dict[str, Mount] = {}
    for mount in mounts:
        if mount.parent in numbers and mount.parent != mount.id:
            children.setdefault(mount.parent, {})[mount.point] = mount
    waiting = [mount for mount in mounts if mount.parent not in numbers or mount.parent == mount.id]
    while waiting:
        mount = waiting.pop(0)
        below = children.pop(mount.id, {})
        above = below.pop(mount.point, None)  # a mount over this one's root hides all of it
        if above is not None:
            waiting.append(above)
            continue
        visible[mount.point] = mount
        waiting.extend(below.values())
    return visible


def _normal(path: str) -> str:
    return "/" + os.path.normpath(path).lstrip("/") if path.startswith("/") else path


def _joined(base: str, below: str) -> str:
    if below in ("", "/"):
        return base
    return below if base == "/" else base + below
