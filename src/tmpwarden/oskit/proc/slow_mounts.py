"""Which mounts may keep everybody waiting who touches them. Hot path: one read of mountinfo."""

from .. import system

# A process on another host can own what lies here, so no record of ours proves that it is gone.
NETWORK_FILESYSTEMS = frozenset((
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "gfs", "gfs2", "ocfs2",
    "beegfs", "gpfs", "pvfs2", "orangefs", "davfs", "virtiofs", "fuse.sshfs", "fuse.glusterfs", "fuse.cephfs",
    "fuse.davfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.juicefs",
))  # fmt: skip


def waits_for_others(filesystem: str) -> bool:
    """Whether its answers come from somebody (a server, a FUSE daemon) who may never give them."""
    if filesystem in NETWORK_FILESYSTEMS or filesystem == "autofs":
        return True
    return filesystem.startswith("fuse") and filesystem != "fusectl"


def stuck_mounts() -> frozenset[str]:
    """Where file systems are mounted that may keep everybody waiting; on most machines there are none. Those below
    /proc, /sys and /dev are the system's own (an autofs for binfmt_misc, for one), except in /dev/shm, a temp root."""
    result = set()
    for line in (mounts() or b"").split(b"\n"):
        before, _, after = line.partition(b" - ")
        if waits_for_others(after.partition(b" ")[0].decode("utf-8", "surrogateescape")):
            point = before.split(b" ")[4]
            if point.startswith(b"/dev/shm/") or not point.startswith((b"/proc/", b"/sys/", b"/dev/")):
                result.add(_unescaped(point).decode("utf-8", "surrogateescape"))
    return frozenset(result)


def _unescaped(point: bytes) -> bytes:
    r"""Undo the kernel's \040 for a space, \011, \012 and \134."""
    first, *rest = point.split(b"\\")
    return first + b"".join(bytes((int(part[:3], 8),)) + part[3:] for part in rest)


def mounts() -> bytes | None:
    """As Linux writes them in mountinfo; None: not measured."""
    return system.hot.mounts()
