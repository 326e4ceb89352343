"""A real process that does one thing with a path, says so, and waits for its stdin to close."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from support import forked

_WAIT = "\nprint('ready', flush=True)\nimport sys; sys.stdin.read()\n"


@contextlib.contextmanager
def process(
    source: str, *args: str, cwd: Path | str = "/", env: Mapping[str, str] | None = None, python: str = sys.executable
) -> Iterator["subprocess.Popen[str]"]:
    """Run Python `source`, then hold: the block starts when it has done its thing and ends it by closing its stdin."""
    holder = forked.Popen(
        [python, "-I", "-c", source + _WAIT, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=dict(env) if env is not None else {"PATH": "/usr/bin:/bin"},
    )
    assert holder.stdin
    assert holder.stdout
    try:
        assert holder.stdout.readline() == "ready\n", "the holder did not get ready"
        yield holder
    finally:
        holder.stdin.close()
        holder.wait(timeout=30)
        holder.stdout.close()
