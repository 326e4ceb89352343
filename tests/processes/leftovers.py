"""Real processes that carry the session of an agent which is dead, or alive, or unknown."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from support.users import dead_process
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.model.belongings import ScratchDirectory
from tmpwarden.model.processes import Orphan
from tmpwarden.processes.census import Census

SESSION = f"5e551011-0000-4000-8000-{os.getpid():012x}"  # other workers have processes of their own
WAIT = "import os, signal\nprint(os.getpid(), flush=True)\nsignal.pause()\n"


def scratch_of_the_dead(root: Path, session: str = SESSION, agent: str = "claude") -> ScratchDirectory:
    pid, start = dead_process()
    return open_scratch(str(root), agent, session, pid=pid, start=start)


def carrying(session: str = SESSION) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "CLAUDE_CODE_SESSION_ID": session, "HOME": os.environ["HOME"]}


class Started:
    """A process whose parent has ended, as the children of a killed agent have: init has adopted it."""

    def __init__(self, pid: int, grip: int) -> None:
        self.pid = pid
        self._grip = grip

    def is_alive(self, *, for_s: float = 0.0) -> bool:
        return not select.select([self._grip], [], [], for_s)[0]


@contextlib.contextmanager
def program(
    directory: Path,
    words: list[str],
    env: Mapping[str, str],
    source: str = WAIT,
    *,
    first: str = "os.setsid()",
    python: str = sys.executable,
    stdin: int = subprocess.DEVNULL,
    is_read: bool = True,
) -> Iterator[Started]:
    """Run Python `source` as a process that is called `words`: the first of them its program, the second a file.
    `first` runs in it before it gets its name. Its output is a pipe that we read, or one whose other end is closed."""
    script = directory / words[1].lstrip("/")
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(source)
    arguments = [words[0], str(script), *words[2:]]
    if python == sys.executable:  # one that can be moved finds its library by its name, and that is another's
        env = {**env, "PYTHONHOME": sys.base_prefix}
    launcher = "import os, signal, sys\nif os.fork(): os._exit(0)\nsignal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    launcher += f"{first}\nos.execve({python!r}, {arguments!r}, {dict(env)!r})"
    out, told = os.pipe()
    done = subprocess.run([sys.executable, "-I", "-c", launcher], stdin=stdin, stdout=told, check=True)
    assert done.returncode == 0
    os.close(told)
    with os.fdopen(out) as lines:
        pid = int(lines.readline())
        if not is_read:
            lines.close()
        grip = os.pidfd_open(pid)
        try:
            yield Started(pid, grip)
        finally:
            children = [os.pidfd_open(child) for child in Census.take().descendants(pid)]
            for one in (grip, *children):
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(one, signal.SIGKILL)
                select.select([one], [], [], 60)  # till then it still has its files
                os.close(one)


def told(found: tuple[Orphan, ...], pid: int) -> Orphan | None:
    return next((one for one in found if one.pid == pid), None)
