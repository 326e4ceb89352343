"""`python -m bench.scale [--quick]`: does the cost grow as the litter does? Sessions, and files in one session.

Writes bench/measured/scale.json, from which docs/performance.md gets its plot.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

from bench import frame
from bench.frame import Run, timed
from bench.sweep import LATER, world

MEASURED = Path(__file__).parent / "measured" / "scale.json"
_OURS = [sys.executable, "-I", "-c", LATER]
_SESSIONS, _FILES = (1_000, 10_000, 100_000), (1_000, 10_000, 100_000, 1_000_000)
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
            yield from _STEPS[kind](base, env, size)


def _of_sessions(base: Path, env: dict[str, str], size: int) -> Iterator[Row]:
    """Looked at, cleaned into quarantine, brought back; and the same by the floor."""
    top = str(base / "tmp" / f"claude-{os.geteuid()}")
    floor, aside = frame.floor("sweep", base), [top, str(base / "tmp" / "q"), str(base / "journal")]
    for _ in range(2):  # the first one fills the kernel's caches
        du = timed(["/usr/bin/du", "-s", top])
    scanned = timed([*_OURS, "scan", "--json"], env)
    cleaned = timed([*_OURS, "clean", "--force", "--json"], env)
    undone = timed([*_OURS, "undo", "--json"], env)
    floors = {what: timed([floor, what, *aside]) for what in ("scan", "take", "undo")} if floor else {}
    yield _row("sessions", size, "scan", "du -s", scanned, du, floors.get("scan"))
    removed = timed(["/bin/rm", "-rf", top])
    yield _row("sessions", size, "clean", "rm -rf", cleaned, removed, floors.get("take"))
    yield _row("sessions", size, "undo", "the same calls in C", undone, floors.get("undo", undone), floors.get("undo"))


def _of_files(base: Path, env: dict[str, str], size: int) -> Iterator[Row]:
    top = str(base / "tmp" / f"claude-{os.geteuid()}")
    floor, aside = frame.floor("sweep", base), [top, str(base / "tmp" / "q"), str(base / "journal")]
    for _ in range(2):
        du = timed(["/usr/bin/du", "-s", top])
    looked = timed([floor, "scan", top]) if floor else None
    yield _row("files", size, "scan", "du -s", timed([*_OURS, "scan", "--json"], env), du, looked)
    cleaned = timed([*_OURS, "clean", "--force", "--no-quarantine", "--json"], env)
    _files(base / "tmp", size)
    removed = timed(["/bin/rm", "-rf", top])
    if floor:
        _files(base / "tmp", size)
    purged = timed([floor, "purge", *aside]) if floor else None
    yield _row("files", size, "clean --no-quarantine", "rm -rf", cleaned, removed, purged)


def _row(kind: str, size: int, what: str, peer: str, ours: Run, theirs: Run, floor: Run | None) -> Row:
    if ours.status:
        raise RuntimeError(f"{what} of {size} {kind} ended with {ours.status}")
    told = f"{peer} {theirs.cpu_s:.2f} s CPU, x {ours.cpu_s / theirs.cpu_s:.2f}"
    told += f", x {ours.wall_s / theirs.wall_s:.2f} wall" + (f", floor {floor.cpu_s:.2f} s" if floor else "")
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
        "peer_wall_s": round(theirs.wall_s, 3),
        "floor_cpu_s": round(floor.cpu_s, 3) if floor else None,
    }


def fill_sessions(root: Path, count: int) -> None:
    """Each with one task output, as most of them end."""
    top = root / f"claude-{os.geteuid()}"
    for number in range(count):
        tasks = top / f"-work-{number % 50}" / str(uuid.UUID(int=number + (4 << 76) + (2 << 62))) / "tasks"
        os.makedirs(tasks, 0o700)
        os.close(os.open(tasks / "b1.output", os.O_WRONLY | os.O_CREAT, 0o600))


def _files(root: Path, count: int) -> None:
    session = root / f"claude-{os.geteuid()}" / "-work-big" / "3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11" / "tasks"
    os.makedirs(session, 0o700, exist_ok=True)
    for number in range(count):
        os.close(os.open(session / f"b{number:08x}.output", os.O_WRONLY | os.O_CREAT, 0o600))


_FILL = {"sessions": fill_sessions, "files": _files}
_STEPS = {"sessions": _of_sessions, "files": _of_files}

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
