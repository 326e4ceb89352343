"""Read, remove and rotate what is ours alone: a lease, a note, an empty scratch, a log. Light enough for hooks."""

import errno
import os

from ...bundle import is_way_ours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .doomed import Doomed

_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def read_small(
    path: str, most_bytes: int, dir_fd: int | None = None, unread: list[str] | None = None
) -> tuple[bytes, float] | None:
    """(content, mtime) of a small regular file of ours; None for anything else, a link, a fifo or another user's. What
    may be one and cannot be read is added to `unread`."""
    try:
        fd = os.open(path, _READ, dir_fd=dir_fd)
    except ValueError:
        return None
    except OSError as error:
        note_unread(path, error, unread)
        return None
    try:
        status = os.fstat(fd)
        if status.st_mode & 0o170000 != 0o100000 or status.st_uid != os.geteuid():
            return None
        return os.read(fd, most_bytes), status.st_mtime
    except OSError as error:
        note_unread(path, error, unread)
        return None
    finally:
        os.close(fd)


def stranger(path: str) -> str:
    """Whose word a file may be that is obeyed, where it is not only ours or root's, in one sentence; else ""."""
    try:
        seen = os.stat(path)
    except (OSError, ValueError):
        return ""  # the code that reads it says so
    if not hasattr(os, "geteuid") or seen.st_mode & 0o170000 != 0o100000:  # /dev/null masks a file
        return ""
    if seen.st_uid not in (0, os.geteuid()):
        return f"it belongs to another user (uid {seen.st_uid}), so it is not used"
    if seen.st_mode & (0o002 if _is_group_ours(seen.st_gid) else 0o022):
        return f"other users can write to it (mode {seen.st_mode & 0o777:04o}), so it is not used until `chmod go-w`"
    if not is_way_ours(os.path.dirname(os.path.abspath(path))):
        return "other users can write to a directory above it (`namei -l` shows which), so it is not used"
    return ""


def _is_group_ours(group: int) -> bool:
    """Ubuntu and Fedora give each user a group of that number."""
    if group != os.geteuid():
        return False
    import grp

    try:
        return not set(grp.getgrgid(group).gr_mem) - {grp.getgrgid(group).gr_name}
    except KeyError:
        return True  # it has no name, and so no members


def note_unread(path: str, error: OSError, unread: list[str] | None) -> None:
    """Law 1: what is gone, or is a link or a socket in a record's place, says nothing; all else might."""
    if unread is not None and error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO):
        unread.append(f"{path} cannot be read: {error.strerror}")


def exists(name: str, dir_fd: int) -> bool:
    try:
        os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except OSError:
        return False
    return True


def remove_file(path: str, dir_fd: int | None = None) -> bool:
    """Whether it is gone. Only for our own files, in a directory that nobody else can write."""
    from .doomed import own  # most hooks only read

    try:
        with own(dir_fd, path) as doomed:
            doomed.look()
            os.unlink(path, dir_fd=dir_fd)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def remove_empty_dir(path: str, dir_fd: int | None = None) -> bool:
    """Whether it is gone; a directory with anything in it stays."""
    try:
        os.rmdir(path, dir_fd=dir_fd)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def remove_tree(doomed: "Doomed") -> bool:
    """By path, for where there are not a directory descriptors (Windows). Best effort; whether it is gone."""
    try:
        doomed.look()
        os.unlink(doomed.name)
    except FileNotFoundError:
        return True
    except OSError as error:
        if error.errno == errno.ESTALE:
            return False
        import shutil

        shutil.rmtree(doomed.name, ignore_errors=True)
    return not os.path.lexists(doomed.name)


def rotate(path: str, *, keep: int) -> None:
    """Make room for a new `path`: `log` becomes `log.1`, and so on, and the oldest goes. Renames work on a full
    disk, too. Two processes at once cost at most one generation, never a line being written."""
    for generation in range(keep - 1, 0, -1):
        _move(f"{path}.{generation}", f"{path}.{generation + 1}")
    _move(path, f"{path}.1")


def rotate_from(path: str, size_bytes: int, *, keep: int) -> None:
    """The same once it is that long."""
    try:
        if os.stat(path).st_size >= size_bytes:
            rotate(path, keep=keep)
    except FileNotFoundError:
        pass  # not there yet


def forget_older(path: str, than_s: float, *, keep: int) -> None:
    """Remove the rotated generations that were last written before then."""
    for generation in range(1, keep + 1):
        try:
            if os.lstat(f"{path}.{generation}").st_mtime < than_s:
                remove_file(f"{path}.{generation}")
        except FileNotFoundError:
            pass  # not there yet


def _move(old: str, new: str) -> None:
    try:
        os.rename(old, new)
    except FileNotFoundError:
        pass  # not there yet, or somebody else was faster


def names(path: str, *, keep: int) -> tuple[str, ...]:
    """The files that may exist, oldest first."""
    return (*(f"{path}.{generation}" for generation in range(keep, 0, -1)), path)


def generations(path: str, *, keep: int) -> tuple[str, ...]:
    """The files that exist, oldest first."""
    return tuple(name for name in names(path, keep=keep) if os.path.exists(name))
