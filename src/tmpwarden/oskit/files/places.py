"""Where things are: our own directories, the user's home, and the temp roots that may be swept."""

import os
import stat

from ... import bundle
from ...agent_facts import TEMP_VARIABLES
from .. import system

_MOST_LINKS = 40
_ROOT_VARIABLES = ("TMPDIR", *TEMP_VARIABLES, "TEMP", "TMP")
_SYSTEM_PROGRAMS = "/usr/bin:/bin:/usr/sbin:/sbin"
CARRIED = ".tmpwarden~"  # begins the name of an item that carries its label (sweep/store/labels)
_COMMON_ROOTS = ("/tmp", "/var/tmp", "/dev/shm")


class Roots(tuple[str, ...]):
    """Temp roots, resolved and checked, with what was passed over on the way."""

    confined: bool  # somebody named them: nothing outside them is looked at, so home rows are off
    warnings: tuple[str, ...]

    def __new__(cls, paths: tuple[str, ...] = (), confined: bool = False, warnings: tuple[str, ...] = ()) -> "Roots":
        roots = super().__new__(cls, paths)
        roots.confined = confined
        roots.warnings = warnings
        return roots


def uid() -> int:
    return os.geteuid()


def home() -> str:
    """$HOME if it is the effective user's, else the home that passwd names (sudo keeps the caller's HOME)."""
    directory = os.environ.get("HOME", "")
    if os.path.isabs(directory) and owner_of(directory) == uid():
        return os.path.normpath(directory)
    return _passwd_home() or (os.path.normpath(directory) if os.path.isabs(directory) else "/")


def state_dir() -> str:
    directory = bundle.state_dir(os.environb) if hasattr(os, "geteuid") else ""
    return os.path.normpath(directory) if directory else _own_dir("XDG_STATE_HOME", ".local/state")


def config_dir() -> str:
    return _own_dir("XDG_CONFIG_HOME", ".config")


def data_dir() -> str:
    return _own_dir("XDG_DATA_HOME", ".local/share")


def ours(root: str) -> str:
    """Where scratch directories and the quarantine of this user lie below a temp root."""
    return os.path.join(root, f"tmpwarden-{uid()}")


def quarantine(root: str) -> str:
    return os.path.join(ours(root), "q")


def protected() -> frozenset[str]:
    """`/`, every home and whatever lies above one, resolved."""
    protected_paths = {"/"}
    for place in homes():
        while place not in protected_paths:
            protected_paths.add(place)
            place = os.path.dirname(place)
    return frozenset(protected_paths)


def temp_roots(explicit: tuple[str, ...] = (), extra: tuple[str, ...] = ()) -> Roots:
    """The temp roots to look at. Roots that somebody named raise UnsafeRoot; others are passed over with a warning."""
    demanded = explicit or tuple(filter(None, os.environ.get("TMPWARDEN_ROOTS", "").split(":")))
    if demanded:
        return Roots(tuple(dict.fromkeys(_checked(path) for path in demanded)), confined=True)
    candidates = [os.environ.get(variable, "") for variable in _ROOT_VARIABLES]
    candidates.append(system.customs.user_temp())
    return _usable(tuple(filter(os.path.isabs, candidates)) + _COMMON_ROOTS + extra)


def project(path: str) -> str:
    """A directory that somebody works in and named, resolved; UnsafeRoot with the reason if it is not one of ours."""
    from ...errors import NoSuchRoot, UnsafeRoot
    from ...text import shown

    _refuse_frozen(path)
    resolved = os.path.realpath(path)
    try:
        status = os.lstat(resolved)
    except OSError:
        raise NoSuchRoot(shown(path)) from None
    wrong = "it is not a directory" if not stat.S_ISDIR(status.st_mode) else _personal(resolved)
    if wrong is None and status.st_uid != uid():
        wrong = f"it belongs to another user (uid {status.st_uid})"
    if wrong:
        raise UnsafeRoot(shown(path) or "''", wrong)
    return resolved


def is_common_root(path: str) -> bool:
    """Whether every run that is not confined looks there."""
    return path in _COMMON_ROOTS


def _usable(candidates: tuple[str, ...]) -> Roots:
    from ...errors import UnsafeRoot

    usable: dict[str, None] = {}
    warnings: dict[str, None] = {}
    for path in dict.fromkeys(candidates):
        try:
            _refuse_frozen(path)
            if not os.path.lexists(path):
                continue
            usable[_checked(_above_scratch(path))] = None
        except UnsafeRoot as refused:
            warnings[str(refused)] = None
    return Roots(tuple(usable), warnings=tuple(warnings))


def _checked(path: str) -> str:
    """`path` resolved, or UnsafeRoot with the reason why it must not be swept."""
    from ...errors import NoSuchRoot, UnsafeRoot
    from ...text import shown

    try:
        _refuse_frozen(path)
        resolved, refusal = resolve(path)
    except FileNotFoundError:
        raise NoSuchRoot(shown(path)) from None
    refusal = refusal or _refusal(resolved)
    if refusal:
        raise UnsafeRoot(shown(path) or "''", refusal)
    return resolved


def _refuse_frozen(path: str) -> None:
    """Raises UnsafeRoot where a mount on the way does not respond: looking at anything there would hang."""
    from ...errors import UnsafeRoot
    from ...text import shown
    from ..proc.reach import Reach

    if point := Reach.now().frozen(path):
        raise UnsafeRoot(shown(path), f"the file system mounted at {shown(point)} does not respond")


def _refusal(path: str) -> str | None:
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a directory"
    if status.st_uid not in (0, uid()) and not status.st_mode & stat.S_ISVTX:
        return f"it belongs to another user (uid {status.st_uid})"
    if not os.access(path, os.R_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        return "it cannot be read"
    return _personal(path) or _worked_in(path)


def _personal(path: str) -> str | None:
    if path == "/":
        return "it is the root of the file system"
    for place in homes():
        if path == place:
            return "it is a home directory"
        if place.startswith(path + "/"):
            return "a home directory is below it"
    return None


def _worked_in(path: str) -> str | None:
    """A root is not inspected as a unit is: that it is a repository is enough."""
    git = os.path.join(path, ".git")
    owner = owner_of(git)
    # any user can make /tmp/.git: only root's or our own may stop us from sweeping a root, and not an empty one,
    # which a sandbox leaves in /tmp when its agent is killed (Codex 0.166.0)
    if owner in (0, uid()) and not _is_empty_dir(git):
        return "it is the root of a git repository"
    return None


def _is_empty_dir(path: str) -> bool:
    """False too where it cannot be read."""
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def homes() -> frozenset[str]:
    """Every home that this user may mean, by every name that it has."""
    directories = {os.environ.get("HOME", ""), _passwd_home(), home()} - {"", "/"}
    return frozenset(os.path.normpath(path) for path in directories) | {os.path.realpath(path) for path in directories}


def _above_scratch(path: str) -> str:
    """The temp root above a scratch of ours: /tmp for `/tmp/tmpwarden-1000/1a2b3c4d` or `/tmp/X-1000/tw/1a2b3c4d`."""
    parts = os.path.normpath(path).split("/")
    for at, part in enumerate(parts):
        holds_ours = part.endswith(f"-{uid()}") and parts[at + 1 : at + 2] == ["tw"]
        if part == f"tmpwarden-{uid()}" or holds_ours:
            return "/".join(parts[:at]) or "/"
    return path


def _own_dir(variable: str, default: str) -> str:
    """`$VARIABLE/tmpwarden`, unless it lies in somebody else's directory."""
    directory = os.environ.get(variable, "")
    if os.path.isabs(directory) and _owner_above(directory) == uid():
        return os.path.join(os.path.normpath(directory), "tmpwarden")
    return os.path.join(home(), default, "tmpwarden")


def _owner_above(path: str) -> int | None:
    """Who owns `path`, or what exists of the way to it."""
    while owner_of(path) is None and path not in ("/", ""):
        path = os.path.dirname(path)
    return owner_of(path)


def owner_of(path: str) -> int | None:
    try:
        return os.lstat(path).st_uid
    except (OSError, ValueError):
        return None


def user_name(number: int) -> str:
    """What a person calls a uid: `alice`, or `uid 4711` where nobody has a name for it."""
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except (KeyError, OSError):
        return f"uid {number}"


def _passwd_home() -> str:
    import pwd

    try:
        return os.path.normpath(pwd.getpwuid(uid()).pw_dir or "/")
    except (KeyError, OSError):
        return ""


def crontab_program() -> str | None:
    """crontab by its absolute path: what it says and writes is the user's. Only where the system has none, PATH's."""
    import shutil

    on_path = ":".join(filter(os.path.isabs, os.environ.get("PATH", "").split(":")))
    return shutil.which("crontab", path=_SYSTEM_PROGRAMS) or shutil.which("crontab", path=on_path)


def own_name() -> str:
    """Of whom we run as; the number where the system knows no name."""
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def resolve(path: str) -> tuple[str, str | None]:
    """Follow the links on the way that belong to root, as macOS has for /tmp. Anybody else's could lead anywhere."""
    if "\0" in path or not path:
        return path, "a path cannot hold a null character" if path else "its name is empty"
    todo = os.path.abspath(path).split("/")[::-1]
    resolved, links = "/", 0
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            resolved = os.path.dirname(resolved)
            continue
        here = os.path.join(resolved, part)
        try:
            status = os.lstat(here)
        except FileNotFoundError:
            raise
        except OSError as error:
            return here, (error.strerror or "it cannot be inspected").lower()
        if not stat.S_ISLNK(status.st_mode):
            resolved = here
            continue
        links += 1
        if status.st_uid != 0 or links > _MOST_LINKS:
            return here, _link_refusal(here, status.st_uid, links)
        target = os.readlink(here)
        resolved = "/" if target.startswith("/") else resolved
        todo += target.split("/")[::-1]
    return resolved, None


def _link_refusal(path: str, owner: int, links: int) -> str:
    from ...text import shown

    if links > _MOST_LINKS:
        return "too many symbolic links in the path"
    return f"{shown(path)} is a symbolic link of uid {owner}, and only links of root are followed"
