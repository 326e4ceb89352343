"""Open directories that are ours and nobody else's. The only module of the house that does.

A name in a temp root is anybody's to take, and where the kernel does not protect us (`fs.protected_symlinks = 0`, no
sticky bit) a link of that name leads wherever its maker likes. So every directory of ours is reached one component at a
time, none of them followed, and owner, kind and mode are looked at through the descriptor that is then used.

Hooks run this before every tool call: nothing but os and errno is imported.
"""

import errno
import os

from .. import system
from ..race import race_window as _race_window

_LOOK = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_LOOK |= getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_KIND, _LINK, _STICKY = 0o170000, 0o120000, 0o1000
_MOST_LINKS = 40
_SQUATTED = (errno.ENOTDIR, errno.ELOOP, errno.EACCES)
WRITABLE_BY_OTHERS, OPEN_TO_OTHERS = 0o022, 0o077


def open_ours(base: str, *names: str, make: bool = False) -> int:
    """Open `base/names[0]/names[1]...`, where `base` may be shared and each name below it must be ours alone.

    Raises UnsafeScratch where a name is squatted, FileNotFoundError where there is none and `make` is not set.
    """
    fd, path = open_base(base), base.rstrip("/")
    for name in names:
        path = f"{path}/{name}"
        try:
            deeper = open_child(fd, name, path, make=make)
        finally:
            os.close(fd)
        fd = deeper
    return fd


def open_child(dir_fd: int, name: str, path: str, *, make: bool = False, forbidden: int = WRITABLE_BY_OTHERS) -> int:
    """Open `name` below a directory of ours (or a base). `path` is for words only; `forbidden` are mode bits."""
    if make:
        try:
            os.mkdir(name, 0o700, dir_fd=dir_fd)
        except FileExistsError:
            pass
        except OSError as error:
            error.filename = path  # people are told where, not which name below some descriptor
            raise
    _race_window("made, not yet checked")
    try:
        pinned = os.open(name, _LOOK, dir_fd=dir_fd)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno not in _SQUATTED:  # we could not look: that says nothing about whose it is
            raise
        raise _unsafe(path, _refusal(dir_fd, name, error)) from None
    try:
        _check(path, pinned, make or forbidden == OPEN_TO_OTHERS, forbidden)
        return os.open(".", _READ, dir_fd=pinned)
    except PermissionError as error:
        raise _unsafe(path, (error.strerror or "it cannot be opened").lower()) from None
    finally:
        os.close(pinned)


def make_private_dir(path: str) -> None:
    """A directory only we can enter. Raises UnsafeScratch if the name is squatted, OSError if there is no room."""
    os.close(open_private_dir(path))


def open_private_dir(path: str, *, make: bool = True) -> int:
    """Our directory at `path`, made where it is missing (and what leads to it)."""
    base, name = os.path.split(path)
    try:
        return open_ours(base, name, make=make)
    except FileNotFoundError:
        if not make:
            raise
    make_parents(base)
    return open_ours(base, name, make=True)


def make_parents(path: str) -> None:
    """What is missing of the way to a directory of ours (`~/.local`, `~/.config`): whatever the umask, the user can
    use it and nobody else can write to it."""
    if path in ("", "/") or os.path.isdir(path):
        return
    make_parents(os.path.dirname(path))
    try:
        os.mkdir(path, 0o755)
    except FileExistsError:
        return
    mode = os.stat(path, follow_symlinks=False).st_mode & 0o777
    if mode & 0o700 != 0o700:  # a umask of 0777
        os.chmod(path, mode | 0o700)


_umask_of_user = -1


def mend_umask() -> None:
    """At the start of a command: what it makes, and what it lets git make, is usable by the user and writable by nobody
    else. With a umask of 0777 our own log could not be opened twice."""
    global _umask_of_user
    _umask_of_user = os.umask(WRITABLE_BY_OTHERS)
    os.umask(_umask_of_user & OPEN_TO_OTHERS | WRITABLE_BY_OTHERS)


def give_umask_back() -> None:
    """For a program of the user that we become."""
    if _umask_of_user >= 0:
        os.umask(_umask_of_user)


def close_to_others(path: str) -> int:
    """Make a directory of ours private that a umask of 002 or a `chmod` left writable for others, where only we could
    have put things above it. Its mode before; 0 where nothing had to be done."""
    try:
        fd = open_base(path)
    except OSError:
        return 0
    try:
        status, above = os.fstat(fd), os.stat(os.path.dirname(path))
        mode = status.st_mode & 0o777
        if status.st_uid != os.geteuid() or not mode & WRITABLE_BY_OTHERS or above.st_mode & 0o002:
            return 0
        _tighten(path, fd)
    except OSError:
        return 0
    finally:
        os.close(fd)
    return mode


def open_base(path: str) -> int:
    """Open a directory that may be shared, one component at a time; good for names below it, not for reading.

    A link on the way is followed only if root or we made it, where nobody else could have put another in its place.
    """
    todo = os.path.abspath(path).split("/")[::-1]
    fd, links = os.open("/", _LOOK), 0
    try:
        while todo:
            part = todo.pop()
            if not part:
                continue
            try:
                deeper = os.open(part, _LOOK, dir_fd=fd)
            except OSError as error:
                links += 1
                target = _trusted_target(fd, part, links, error)
                todo += target.split("/")[::-1]
                deeper = os.open("/" if target.startswith("/") else ".", _LOOK, dir_fd=fd)
            os.close(fd)
            fd = deeper
    except BaseException:
        os.close(fd)
        raise
    return fd


def _trusted_target(fd: int, name: str, links: int, error: OSError) -> str:
    """Where a link leads that is safe to follow; else `error`, which opening it as a directory gave."""
    if error.errno not in (errno.ELOOP, errno.ENOTDIR) or links > _MOST_LINKS:
        raise error
    link, around = os.stat(name, dir_fd=fd, follow_symlinks=False), os.fstat(fd)
    is_free_for_all = around.st_mode & 0o002 and not around.st_mode & _STICKY
    if link.st_mode & _KIND != _LINK or link.st_uid not in (0, os.geteuid()) or is_free_for_all:
        raise error
    return os.readlink(name, dir_fd=fd)


def _check(path: str, pinned: int, may_mend: bool, forbidden: int) -> None:
    status = os.fstat(pinned)
    mode = status.st_mode & 0o777
    if status.st_uid != os.geteuid():
        raise _unsafe(path, f"it belongs to another user (uid {status.st_uid})")
    if mode & forbidden:  # what lies in it may be anybody's: tightening it now would bless that
        raise _too_open(path, mode, forbidden)
    if may_mend and mode != 0o700:  # the umask took bits of the owner's, or others could look
        _tighten(path, pinned)


def _tighten(path: str, pinned: int) -> None:
    try:
        system.descriptors.set_mode(pinned, 0o700)
    except FileNotFoundError:
        os.chmod(path, 0o700)  # Linux without /proc
    if os.fstat(pinned).st_mode & 0o777 != 0o700:
        raise _unsafe(path, "its file system does not keep private modes")


def _too_open(path: str, mode: int, forbidden: int) -> Exception:
    if forbidden == WRITABLE_BY_OTHERS:
        return _unsafe(path, f"other users can write to it (mode {mode:04o})")
    from ...text import shown

    hint = (
        f"check what is in it and who put it there, then chmod 700 {shown(path)}, or set TMPDIR to a directory of yours"
    )
    return _unsafe(path, f"other users can enter it (mode {mode:04o}, must be 0700)", hint)


def _refusal(dir_fd: int, name: str, error: OSError) -> str:
    try:
        is_link = os.stat(name, dir_fd=dir_fd, follow_symlinks=False).st_mode & _KIND == _LINK
    except OSError:
        is_link = False
    if is_link:
        return "it is a symbolic link"
    if error.errno == errno.ENOTDIR:
        return "it is not a directory"
    if error.errno == errno.EACCES:
        return "permission denied: it belongs to another user, or its mode is too strict"
    return (error.strerror or "it cannot be opened").lower()


def _unsafe(path: str, why: str, hint: str = "") -> Exception:
    from ...errors import UnsafeScratch
    from ...text import shown

    return UnsafeScratch(shown(path), why, hint=hint) if hint else UnsafeScratch(shown(path), why)
