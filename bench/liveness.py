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

_FLOOR = "the same system calls in C"
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
        with crowd(missing), floor() as peers:
            looks, closely, theirs = [], [], []
            for _ in range(3 if quick else 7):
                looks.append(_timed_look())
                closely.append(_timed_look(closely=True)[0])
                theirs.append({name: timed(argv).cpu_s for name, argv in peers.items()})
            yield from _told(looks, closely, theirs, goal=120 if count == 2000 else None)


def _told(
    looks: list[tuple[float, int, Holders]], closely: list[float], theirs: list[dict[str, float]], *, goal: int | None
) -> Iterator[Line]:
    cpu_s, processes, holders = statistics.median(look[0] for look in looks), looks[-1][1], looks[-1][2]
    peers = ", ".join(f"{name} {statistics.median(run[name] for run in theirs) * 1000:.0f} ms" for name in theirs[0])
    note = f"{cpu_s * 1e6 / processes:.0f} us a process; {peers}"
    yield Line(f"one look at {processes} processes", cpu_s * 1000, "ms CPU", goal=goal, note=note)
    if _FLOOR in theirs[0]:
        above = statistics.median(look[0] / run[_FLOOR] for look, run in zip(looks, theirs, strict=True))
        yield Line("  the same", above, "x its system calls in C")
    before = statistics.median(closely) * 1000
    yield Line("  before a deed: threads and lost mounts too", before, "ms CPU")
    yield Line(f"  one question after it ({processes} processes)", _question_us(holders), "us CPU")


@contextlib.contextmanager
def floor() -> Iterator[dict[str, list[str]]]:
    """`ps`, and the system calls of a look in C with nothing done about the answers: command lines by name."""
    with tempfile.TemporaryDirectory(prefix="tw-bench-") as base:
        found = {"ps -eo pid,args": [shutil.which("ps") or "", "-eo", "pid,args"]}
        compiler, made = shutil.which("cc"), f"{base}/look"
        source = str(Path(__file__).parent / "floors" / "look.c")
        if compiler and subprocess.run([compiler, "-O2", "-o", made, source], check=False).returncode == 0:
            found[_FLOOR] = [made]
        yield {name: argv for name, argv in found.items() if argv[0]}


def _timed_look(*, closely: bool = False) -> tuple[float, int, Holders]:
    start = time.process_time()
    holders = Holders.look(("CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "HOME"), closely=closely)
    return time.process_time() - start, len(holders.processes), holders


def _question_us(holders: Holders) -> float:
    for _ in range(10):  # the first few go through all paths, then an index is built
        holders.within("/nowhere")
    start = time.process_time()
    for number in range(10_000):
        holders.within(f"/tmp/claude-1000/-home-me/{number}")
    return (time.process_time() - start) * 100
