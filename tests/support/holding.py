"""A real process that does one thing with a path, says so, and waits for its stdin to close."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from support import forked

_WAIT = "\nprint('ready', flush=True)\nimport sys; sys.stdin.read()\n"


def ended_pid() -> int:
    """The number of a process that has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


@contextlib.contextmanager
def process(
    source: str,
    *args: str,
    cwd: Path | str = "/",
    env: Mapping[str, str] | None = None,
    python: str = sys.executable,
    **options: Any,
) -> Iterator["subprocess.Popen[str]"]:
    """Run Python `source`, then hold: the block starts when it has done its thing and ends it by closing its stdin."""
    holder = forked.Popen(
        [python, "-I", "-c", source + _WAIT, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=dict(env) if env is not None else {"PATH": "/usr/bin:/bin"},
        **options,
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


@contextlib.contextmanager
def left_behind(source: str, *args: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run Python `source`, whose child says `ready` and may outlive it; the block ends him by closing his stdin."""
    parent = subprocess.Popen(
        [sys.executable, "-I", "-c", source, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/", env={}
    )
    assert parent.stdin
    assert parent.stdout
    try:
        assert parent.stdout.readline() == b"ready\n"
        yield parent
    finally:
        parent.stdin.close()
        assert parent.stdout.read() == b""  # the child has ended
        parent.stdout.close()
