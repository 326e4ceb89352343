"""What every benchmark needs: timed children, interleaved runs, medians, one line of the table."""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# As the script starts it that pip (since 25) and uv write: older ones import `re` before our first line, 3 ms more.
COMMAND = [sys.executable, "-I", "-c", "from tmpwarden.cli.main import run; run()"]


@dataclass(frozen=True, slots=True)
class Run:
    """One child, from spawn to exit."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    status: int


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table. `ratio` is what gate and goal are about."""

    what: str
    ratio: float | None
    unit: str  # "x rm -rf", "MB", "calls an inode"
    gate: float | None = None
    goal: float | None = None
    note: str = ""  # the peers' figures, or why there is none


def escaped(words: str) -> str:
    """For SVG."""
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def timed(argv: Sequence[str], env: Mapping[str, str] | None = None, *, stdin: str = os.devnull) -> Run:
    """Run `argv` (argv[0] absolute) with its output thrown away."""
    quiet = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    start = time.perf_counter()
    pid = os.posix_spawn(argv[0], list(argv), dict(os.environ if env is None else env), file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    wall_s = time.perf_counter() - start
    return Run(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status))


def interleaved(contenders: Mapping[str, Callable[[], Run]], reps: int) -> dict[str, list[Run]]:
    """Every contender once per rep, in a new order each time: what else the machine does hits all alike."""
    runs: dict[str, list[Run]] = {name: [] for name in contenders}
    for _ in range(reps):
        for name in random.sample(list(contenders), len(contenders)):
            runs[name].append(contenders[name]())
    return runs


def ratio(runs: Mapping[str, Sequence[Run]], name: str, base: str, of: str = "wall_s") -> float:
    """The median, over the reps, of `name` divided by `base` of the same rep."""
    return statistics.median(
        getattr(ours, of) / getattr(theirs, of) for ours, theirs in zip(runs[name], runs[base], strict=True)
    )


def against(runs: Mapping[str, Sequence[Run]], base: str, *, but: str = "", of: str = "wall_s") -> str:
    """`rm -rf 1.00 (0.21 s), find 1.20`: the peers' ratios to `base`, for the note."""
    middle = statistics.median(getattr(run, of) for run in runs[base])
    words = [f"{base} 1.00 ({middle * 1000:.0f} ms)"]
    words += [f"{name} {ratio(runs, name, base, of):.2f}" for name in runs if name not in (base, but)]
    return ", ".join(words)


def floor(name: str, directory: Path) -> str | None:
    """A program of floors/, compiled: the same system calls and nothing else. None where there is no compiler."""
    compiler, program = shutil.which("cc"), str(directory / f"floor-{name}")
    source = str(Path(__file__).parent / "floors" / f"{name}.c")
    if compiler and subprocess.run([compiler, "-O2", "-o", program, source], check=False).returncode == 0:
        return program
    return None
