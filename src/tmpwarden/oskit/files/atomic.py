"""Small files that are whole or not there, private directories, and a reserve for the day the disk is full.

Hooks run this before every tool call: nothing but os and errno is imported.
"""

import errno
import os

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


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
    path: str, data: bytes | str, mode: int = 0o600, *, durable: bool = False, reserve: Reserve | None = None
) -> None:
    """Replace `path` by `data` in one step; a reader sees the old file or the new one, never half of one."""
    content = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
    try:
        _write(path, content, mode, durable)
    except OSError as error:
        if error.errno not in _NO_ROOM or reserve is None or not reserve.give_up():
            raise
        _write(path, content, mode, durable)


def _write(path: str, content: bytes, mode: int, durable: bool) -> None:
    draft = f"{path}.{os.getpid():x}{os.urandom(3).hex()}~"
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        try:
            os.fchmod(fd, mode)  # whatever the umask
            _write_all(fd, content)
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
    if durable:
        _sync_directory(os.path.dirname(path) or ".")


def at_once(path: str, flags: int) -> int:
    """An opener for `open`: a fifo in the place of a file would keep us for ever, and is refused."""
    fd = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    if os.fstat(fd).st_mode & 0o170000 == 0o010000:
        os.close(fd)
        raise OSError(errno.EINVAL, "is not a file", path)
    return fd


def append_line(path: str, line: bytes | str, *, reserve: Reserve | None = None, durable: bool = False) -> None:
    """Add one line with one write(2), so that lines of two processes never mix.

    A line torn by a full disk stays torn (readers pass over it); the next line starts on a line of its own.
    """
    content = line.encode("utf-8", "surrogateescape") if isinstance(line, str) else line
    content = content.rstrip(b"\n") + b"\n"
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            _append(fd, content)
        except OSError as error:
            if error.errno not in _NO_ROOM or reserve is None or not reserve.give_up():
                raise
            _append(fd, content)
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)


def _append(fd: int, content: bytes) -> None:
    size = os.fstat(fd).st_size
    if size and os.pread(fd, 1, size - 1) != b"\n":
        content = b"\n" + content
    if os.write(fd, content) != len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def rotate(path: str, generations: int) -> None:
    """`path` becomes `path.1`, that one `path.2`, and the oldest falls off. Needs no free space."""
    for number in range(generations - 1, -1, -1):
        try:
            os.rename(f"{path}.{number}" if number else path, f"{path}.{number + 1}")
        except FileNotFoundError:
            continue


def make_private_dir(path: str) -> None:
    """A directory only we can enter. Raises UnsafeScratch if the name is squatted, OSError if there is no room."""
    os.close(open_private_dir(path))


def open_private_dir(path: str) -> int:
    """`make_private_dir`, and the descriptor through which it was checked."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass
    _race_window("made, not yet checked")
    try:
        fd = os.open(path, _DIRECTORY)
    except OSError as error:
        raise _unsafe(path, _refusal(path, error)) from None
    try:
        _check_private(path, fd)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _check_private(path: str, fd: int) -> None:
    status = os.fstat(fd)
    if status.st_uid != os.geteuid():
        raise _unsafe(path, f"it belongs to another user (uid {status.st_uid})")
    if status.st_mode & 0o022:  # what lies in it may be anybody's: tightening it now would bless that
        raise _unsafe(path, f"other users can write to it (mode {status.st_mode & 0o777:04o})")
    if status.st_mode & 0o777 != 0o700:
        os.fchmod(fd, 0o700)


def _refusal(path: str, error: OSError) -> str:
    if os.path.islink(path):
        return "it is a symbolic link"
    if error.errno == errno.ENOTDIR:
        return "it is not a directory"
    if error.errno == errno.EACCES:
        return "it cannot be opened: it belongs to another user, or its mode forbids it"
    return (error.strerror or "it cannot be opened").lower()


def _unsafe(path: str, why: str) -> Exception:
    from ...errors import UnsafeScratch
    from ...text import shown

    return UnsafeScratch(shown(path), why)


def _allocate(fd: int, size_bytes: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, size_bytes)
    else:
        _write_all(fd, b"\0" * size_bytes)


def _write_all(fd: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]


def _sync_directory(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _race_window(name: str) -> None:
    """Nothing, on purpose: names a moment in which the world may change, so that tests can change it."""
