"""The copy of tmpwarden that installed hooks run: it outlives the venv or checkout that `install` was called from."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from .. import __version__
from ..errors import SetupFailed
from ..oskit.files import atomic, places

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LEFT_OUT = {"__pycache__", "cli"}  # hooks need neither click nor what draws with it
_NAMES = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")


@dataclass(frozen=True, slots=True)
class Runtime:
    directory: str  # <data>/<version>
    interpreter: str  # absolute, neither a shim nor of a venv

    @property
    def script(self) -> str:
        return os.path.join(self.directory, "tmpwarden", "hooks", "run.py")

    def command(self, agent: str, event: str, *, observe: bool = False) -> str:
        """One line of sh that always ends with 0: `python3 gone.py` alone would end with 2, which denies a call."""
        python, script = shlex.quote(self.interpreter), shlex.quote(self.script)
        flag = " --observe" if observe else ""
        return f"[ -x {python} ] && [ -f {script} ] && {python} -I -S {script} {agent} {event}{flag}; exit 0"


def planned() -> Runtime:
    """Where the runtime of this version belongs, whether or not it is there."""
    return Runtime(os.path.join(places.data_dir(), __version__), find_interpreter())


def put(runtime: Runtime) -> bool:
    """Copy the package there and compile it with the interpreter that will run it. False if it was there already."""
    changed = False
    target = os.path.join(runtime.directory, "tmpwarden")
    for relative, content in _sources():
        path = os.path.join(target, relative)
        if _read(path) == content:
            continue
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        atomic.write(path, content, 0o644)
        changed = True
    if changed or not os.path.isdir(os.path.join(target, "hooks", "__pycache__")):
        _compile(runtime, target)
    return changed


def find_interpreter() -> str:
    """A Python >= 3.11 that will still be there tomorrow: the system's first, ours last."""
    own = getattr(sys, "_base_executable", None) or sys.executable
    for path in dict.fromkeys(("/usr/bin/python3", *_on_path(), os.path.realpath(own))):
        if suits(path):
            return path
    raise SetupFailed("no Python 3.11 or newer was found for the hooks to run with")


def suits(path: str) -> bool:
    """Old enough to last and new enough to run: no pyenv shim (ten times as slow), no venv (it may vanish)."""
    if "/shims/" in path or not os.access(path, os.X_OK):
        return False
    if os.path.exists(os.path.join(os.path.dirname(os.path.dirname(path)), "pyvenv.cfg")):
        return False
    question = "import sys; sys.exit(sys.version_info < (3, 11))"
    try:
        return subprocess.run([path, "-I", "-S", "-c", question], capture_output=True, timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _on_path() -> Iterator[str]:
    directories = [part for part in os.environ.get("PATH", "").split(":") if os.path.isabs(part)]
    for name in _NAMES:
        for directory in directories:
            yield os.path.join(directory, name)


def _sources() -> Iterator[tuple[str, bytes]]:
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
        subprocess.run(argv, capture_output=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired):
        pass


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None
