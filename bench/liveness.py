"""What one look at all processes costs, with 100 and with 2,000 of them, and what a question costs afterwards."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from bench.frame import Line
from tmpwarden.oskit.proc.holders import Holders

_SLEEPERS = """
import os, sys
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        files = [os.open("/etc/passwd", os.O_RDONLY) for _ in range(10)]
        sys.stdin.read()
        os._exit(0)
print("ready", flush=True)
sys.stdin.read()
for _ in range(int(sys.argv[1])):
    os.wait()
"""


@contextlib.contextmanager
def crowd(count: int) -> Iterator[None]:
    """That many processes with ten open files each, until the block ends."""
    argv = [sys.executable, "-I", "-S", "-c", _SLEEPERS, str(count)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdin
        assert parent.stdout
        assert parent.stdout.readline() == b"ready\n"
        try:
            yield
        finally:
            parent.stdin.close()


def lines(quick: bool) -> Iterator[Line]:
    for count in (100,) if quick else (100, 2000):
        missing = max(0, count - sum(name.isdigit() for name in os.listdir("/proc")))
        with crowd(missing):
            looks = [_timed_look() for _ in range(3 if quick else 7)]
            cpu_s, processes, holders = statistics.median(look[0] for look in looks), looks[-1][1], looks[-1][2]
            yield Line(
                f"one look at {processes} processes",
                cpu_s * 1000,
                "ms CPU",
                note=f"{cpu_s * 1e6 / processes:.0f} us a process",
            )
            yield Line(f"one question after it ({processes} processes)", _question_us(holders), "us CPU")


def _timed_look() -> tuple[float, int, Holders]:
    start = time.process_time()
    holders = Holders.look(("CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "HOME"))
    return time.process_time() - start, len(holders.processes), holders


def _question_us(holders: Holders) -> float:
    holders.within("/")  # builds the index
    start = time.process_time()
    for number in range(10_000):
        holders.within(f"/tmp/claude-1000/-home-me/{number}")
    return (time.process_time() - start) * 100
