"""The user's own systemd, from wherever we were called: su, sudo -u and cron bring no XDG_RUNTIME_DIR, or another's."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence

from ..oskit.files import places

AskScheduler = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]
_RUNTIME_DIRS, _LINGER = "/run/user", "/var/lib/systemd/linger"


def runtime_dir() -> str | None:
    """Where this user's systemd listens; None if there is none: nobody is logged in, and nothing lingers."""
    for path in (os.environ.get("XDG_RUNTIME_DIR", ""), f"{_RUNTIME_DIRS}/{os.geteuid()}"):
        if os.path.isabs(path) and _is_ours(path) and os.path.exists(f"{path}/systemd/private"):
            return path
    return None


def lingers() -> bool:
    """Whether it runs on when the user has logged out."""
    return os.path.exists(os.path.join(_LINGER, places.own_name()))


def call(argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """What the scheduler says, to the byte. `--user` is led to this user's systemd, or to its files if it is not up."""
    try:
        environ = _environ() if "--user" in argv else None
        program = places.crontab_program() if argv[0] == "crontab" else argv[0]
        done = subprocess.run(
            [program or argv[0], *argv[1:]], capture_output=True, timeout=60, check=False, env=environ
        )
        said = [part.decode("utf-8", "surrogateescape") for part in (done.stdout, done.stderr)]
        return subprocess.CompletedProcess(list(argv), done.returncode, *said)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(list(argv), 1, "", str(error))


def _environ() -> dict[str, str]:
    theirs = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
    environ = {name: value for name, value in os.environ.items() if name not in theirs}
    directory = runtime_dir()
    if directory is None:
        return environ | {"SYSTEMD_OFFLINE": "1"}
    listens = os.path.exists(f"{directory}/bus")
    return environ | {"XDG_RUNTIME_DIR": directory} | ({theirs[1]: f"unix:path={directory}/bus"} if listens else {})


def _is_ours(path: str) -> bool:
    try:
        return os.stat(path).st_uid == os.geteuid()
    except OSError:
        return False
