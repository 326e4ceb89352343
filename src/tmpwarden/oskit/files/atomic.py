"""Small files that are whole or not there, and a reserve for the day the disk is full.

Hooks run this before every tool call: nothing but os and errno is imported.
"""

import errno
import os

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_KIND, _PLAIN, _ENDLESS = 0o170000, 0o100000, (0o010000, 0o020000, 0o060000)


class Reserve:
    """Preallocated bytes and one inode beside our state, given up when the disk is full so that we can still write."""

    __slots__ = ("path", "size_bytes")

    def __init__(self, path: str, size_bytes: int = 256 * 1024) -> None:
        self.path = path
        self.size_bytes = size_bytes

    def refill(self) -> bool:
        """Make the reserve whole again; False where there is no room for it now."""
        try:
            fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:
            return False
        try:
            if os.fstat(fd).st_blocks * 512 < self.size_bytes:
                _allocate(fd, self.size_bytes)
            return True
        except OSError:
            return False
        finally:
            os.close(fd)

    def give_up(self) -> bool:
        """Free the reserve; False if there was none. Unlinked, not truncated: the inode may be what is missing."""
        try:
            os.unlink(self.path)
        except OSError:
            return False
        return True


def write(
    path: str,
    data: bytes | str,
    mode: int = 0o600,
    *,
    durable: bool = False,
    dir_fd: int | None = None,
    like: str = "",
) -> None:
    """Replace `path` (with `dir_fd`: a name in it) by `data` in one step; a reader sees the old file or the new one,
    never half of one. `like`: a file whose ACL and other extended attributes it gets."""
    content = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
    # two of our processes may write one file at the same moment: each has a draft of its own
    draft = f"{path}.{os.getpid():x}{os.urandom(3).hex()}~"
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=dir_fd)
    try:
        try:
            os.fchmod(fd, mode)  # whatever the umask
            if like:
                _copy_attributes(like, fd)
            _write_all(fd, content)
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(draft, path, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        # at Ctrl-C, too: nobody else knows the draft, so nobody else would ever remove it
        os.unlink(draft, dir_fd=dir_fd)
        raise
    if durable:
        # the new name is on the disk only when its directory is
        _sync_directory(os.path.dirname(path) or ".", dir_fd)


def _copy_attributes(like: str, fd: int) -> None:
    """Raises OSError where the file system refuses one that the old file has."""
    if hasattr(os, "listxattr") and os.path.lexists(like):
        for name in os.listxattr(like):
            os.setxattr(fd, name, os.getxattr(like, name))


def overwrite(path: str, data: bytes) -> None:
    """Change a file that has other names, in place: not whole at every moment, so the caller keeps a copy."""
    fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.ftruncate(fd, max(len(data), os.fstat(fd).st_size))  # if there is no room, it says so here
        _write_all(fd, data)
        os.ftruncate(fd, len(data))
        os.fsync(fd)
    finally:
        os.close(fd)


def at_once(path: str, flags: int) -> int:
    """An opener for `open`: a fifo or a device in the place of a file would keep us for ever, and is refused."""
    fd = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    status = os.fstat(fd)
    if status.st_mode & _KIND in _ENDLESS and not is_null_device(status):
        os.close(fd)
        raise OSError(errno.EINVAL, "is not a file", path)
    return fd


def is_null_device(status: os.stat_result) -> bool:
    """Whether it is /dev/null, by which a file is masked. Its number is another one on each system."""
    try:
        return status.st_mode & _KIND == 0o020000 and status.st_rdev == os.stat(os.devnull).st_rdev
    except OSError:
        return False


def append_line(path: str, line: bytes | str) -> None:
    """Add one line with one write(2), so that lines of two processes never mix.

    A line torn by a full disk stays torn (readers pass over it); the next line starts on a line of its own.
    """
    content = line.encode("utf-8", "surrogateescape") if isinstance(line, str) else line
    content = content.rstrip(b"\n") + b"\n"
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(fd).st_mode & _KIND != _PLAIN:
            raise OSError(errno.EINVAL, "is not a file", path)
        size = os.fstat(fd).st_size
        if size and os.pread(fd, 1, size - 1) != b"\n":
            content = b"\n" + content
        if os.write(fd, content) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(fd)


def _allocate(fd: int, size_bytes: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, size_bytes)
    else:
        _write_all(fd, b"\0" * size_bytes)


def _write_all(fd: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]


def _sync_directory(path: str, dir_fd: int | None) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
