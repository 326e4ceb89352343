"""Directories of the tests outside pytest's own, and how they go: when nobody works in them any more, and whole."""

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX = "twtest-"
_JOBS_END_WITHIN_S = 30.0
_ENOUGH_BYTES = 2 << 30


def _memory() -> str | None:
    """A directory in memory in which programs may lie. Whoever sets TMPDIR has chosen another."""
    try:
        found = os.statvfs("/dev/shm")
    except OSError:
        return None
    has_room = found.f_bavail * found.f_frsize > _ENOUGH_BYTES and not found.f_flag & getattr(os, "ST_NOEXEC", 0)
    return "/dev/shm" if "TMPDIR" not in os.environ and has_room and os.access("/dev/shm", os.W_OK | os.X_OK) else None


# On a disk each sync of each journal waits for whatever else is written there. What is about disks is marked `disk`.
GROUND = _memory() or os.path.realpath(tempfile.gettempdir())  # a Mac's lies behind a link


@contextlib.contextmanager
def base_for_all() -> Iterator[Path]:
    """A short path that every user can reach and that is not below /tmp; pytest's own directories are 0700."""
    base = Path(tempfile.mkdtemp(prefix=PREFIX, dir=os.path.realpath("/var/tmp")))
    base.chmod(0o755)
    try:
        yield base
    finally:
        remove(base)


def remove(base: Path) -> None:
    """A background job that is still at work there would make its directory anew."""
    deadline = time.monotonic() + _JOBS_END_WITHIN_S
    while users_of(base) and time.monotonic() < deadline:
        time.sleep(0.02)
    # trees deeper than Python's stack lie there, and directories that not even we may enter unless we are root
    if os.geteuid() != 0:
        subprocess.run(["chmod", "-R", "u+rwx", str(base)], check=False, capture_output=True)
    subprocess.run(["rm", "-rf", "--one-file-system", "--", str(base)], check=False, capture_output=True)


def users_of(base: Path) -> list[int]:
    """Processes other than this one and its ancestors whose environment leads below `base`, or is not there yet."""
    wanted, found, mine = os.fsencode(base), [], _line_of_descent()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            environ = (process / "environ").read_bytes()
            if int(process.name) not in mine and (wanted in environ if environ else is_loading(process)):
                found.append(int(process.name))
    return found


def is_loading(process: Path) -> bool:
    """Whether its program is being loaded: the kernel shows neither its words nor its environment then. A kernel thread
    and a dead process have no program. Raises OSError: it has ended."""
    files = (process / "cmdline", process / "environ")
    return not any(file.read_bytes() for file in files) and bool(os.readlink(process / "exe"))


def _line_of_descent() -> set[int]:
    found, pid = set(), os.getpid()
    while pid > 0 and pid not in found:
        found.add(pid)
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        except OSError:
            break
        pid = int(stat.rpartition(")")[2].split()[1])
    return found
