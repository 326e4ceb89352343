"""What a shell loads before the command that an agent gives it: the agent's snapshots, else start-up files."""

import posix

MAX_BYTES = 1 << 20
MAX_SNAPSHOTS = 16  # of several sessions; nobody can tell which is whose, so all of them count
_FILES = (".zshenv", ".zprofile", ".profile", ".bash_profile", ".bash_login", ".bashrc")


def startup_texts(home: str, snapshots: str) -> "tuple[str | None, ...]":
    """Each text that may be loaded; None for one that is there and cannot be read."""
    try:
        names = sorted(posix.listdir(snapshots))[-MAX_SNAPSHOTS:] if snapshots else []
    except OSError:
        names = []
    paths = [f"{snapshots}/{name}" for name in names] or [f"{home}/{name}" for name in _FILES]
    return tuple([text for path in paths if (text := _text(path)) != ""])


def _text(path: str) -> str | None:
    """ "" if it is not there."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return None
    try:
        seen = posix.fstat(fd)
        if seen.st_mode & 0o170000 != 0o100000 or seen.st_size > MAX_BYTES:
            return None
        return posix.read(fd, MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        posix.close(fd)


def login_shell(uid: int, table: str = "/etc/passwd") -> str:
    """What the password file says; "" where it does not know the user."""
    for line in (_text(table) or "").split("\n"):
        fields = line.split(":")
        if len(fields) > 6 and fields[2] == str(uid):
            return fields[6]
    return ""
