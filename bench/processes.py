"""What it costs to find orphans among a thousand processes, beside `ps`."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Iterator

from bench.frame import Line
from bench.liveness import crowd
from tmpwarden.processes.census import Census


def lines(quick: bool) -> Iterator[Line]:
    with crowd(200 if quick else 1000):
        ours, theirs = [], []
        for _ in range(5 if quick else 15):
            start = time.perf_counter()
            count = len(Census.take().known)
            ours.append(time.perf_counter() - start)
            start = time.perf_counter()
            subprocess.run(["ps", "-eo", "pid,ppid,stat,args,rss,tty"], stdout=subprocess.DEVNULL, check=True)
            theirs.append(time.perf_counter() - start)
        ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        note = f"{statistics.median(ours) * 1000:.0f} ms; the census reads environments and cgroups too"
        yield Line(f"a census of {count} processes", ratio, "x ps", note=note)
