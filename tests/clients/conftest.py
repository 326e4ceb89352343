"""What real agents under libfaketime leave behind."""

import contextlib
from pathlib import Path


def pytest_sessionfinish() -> None:
    """libfaketime leaves its shared memory when a process ends by _exit, as hooks do; ours are those of dead pids."""
    for path in Path("/dev/shm").glob("*faketime_*"):
        pid = path.name.rpartition("_")[2]
        if pid.isdecimal() and not Path("/proc", pid).exists():
            with contextlib.suppress(OSError):
                path.unlink()
