"""Teardown of one session of 63,370 entries: how soon its name is gone, and all of it beside rm -rf."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from bench import litter
from bench.frame import Line, Run, against, interleaved, ratio, timed
from bench.sweep import world

_SESSION = "3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11"
_TEARDOWN = [sys.executable, "-I", "-m", "tmpwarden", "teardown", "--session", _SESSION, "--json"]


def lines(quick: bool) -> Iterable[Line]:
    with world() as (base, later):
        env = {name: value for name, value in later.items() if name in ("PATH", "HOME", "TMPWARDEN_ROOTS")}
        unit, gone = base / "tmp" / f"claude-{os.geteuid()}" / "-work-shop" / _SESSION, _Gone()

        def torn_down() -> Run:
            _plant(unit)
            with gone.watch(unit):
                run = timed([*_TEARDOWN, "--wait"], env)
            _sweep_away(base / "tmp")
            return run

        def removed() -> Run:
            _plant(unit)
            run = timed(["/bin/rm", "-rf", str(unit)], env)
            _sweep_away(base / "tmp")
            return run

        runs = interleaved({"tmpwarden": torn_down, "rm -rf": removed}, 3 if quick else 7)
    what = f"teardown of a session of {litter.INODES:,} entries, judged"
    cpu = f"CPU {ratio(runs, 'tmpwarden', 'rm -rf', 'cpu_s'):.2f}"
    note = f"{against(runs, 'rm -rf', but='tmpwarden')}, {cpu}"
    yield Line(what, ratio(runs, "tmpwarden", "rm -rf"), "x rm -rf", 1.5, 1.1, note)
    start = statistics.median(timed([sys.executable, "-I", "-c", "pass"], env).wall_s for _ in range(5)) * 1000
    note = f"of these {start:.0f} for a bare interpreter"
    yield Line("  its name is gone after", statistics.median(gone.after_ms), "ms", 150, note=note)


class _Gone:
    """Watches a name from another thread, a look every millisecond."""

    def __init__(self) -> None:
        self.after_ms: list[float] = []

    def watch(self, path: Path) -> _Gone:
        self._path, self._start = path, time.perf_counter()
        self._thread = threading.Thread(target=self._look)
        return self

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    def _look(self) -> None:
        while self._path.exists() and time.perf_counter() - self._start < 60:
            time.sleep(0.001)
        self.after_ms.append((time.perf_counter() - self._start) * 1000)


def _plant(unit: Path) -> None:
    """All of the litter tree as the task outputs of one session."""
    root = unit.parents[2]
    litter.build(root)
    tree = root / "tree"
    (root / f"claude-{os.geteuid()}").rename(tree)
    unit.mkdir(parents=True)
    tree.rename(unit / "tasks")


def _sweep_away(root: Path) -> None:
    subprocess.run(["/bin/rm", "-rf", *map(str, root.iterdir())], check=True)
