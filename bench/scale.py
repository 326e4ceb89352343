"""`python -m bench.scale [--quick]`: does the cost grow as the litter does? Sessions, and files in one session.

Writes bench/measured/scale.json, from which docs/performance.md gets its plot.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.frame import Run, timed
from bench.sweep import LATER, world

MEASURED = Path(__file__).parent / "measured" / "scale.json"
_OURS = [sys.executable, "-I", "-c", LATER]
_SESSIONS, _FILES = (1_000, 10_000, 100_000), (1_000, 10_000, 100_000, 1_000_000)
_REPS = 3
Row = dict[str, object]


def main(argv: list[str]) -> int:
    quick = "--quick" in argv
    rows = [*_measured("sessions", _SESSIONS[: 2 if quick else 3]), *_measured("files", _FILES[: 2 if quick else 4])]
    if not quick:
        MEASURED.parent.mkdir(exist_ok=True)
        MEASURED.write_text(json.dumps({"load": os.getloadavg()[0], "rows": rows}, indent=1) + "\n")
    return 0


def _measured(kind: str, sizes: tuple[int, ...]) -> Iterator[Row]:
    print(f"{kind:>10} {'what':<28} {'s wall':>8} {'s CPU':>8} {'MB':>6}  beside", flush=True)
    for size in sizes:
        with world() as (base, env):
            _FILL[kind](base / "tmp", size)
            top = str(base / "tmp" / f"claude-{os.geteuid()}")
            pairs: dict[str, tuple[Callable[[], Run], Callable[[], Run], str]] = {
                "scan": (
                    lambda env=env: timed([*_OURS, "scan", "--json"], env),  # type: ignore[misc]
                    lambda top=top: timed(["/usr/bin/du", "-s", top]),  # type: ignore[misc]
                    "du -s",
                ),
            }
            for what, (ours, theirs, peer) in pairs.items():
                yield _row(kind, size, what, peer, [(ours(), theirs()) for _ in range(_REPS if size < 10**5 else 1)])
            if kind == "files":
                yield _row(kind, size, "clean --no-quarantine", "rm -rf", [_removed(base, env, size)])


def _removed(base: Path, env: dict[str, str], size: int) -> tuple[Run, Run]:
    ours = timed([*_OURS, "clean", "--force", "--no-quarantine", "--json"], env)
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(base / "tmp" / f"claude-{os.geteuid()}")
    _files(base / "tmp", size)
    return ours, timed(["/bin/rm", "-rf", str(base / "tmp" / f"claude-{os.geteuid()}")])


def _row(kind: str, size: int, what: str, peer: str, runs: list[tuple[Run, Run]]) -> Row:
    ours, theirs = sorted(runs, key=lambda pair: pair[0].cpu_s)[len(runs) // 2]
    if ours.status:
        raise RuntimeError(f"{what} of {size} {kind} ended with {ours.status}")
    ratio = ours.cpu_s / theirs.cpu_s
    told = f"{peer} {theirs.wall_s:.2f} s, CPU x {ratio:.2f}"
    print(f"{size:>10,} {what:<28} {ours.wall_s:8.2f} {ours.cpu_s:8.2f} {ours.peak_mb:6.0f}  {told}", flush=True)
    return {
        "kind": kind,
        "size": size,
        "what": what,
        "wall_s": round(ours.wall_s, 3),
        "cpu_s": round(ours.cpu_s, 3),
        "peak_mb": round(ours.peak_mb, 1),
        "peer": peer,
        "peer_cpu_s": round(theirs.cpu_s, 3),
    }


def _sessions(root: Path, count: int) -> None:
    """Each with one task output, as most of them end."""
    top = root / f"claude-{os.geteuid()}"
    for number in range(count):
        tasks = top / f"-work-{number % 50}" / str(uuid.UUID(int=number + (4 << 76) + (2 << 62))) / "tasks"
        os.makedirs(tasks, 0o700)
        os.close(os.open(tasks / "b1.output", os.O_WRONLY | os.O_CREAT, 0o600))


def _files(root: Path, count: int) -> None:
    session = root / f"claude-{os.geteuid()}" / "-work-big" / "3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11" / "tasks"
    os.makedirs(session, 0o700)
    for number in range(count):
        os.close(os.open(session / f"b{number:08x}.output", os.O_WRONLY | os.O_CREAT, 0o600))


_FILL = {"sessions": _sessions, "files": _files}

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
