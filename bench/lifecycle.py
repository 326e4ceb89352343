"""Teardown of one session of 63,370 entries: how soon its name is gone, and all of it beside rm -rf."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from bench import litter
from bench.frame import COMMAND, Line, Run, against, interleaved, ratio, timed
from bench.sweep import world
from tmpwarden.oskit.proc.holders import Holders

_SESSION = "3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11"
# As in an orchestrator: it runs already, and its agent has just ended.
_LIBRARY = f"""
import sys, tmpwarden
teardown = tmpwarden.teardown
print("ready", flush=True)
sys.stdin.readline()
assert teardown("{_SESSION}").removed
"""
_TEARDOWN = [*COMMAND, "teardown", "--session", _SESSION, "--json"]


def lines(quick: bool) -> Iterable[Line]:
    with world() as (base, later):
        env = {name: value for name, value in later.items() if name in ("PATH", "HOME", "TMPWARDEN_ROOTS")}
        unit = base / "tmp" / f"claude-{os.geteuid()}" / "-work-shop" / _SESSION
        gone, gone_by_call = _Gone(), _Gone()

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

        reps = 3 if quick else 7
        runs = interleaved({"tmpwarden": torn_down, "rm -rf": removed}, reps)
        for _ in range(reps):
            _plant(unit)
            _call(env, gone_by_call.watch(unit))
            _sweep_away(base / "tmp")
    what = f"teardown of a session of {litter.INODES:,} entries, judged"
    cpu = f"CPU {ratio(runs, 'tmpwarden', 'rm -rf', 'cpu_s'):.2f}"
    note = f"{against(runs, 'rm -rf', but='tmpwarden')}, {cpu}"
    yield Line(what, ratio(runs, "tmpwarden", "rm -rf"), "x rm -rf", 0.6, note=note)
    yield Line("  its name is gone after the call", statistics.median(gone_by_call.after_ms), "ms", 150)
    looked = f"of which the one look at {_processes()} processes before it takes about {_look_ms():.0f} ms"
    yield Line("  its name is gone, by command", statistics.median(gone.after_ms), "ms from its start", 75, 50, looked)


def _processes() -> int:
    return sum(name.isdigit() for name in os.listdir("/proc"))


def _look_ms() -> float:
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        Holders.look()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


def _call(env: Mapping[str, str], watching: _Gone) -> None:
    argv = [sys.executable, "-I", "-c", _LIBRARY]
    with subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as caller:
        assert caller.stdin and caller.stdout
        caller.stdout.readline()
        with watching:
            caller.stdin.write("go\n")
            caller.stdin.close()


class _Gone:
    """Watches a name from another thread, a look every millisecond."""

    def __init__(self) -> None:
        self.after_ms: list[float] = []

    def watch(self, path: Path) -> _Gone:
        self._path = path
        return self

    def __enter__(self) -> None:
        self._start = time.perf_counter()
        self._thread = threading.Thread(target=self._look)
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
    while left := [str(path) for path in root.iterdir()]:  # the detached judge may still look, and rename
        subprocess.run(["/bin/rm", "-rf", *left], stderr=subprocess.DEVNULL, check=False)
