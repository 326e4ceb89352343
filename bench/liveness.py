"""What one look at all processes costs, with 100 and with 2,000 of them, and what a question costs afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.frame import Line, timed
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
                goal=120 if processes >= 2000 else None,
                note=f"{cpu_s * 1e6 / processes:.0f} us a process; {_peers()}",
            )
            yield Line(f"one question after it ({processes} processes)", _question_us(holders), "us CPU")


def _peers() -> str:
    """`ps`, and the same system calls in C: the floor."""
    words = []
    with tempfile.TemporaryDirectory(prefix="tw-bench-") as base:
        contenders = {"ps -eo pid,args": [shutil.which("ps") or "", "-eo", "pid,args"]}
        compiler, floor = shutil.which("cc"), f"{base}/look"
        source = str(Path(__file__).parent / "floors" / "look.c")
        if compiler and subprocess.run([compiler, "-O2", "-o", floor, source], check=False).returncode == 0:
            contenders["the same system calls in C"] = [floor]
        for name, argv in contenders.items():
            if argv[0]:
                words.append(f"{name} {statistics.median(timed(argv).cpu_s for _ in range(5)) * 1000:.0f} ms")
    return ", ".join(words)


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
