"""What the guard may ask about the disk: where a path's parent really is and whether the name exists, what a shell
loads at its start, and which branch a push would change (git itself is not run). Hot path."""

import posix
from posix import lstat, readlink, scandir

from ...small_files import read
from .. import system
from ..proc.slow_mounts import mounts, stuck_mounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_ENTRIES = 500  # of a directory that is looked into: an allow is not worth more time
_TYPE, _LINK, _REGULAR = 0o170000, 0o120000, 0o100000  # the module `stat` is one import more
MAX_LINKS = 40  # as the kernel
MAX_BYTES = 1 << 20  # of a start-up file
MAX_SNAPSHOTS = 16  # of several sessions; nobody can tell which is whose, so all of them count
_STARTUP_FILES = (".zshenv", ".zprofile", ".profile", ".bash_profile", ".bash_login", ".bashrc")
_MAX_GIT_BYTES, _MAX_UP = 1 << 18, 40  # of a file of a repository; directories above the one where git starts


class Disk:
    """`look` for one decision: what was resolved once is remembered. It reads names, never contents."""

    __slots__ = ("_looks", "_plain", "_resolved", "_waiting")

    def __init__(self) -> None:
        self._resolved: dict[str, str | None] = {"/": "/"}
        self._looks: dict[str, tuple[str | None, bool]] = {}
        self._waiting: frozenset[str] | None = None  # where mounts lie that may hang
        self._plain: set[str] = set()  # seen on the way to somewhere: not there, or no link and no second name

    def look(self, path: str) -> tuple[str | None, bool]:
        """(parent with every symlink followed, or None if that cannot be told; does the name itself exist)."""
        if path not in self._looks:
            self._looks[path] = self._look(path)
        return self._looks[path]

    def entries(self, directory: str) -> tuple[str, ...]:
        """The names that lie in it, sorted; none where they cannot be told."""
        try:
            return () if self._hangs(directory) else tuple(sorted(posix.listdir(directory)))
        except (OSError, ValueError):
            return ()

    def _look(self, path: str) -> tuple[str | None, bool]:
        if "\0" in path:
            return None, False
        parent = self.resolve(path.rpartition("/")[0] or "/")
        if parent is None or self._hangs(f"{parent.rstrip('/')}/{path.rpartition('/')[2]}"):
            return None, False
        try:
            lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return parent, False
        except (OSError, ValueError):
            return None, False
        return parent, True

    def is_plain(self, path: str, deep: bool = False) -> bool:
        """Was this directory seen to hold no symlink and no file with a second name? `deep`: with all that is below."""
        if self.resolve(path) is None or any(point.startswith(f"{path}/") for point in self._risky()):
            return False
        todo, seen = [path], 0
        try:
            while todo:
                with scandir(todo.pop()) as entries:
                    for entry in entries:
                        seen += 1
                        if seen > MAX_ENTRIES or entry.is_symlink():
                            return False
                        if entry.is_dir(follow_symlinks=False):
                            todo += [entry.path] if deep else []
                        elif entry.stat(follow_symlinks=False).st_nlink > 1:
                            return False
        except OSError:
            return False
        return True

    def holds_mount(self, path: str) -> bool:
        """Is anything mounted below this directory? What removes a tree goes into it. Only Linux tells."""
        seen = mounts()
        if seen is None:
            return system.hot.TELLS_MOUNTS  # not measured is never no
        below = b" " + _escaped(path) + b"/"
        return any(below in line.partition(b" - ")[0] for line in seen.split(b"\n"))

    def resolve(self, path: str) -> str | None:
        """As `realpath -m`: what does not exist stays as it is written. A loop or a closed door is None, and so is a
        file with a second name: writing to it changes the other one too, and nobody can tell where that is."""
        if path not in self._resolved:
            self._resolved[path] = _resolve(path, self._plain, self._hangs)
        return self._resolved[path]

    def _hangs(self, place: str) -> bool:
        """Whether a mount lies right here that keeps everybody waiting who looks."""
        if place not in self._risky():
            return False
        from ..proc.reach import Reach

        return Reach.now().is_frozen_at(place)

    def _risky(self) -> frozenset[str]:
        if self._waiting is None:
            self._waiting = stuck_mounts()
        return self._waiting


def _escaped(path: str) -> bytes:
    """As mountinfo writes it."""
    data = path.encode("utf-8", "surrogateescape")
    for byte in b"\\ \t\n":
        data = data.replace(bytes((byte,)), b"\\%03o" % byte)
    return data


def _resolve(path: str, plain: set[str], hangs: "Callable[[str], bool]") -> str | None:
    todo = [part for part in reversed(path.split("/")) if part]
    parts: list[str] = []
    links = 0
    while todo:
        part = todo.pop()
        if part == ".":
            continue
        if part == "..":
            del parts[-1:]
            continue
        here = "/" + "/".join([*parts, part])
        if here in plain:
            parts.append(part)
            continue
        if here == "/proc":  # it shows everybody something else: /proc/self, and what is mounted where
            return None
        if hangs(here):
            return None
        try:
            status = lstat(here)
            is_link = status.st_mode & _TYPE == _LINK
            target = readlink(here) if is_link else ""
        except (FileNotFoundError, NotADirectoryError):
            parts.append(part)
            plain.add(here)
            continue
        except (OSError, ValueError):
            return None
        if not is_link:
            if status.st_nlink > 1 and status.st_mode & _TYPE == _REGULAR:
                return None
            parts.append(part)
            plain.add(here)
            continue
        links += 1
        if links > MAX_LINKS:
            return None
        if target.startswith("/"):
            parts.clear()
        todo += [part for part in reversed(target.split("/")) if part]
    return "/" + "/".join(parts)


def startup_paths(home: str, snapshots: str) -> "list[str]":
    """Each file that a shell may load before a command."""
    try:
        names = sorted(posix.listdir(snapshots))[-MAX_SNAPSHOTS:] if snapshots else []
    except OSError:
        names = []
    return [f"{snapshots}/{name}" for name in names] or [f"{home}/{name}" for name in _STARTUP_FILES]


def startup_texts(paths: "list[str]") -> "tuple[str | None, ...]":
    """Each text; None for one that is there and cannot be read."""
    return tuple([text for path in paths if (text := startup_text(path)) != ""])


def startup_text(path: str) -> str | None:
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
    for line in (startup_text(table) or "").split("\n"):
        fields = line.split(":")
        if len(fields) > 6 and fields[2] == str(uid):
            return fields[6]
    return ""


def pushed_branch(directory: str, home: str) -> str | None:
    """The branch that is checked out; None where there is none, or where a setting sends pushes elsewhere."""
    repository = _repository(directory)
    head = _git_file(f"{repository}/HEAD") if repository else None
    if head is None or not head.startswith("ref: refs/heads/"):
        return None
    common = _git_file(f"{repository}/commondir")
    shared = repository if common is None else _joined(str(repository), common.strip())
    for path in (f"{shared}/config", f"{home}/.gitconfig", f"{home}/.config/git/config", "/etc/gitconfig"):
        if _may_push_any_branch(_git_file(path) or ""):
            return None
    return head[len("ref: refs/heads/") :].strip()


def _repository(directory: str) -> str | None:
    here = directory
    for _ in range(_MAX_UP):
        if _git_file(f"{here}/.git/HEAD") is not None:
            return f"{here}/.git"
        git_dir = _git_file(f"{here}/.git")
        if git_dir is not None and git_dir.startswith("gitdir: "):
            return _joined(here, git_dir[8:].strip())
        if here in ("", "/"):
            return None
        here = here.rpartition("/")[0]
    return None


def _joined(base: str, path: str) -> str:
    return path if path[:1] == "/" else f"{base}/{path}"


def _may_push_any_branch(config: str) -> bool:
    """`push.default`, `remote.X.push` and includes may mean any branch. A word too many only costs a question."""
    section = ""
    for line in config.lower().split("\n"):
        text = line.strip()
        if text[:1] == "[":
            section = text[1:].partition("]")[0].partition(" ")[0]
            text = text.partition("]")[2].strip()
        key, _, value = text.partition("=")
        if section in ("include", "includeif") and text:
            return True
        if section == "push" and key.strip() == "default" and value.strip() not in ("simple", "current"):
            return True
        if section == "remote" and key.strip() in ("push", "mirror"):
            return True
    return False


def _git_file(path: str) -> str | None:
    held = read(path, _MAX_GIT_BYTES, flags=0)
    return None if held is None else held.decode("utf-8", "replace")
