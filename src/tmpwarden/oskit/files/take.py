"""Take an entry out of a shared directory into our private quarantine, and put it back."""

import errno
import os
import stat

from .. import system
from ..race import race_window as _race_window
from .opening import closing

_LITTLE_BYTES = 64 * 1024


class Taken:
    """How `take` ended. Plain words: hooks take too, and enum costs them more than the deed."""

    TAKEN = "taken"  # it lies in the quarantine under its token
    VANISHED = "vanished"  # the name is gone: somebody else was faster
    CHANGED = "changed"  # the name led to another file; that one went back where it was
    STUCK = "stuck"  # as CHANGED, but its name was taken again meanwhile: it stays in the quarantine, pinned
    CROSS_DEVICE = "cross-device"  # quarantine and entry lie on two file systems (or mounts)
    DENIED = "denied"
    BUSY = "busy"  # a mount point
    NO_ROOM = "no-room"  # not even a rename fits
    NOT_FULL = "not-full"  # a rename was refused for want of room, and there is room


def pin(dir_fd: int, name: str) -> int:
    """Hold the inode behind `name`. While the descriptor lives, no other file can get its inode number."""
    return system.descriptors.pin(name, dir_fd)


def mode_of(pinned: int) -> int:
    """Permission bits, for the intent: `take` may have to change those of a directory for a moment."""
    return stat.S_IMODE(os.fstat(pinned).st_mode)


def restore_mode(pinned: int, mode: int) -> bool:
    """Give the pinned directory its mode back, through the pin and never by path."""
    try:
        system.descriptors.set_mode(pinned, mode)
    except OSError:
        return False
    return True


def take(dir_fd: int, name: str, pinned: int, *, quarantine_fd: int, token: str) -> str:
    """Move `name` into the quarantine as `token` if it still is `pinned`; one of the words of Taken.

    Rename first, look second: a name in a shared directory can be swapped between any check and any
    unlink, but once the entry is inside a 0700 directory of ours nobody else can swap it.
    """
    _race_window("judged, not yet taken")
    trouble = _move_in(dir_fd, name, pinned, quarantine_fd, token)
    if trouble:
        return trouble
    _race_window("taken, not yet verified")
    if is_same(quarantine_fd, token, pinned):
        return Taken.TAKEN
    _race_window("found wrong, not yet put back")
    return Taken.CHANGED if put_back(quarantine_fd, token, dir_fd, name) else Taken.STUCK


def is_same(dir_fd: int, name: str, pinned: int) -> bool:
    """Whether `name` still is the inode behind the pin."""
    try:
        return os.path.samestat(os.fstat(pinned), os.stat(name, dir_fd=dir_fd, follow_symlinks=False))
    except FileNotFoundError:
        return False


def put_back(quarantine_fd: int, token: str, dir_fd: int, name: str) -> bool:
    """Move `token` out of the quarantine to `name`, never over something else; False if that name is taken."""
    mode = _made_movable(quarantine_fd, token)
    try:
        _race_window("made writable, not yet back")
        return _rename_noreplace(quarantine_fd, token, dir_fd, name)
    finally:
        if mode is not None:
            pinned, bits = mode
            restore_mode(pinned, bits)
            os.close(pinned)


def rename_within(fd: int, old: str, new: str) -> None:
    """Give an entry of a private directory another name."""
    os.rename(old, new, src_dir_fd=fd, dst_dir_fd=fd)


def _move_in(dir_fd: int, name: str, pinned: int, quarantine_fd: int, token: str) -> str | None:
    """Rename into the quarantine; None if that worked, else the word that says why not."""
    error = _rename(dir_fd, name, quarantine_fd, token)
    if error != errno.EACCES or not _is_locked_directory(pinned):
        return _trouble(error, quarantine_fd)
    mode = mode_of(pinned)
    if not restore_mode(pinned, mode | stat.S_IWUSR):
        return Taken.DENIED
    try:
        _race_window("made writable, not yet taken")
        error = _rename(dir_fd, name, quarantine_fd, token)
    finally:
        restore_mode(pinned, mode)
    return _trouble(error, quarantine_fd)


def _trouble(error: int, quarantine_fd: int) -> str | None:
    if _TROUBLE.get(error) == Taken.NO_ROOM and not is_full(quarantine_fd):
        return Taken.NOT_FULL
    return _TROUBLE.get(error, Taken.DENIED) if error else None


def is_full(dir_fd: int) -> bool:
    """Whether the file system of a private directory really has no room: one error proves nothing, and what is removed
    in place cannot come back. Its own numbers must say so, or a second try (which a quota refuses too)."""
    try:
        room, is_root = os.fstatvfs(dir_fd), os.geteuid() == 0
        blocks, inodes = (room.f_bfree, room.f_ffree) if is_root else (room.f_bavail, room.f_favail)
        if blocks * room.f_frsize < _LITTLE_BYTES or (room.f_files and not inodes):
            return True
        name = os.urandom(8).hex() + ".x"  # as a unit is called there; should it stay, the next run removes it
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=dir_fd))
        os.unlink(name, dir_fd=dir_fd)
    except OSError as error:
        return _TROUBLE.get(error.errno or 0) == Taken.NO_ROOM
    return False


_TROUBLE = {
    errno.ENOENT: Taken.VANISHED,
    errno.EXDEV: Taken.CROSS_DEVICE,
    errno.EBUSY: Taken.BUSY,
    errno.ENOSPC: Taken.NO_ROOM,
    errno.EDQUOT: Taken.NO_ROOM,
}


def _rename(from_fd: int, name: str, to_fd: int, token: str) -> int:
    try:
        os.rename(name, token, src_dir_fd=from_fd, dst_dir_fd=to_fd)
    except OSError as error:
        return error.errno or errno.EIO
    return 0


def _is_locked_directory(pinned: int) -> bool:
    """A directory of ours without u+w: it cannot be moved, because its `..` changes with the move."""
    status = os.fstat(pinned)
    return stat.S_ISDIR(status.st_mode) and not status.st_mode & stat.S_IWUSR and status.st_uid == os.geteuid()


def _pin_if_locked(dir_fd: int, name: str) -> int | None:
    """A pin on a directory that has to become writable before it can move; None for all else, and for root."""
    if os.geteuid() == 0:
        return None
    try:
        pinned = pin(dir_fd, name)
    except OSError:
        return None
    if _is_locked_directory(pinned):
        return pinned
    os.close(pinned)
    return None


def must_be_mended(dir_fd: int, name: str) -> os.stat_result | None:
    """Of a directory that has to become writable before it can move: what it is now."""
    pinned = _pin_if_locked(dir_fd, name)
    if pinned is None:
        return None
    with closing(pinned):
        return os.fstat(pinned)


def _made_movable(dir_fd: int, name: str) -> tuple[int, int] | None:
    """Where a directory has to become writable before it can move: a pin on it and the mode it had."""
    pinned = _pin_if_locked(dir_fd, name)
    if pinned is None:
        return None
    mode = mode_of(pinned)
    if restore_mode(pinned, mode | stat.S_IWUSR):
        return pinned, mode
    os.close(pinned)
    return None


def _rename_noreplace(from_fd: int, token: str, to_fd: int, name: str) -> bool:
    # Not rename(2): that would overwrite a successor. The system's call needs no free inode and moves directories, too.
    was_renamed = system.entries.rename_new(from_fd, token, to_fd, name)
    return _move_without_flags(from_fd, token, to_fd, name) if was_renamed is None else was_renamed


def _move_without_flags(from_fd: int, token: str, to_fd: int, name: str) -> bool:
    """The same where the kernel or the file system has no flag for it: neither way can overwrite anything."""
    is_directory = stat.S_ISDIR(os.stat(token, dir_fd=from_fd, follow_symlinks=False).st_mode)
    try:
        if is_directory:
            return _move_onto_empty(from_fd, token, to_fd, name)
        os.link(token, name, src_dir_fd=from_fd, dst_dir_fd=to_fd, follow_symlinks=False)
        os.unlink(token, dir_fd=from_fd)
    except OSError:
        return False
    return True


def _move_onto_empty(from_fd: int, token: str, to_fd: int, name: str) -> bool:
    os.mkdir(name, 0o700, dir_fd=to_fd)  # fails on any successor; rename(2) replaces only an empty directory
    try:
        os.rename(token, name, src_dir_fd=from_fd, dst_dir_fd=to_fd)
    except OSError:
        os.rmdir(name, dir_fd=to_fd)  # ours, or it is not empty and stays
        return False
    return True
