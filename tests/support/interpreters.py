"""Which Python a test starts where the one it runs in will not do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

_IS_NEW = "import sys; sys.exit(sys.version_info < (3, 11))"


@cache
def plain() -> str:
    """An interpreter outside any venv, as an agent starts hooks with; the system's where it is new enough."""
    return next(path for path in _candidates() if _is_new(path))


@cache
def for_everybody() -> str:
    """One that another user can start too: no component of it lies in a private home."""
    return next(path for path in _candidates() if _is_new(path) and _is_public(os.path.realpath(path)))


def _candidates() -> Iterator[str]:
    yield "/usr/bin/python3"
    yield getattr(sys, "_base_executable", sys.executable)
    yield from (f"/usr/{where}bin/python3.{minor}" for minor in (14, 13, 12, 11) for where in ("local/", ""))
    yield sys.executable


def _is_new(path: str) -> bool:
    return os.access(path, os.X_OK) and subprocess.run([path, "-I", "-S", "-c", _IS_NEW], check=False).returncode == 0


def _is_public(path: str) -> bool:
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True
