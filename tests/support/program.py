"""A real program that uses tmpwarden.session, in a process of its own, under any umask, in its own temp root."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from support import forked

UMASKS = (0o000, 0o022, 0o777)
HOLDS = """
import sys, tmpwarden
with tmpwarden.session("mycli") as s:
    s.file("work")
    print("ready", flush=True)
    print(s.path, flush=True)
    sys.stdin.read()
"""  # a session that lasts until its stdin is closed


class Programs:
    """Runs Python source with TMPDIR pointing to `tmp`."""

    def __init__(self, tmp: Path) -> None:
        self.tmp = tmp
        self.root = tmp / f"mycli-{os.geteuid()}"

    def _options(self, umask: int, env: dict[str, str] | None) -> dict[str, object]:
        return {
            "env": {**os.environ, "TMPDIR": str(self.tmp), "PYTHONDONTWRITEBYTECODE": "1", **(env or {})},
            "umask": umask,
            "text": True,
            "cwd": "/",
        }

    def run(
        self,
        source: str,
        *args: str,
        umask: int = 0o022,
        env: dict[str, str] | None = None,
        stdin: str = "",
        imports_anew: bool = False,
    ) -> "subprocess.CompletedProcess[str]":
        run = subprocess.run if imports_anew else forked.run
        return run(
            [sys.executable, "-c", source, *args],
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
            **self._options(umask, env),
        )

    @contextlib.contextmanager
    def started(
        self, source: str, *args: str, umask: int = 0o022, env: dict[str, str] | None = None
    ) -> Iterator["subprocess.Popen[str]"]:
        """Started, past its first line, `ready`, and waiting; killed at the end of the block if it still runs."""
        process = forked.Popen(
            [sys.executable, "-c", source, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **self._options(umask, env),
        )
        assert process.stdout
        try:
            line = process.stdout.readline()
            assert line == "ready\n", (line, process.stderr and process.poll() is not None and process.stderr.read())
            wait_until_it_waits(process)
            yield process
        finally:
            process.kill()
            process.communicate(timeout=30)

    def sessions(self) -> list[str]:
        """What lies in the root, hand-overs aside."""
        return sorted(path.name for path in self.root.iterdir() if path.name != "out") if self.root.exists() else []

    def hand_overs(self) -> list[Path]:
        return sorted(self.root.glob("out/*/*"))


def wait_until_it_waits(process: "subprocess.Popen[str]") -> None:
    """CPython runs a handler between byte codes: a signal that comes just before a long call waits for its end."""
    stat = Path(f"/proc/{process.pid}/stat")
    while stat.read_bytes().rpartition(b") ")[2][:1] not in (b"S", b"Z"):
        os.sched_yield()
