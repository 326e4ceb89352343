"""The copy of tmpwarden that installed hooks run: it outlives the venv or checkout that `install` was called from."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

from .. import __version__
from ..errors import SetupFailed
from ..lazy_dataclass import dataclass
from ..oskit.files import atomic, places
from ..text import shown
from . import record

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LEFT_OUT = {"__pycache__", "cli"}  # hooks need neither click nor what draws with it
_LOADING = ("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT")  # what the interpreter would load, too
_EMPTIED = ("TMPWARDEN_DISABLE", *_LOADING)
FOR_ALL = "/usr/local/lib/tmpwarden"  # root's, and readable by everybody: what the timer of all users runs
_NAMES = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")


@dataclass(frozen=True, slots=True)
class Runtime:
    directory: str  # <data>/<version>
    interpreter: str  # absolute, neither a shim nor of a venv
    for_all: bool = False

    @property
    def script(self) -> str:
        return os.path.join(self.directory, "tmpwarden", "hooks", "run.py")

    def command(
        self, agent: str, event: str, *, observe: bool = False, is_guard: bool = False, if_killed: str = ""
    ) -> str:
        """One line of sh that always ends with 0: `python3 gone.py` alone would end with 2, which denies a call.

        `if_killed`: the answer for a hook that a signal or a crash ends, or that cannot start. The line names the
        home and our directories, and takes the off switch away from what guards, because a project's settings can set
        variables, too. What HOME is for the agent's commands it hands on."""
        python, script = shlex.quote(self.interpreter), shlex.quote(self.script)
        variables = [f"{name}={shlex.quote(path)}" for name, path in places_of_ours().items()]
        own = " ".join(['TMPWARDEN_SHELL_HOME="$HOME"', *variables, *[f"{name}=" for name in _EMPTIED] * is_guard])
        run = f"{own} {python} -I -S {script} {agent} {event}" + (" --observe" if observe else "")
        if if_killed:
            run = f"{{ {run} || echo {shlex.quote(if_killed)}; }}"
        return f"[ -x {python} ] && [ -f {script} ] && {run}; exit 0"


def places_of_ours() -> dict[str, str]:
    """What a hook goes by, whatever the environment of its agent says."""
    paths = {"XDG_STATE_HOME": places.state_dir(), "XDG_CONFIG_HOME": places.config_dir()}
    return {"HOME": places.home()} | {name: os.path.dirname(path) for name, path in paths.items()}


def planned(*, for_all: bool = False) -> Runtime:
    """Where the runtime of this version belongs, whether or not it is there."""
    base = FOR_ALL if for_all else places.data_dir()
    return Runtime(os.path.join(base, __version__), find_interpreter(for_all=for_all), for_all)


def put(runtime: Runtime) -> bool:
    """Copy the package there and compile it with the interpreter that will run it. False if it was there already."""
    if runtime.for_all:
        _refuse_what_others_can_change(os.path.dirname(runtime.directory))
    changed = False
    target = os.path.join(runtime.directory, "tmpwarden")
    for relative, content in _sources():
        path = os.path.join(target, relative)
        if _read(path) == content:
            continue
        _make_dirs(os.path.dirname(path), 0o755 if runtime.for_all else 0o700)
        atomic.write(path, content, 0o644)
        changed = True
    was_open = _close_to_others(target)
    if changed or was_open or not os.path.isdir(os.path.join(target, "hooks", "__pycache__")):
        _compile(runtime, target)
    return changed


def _close_to_others(target: str) -> bool:
    """An earlier setup under a umask of 002 left directories in which others could put code that our hooks run."""
    was_open = False
    for path, _, _ in os.walk(target):
        mode = os.stat(path).st_mode & 0o777
        if mode & 0o022:
            os.chmod(path, mode & ~0o022)
            was_open = True
    return was_open


def remove_others(runtime: Runtime | None) -> None:
    """Of what everybody runs, every version but this one; with None all of it."""
    kept = runtime.directory if runtime else None
    try:
        versions = [os.path.join(FOR_ALL, name) for name in os.listdir(FOR_ALL)]
    except OSError:
        return
    for path in versions if kept else [FOR_ALL]:
        if path != kept:
            record.remove(path)


def _refuse_what_others_can_change(base: str) -> None:
    """Root will run what lies there."""
    for path in (base, os.path.join(base, __version__)):
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != 0 or status.st_mode & 0o022:
            raise SetupFailed(f"{shown(path)} is not a directory that only root can write to", hint="remove it first")


def _make_dirs(path: str, mode: int) -> None:
    """With this mode, whatever the umask."""
    if os.path.isdir(path):
        return
    _make_dirs(os.path.dirname(path), mode)
    os.mkdir(path, 0o700)
    os.chmod(path, mode)


def find_interpreter(*, for_all: bool = False) -> str:
    """A Python >= 3.11 that will still be there tomorrow: the system's first, ours last."""
    own = getattr(sys, "_base_executable", None) or sys.executable
    for path in dict.fromkeys(("/usr/bin/python3", *_on_path(), os.path.realpath(own))):
        if suits(path) and (not for_all or _is_of_the_system(path)):
            return path
    whose = " of root's that every user can run" if for_all else ""
    raise SetupFailed(f"no Python 3.11 or newer{whose} was found")


def _is_of_the_system(path: str) -> bool:
    """Root runs it every hour: nobody else may be able to put another in its place."""
    checked: set[str] = set()
    for each in (path, os.path.realpath(path)):
        while each not in checked:
            checked.add(each)
            each = os.path.dirname(each)
    return all(_is_roots_and_for_all(os.stat(each)) for each in checked)


def _is_roots_and_for_all(status: os.stat_result) -> bool:
    return status.st_uid == 0 and bool(status.st_mode & stat.S_IXOTH) and not status.st_mode & stat.S_IWOTH


def suits(path: str) -> bool:
    """Old enough to last and new enough to run: no pyenv shim (ten times as slow), no venv (it may vanish)."""
    if "/shims/" in path or not os.access(path, os.X_OK) or is_apples_window(path):
        return False
    if os.path.exists(os.path.join(os.path.dirname(os.path.dirname(path)), "pyvenv.cfg")):
        return False
    try:
        status = os.stat(path)
        return _is_new_enough(path, status.st_ino, status.st_mtime_ns)
    except (OSError, subprocess.TimeoutExpired):
        return False


def is_apples_window(path: str, xcode_select: str = "/usr/bin/xcode-select") -> bool:
    """/usr/bin/python3 of macOS where no developer tools are installed: it is no Python, and opens a window that asks
    for them."""
    if path != "/usr/bin/python3" or not os.access(xcode_select, os.X_OK):
        return False
    return subprocess.run([xcode_select, "-p"], capture_output=True, timeout=10).returncode != 0


@cache  # a setup asks for each agent, several times
def _is_new_enough(path: str, *_stamp: int) -> bool:
    question = "import sys; sys.exit(sys.version_info < (3, 11))"
    env = {name: value for name, value in os.environ.items() if name not in _LOADING}  # as the line starts it
    return subprocess.run([path, "-I", "-S", "-c", question], capture_output=True, timeout=10, env=env).returncode == 0


def _on_path() -> Iterator[str]:
    directories = [part for part in os.environ.get("PATH", "").split(":") if os.path.isabs(part)]
    for name in _NAMES:
        for directory in directories:
            yield os.path.join(directory, name)


@cache
def _sources() -> tuple[tuple[str, bytes], ...]:
    """What we are made of, as it is when the first agent is set up: all of them get the same."""
    return tuple(_read_sources())


def _read_sources() -> Iterator[tuple[str, bytes]]:
    for parent, directories, names in os.walk(_PACKAGE):
        directories[:] = sorted(name for name in directories if name not in _LEFT_OUT)
        for name in sorted(names):
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, _PACKAGE), file.read()


def _compile(runtime: Runtime, target: str) -> None:
    """Best effort: without it the first hook compiles what it needs."""
    argv = [runtime.interpreter, "-I", "-m", "compileall", "-q", "-f", target]
    try:
        subprocess.run(argv, capture_output=True, timeout=120, check=False, umask=0o022 if runtime.for_all else 0o077)
    except (OSError, subprocess.TimeoutExpired):
        pass


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None
