"""`make soak`: ten days of agents on a file system with a hard limit, with and without tmpwarden, in minutes.

The story is issue 957 of QuadWork: a quota of 1 GB, ten days, 63,370 inodes, and then every command fails in silence.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.soak_life import HOUR_NS, Clock, Life, Session
from tmpwarden.model.request import Request, Thresholds
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store import quarantine

_SCALE = 16  # a sixteenth of the story: 64 MB and 4,300 inodes
_LIMIT_BYTES, _LIMIT_INODES = (1 << 30) // _SCALE, 69_000 // _SCALE
_FILE_BYTES = 15_000  # 909 MB in 63,370 inodes
_DAYS_UNTIL_FULL = 10.4  # by the bytes written; blocks are 4 KiB, so they fill earlier
_FAST = "/dev/shm" if os.path.isdir("/dev/shm") else "/var/tmp"  # the journal is synced after every clean
MODES = ("nothing", "hourly", "hooks")
_DOMINANT_SHARE, _REST_SHARE = 0.4, 0.5  # of the limit, and of the ordinary load beside it
_DOMINANT_GONE_DAYS = 4  # it ends on the first day, can be resumed for three, and goes in the next clean


@dataclass(slots=True)
class Result:
    """One way to live: how full it was, hour by hour, and what went wrong."""

    mode: str
    filesystem: str
    percents: list[float] = field(default_factory=list)
    first_failure_hour: int | None = None
    failed_writes: int = 0
    lost: list[str] = field(default_factory=list)
    is_dominated: bool = False  # one session left more than all others together, and nobody can name its process
    dominant_gone_hour: int | None = None

    @property
    def highest(self) -> float:
        return max(self.percents)


@contextlib.contextmanager
def world(base: Path) -> Iterator[tuple[Path, Path]]:
    """(temp root, home) below `base`; the process's own variables lead there meanwhile."""
    root, home = base / "tmp", base / "home"
    home.mkdir(mode=0o700)
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith(("XDG_", "CLAUDE", "TMPWARDEN_"))]:
        del os.environ[name]
    os.environ |= {"HOME": str(home), "TMPWARDEN_ROOTS": str(root), "XDG_STATE_HOME": str(home / "state")}
    try:
        yield root, home
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def translated(clock: Clock) -> Iterator[None]:
    """The quarantine counts its day from ctime, which only the kernel sets: from real to simulated time."""
    original = quarantine.stored

    def stored(directory: str) -> Iterator[quarantine.Stored]:
        for entry in original(directory):
            yield replace(entry, taken_ns=clock.simulated_ns(entry.taken_ns))

    quarantine.stored = stored
    try:
        yield
    finally:
        quarantine.stored = original


@contextlib.contextmanager
def tmpfs(root: Path, size: int, inodes: int) -> Iterator[Callable[[], float]]:
    root.mkdir()
    options = f"size={size},nr_inodes={inodes},mode=1777"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(root)], check=True)

    def percent() -> float:
        found = os.statvfs(root)
        return 100 * max(1 - found.f_bfree / found.f_blocks, 1 - found.f_ffree / found.f_files)

    try:
        yield percent
    finally:
        subprocess.run(["umount", "--lazy", str(root)], check=False)


@contextlib.contextmanager
def btrfs(root: Path, size: int, inodes: int) -> Iterator[Callable[[], float]]:
    """A real quota: the file system has room, and the write fails with EDQUOT all the same."""
    root.mkdir()
    image = root.with_suffix(".img")
    with image.open("wb") as file:
        file.truncate(4 * size + (256 << 20))
    subprocess.run(["mkfs.btrfs", "-q", str(image)], check=True, capture_output=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(root)], check=True)
    try:
        subprocess.run(["btrfs", "quota", "enable", str(root)], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["btrfs", "qgroup", "limit", str(size), "0/5", str(root)], check=True)

        def percent() -> float:
            show = ["btrfs", "qgroup", "show", "--raw", "--sync", str(root)]
            found = re.search(r"^0/5\s+(\d+)", subprocess.run(show, capture_output=True, text=True).stdout, re.M)
            return 100 * int(found[1]) / size if found else 0.0

        yield percent
    finally:
        subprocess.run(["umount", "--lazy", str(root)], check=False)


FILE_SYSTEMS = {"tmpfs": tmpfs, "btrfs with a quota": btrfs}


def replay(
    mode: str,
    filesystem: str = "tmpfs",
    *,
    days: float = 11,
    limit_bytes: int = _LIMIT_BYTES,
    step_hours: int = 1,
    is_dominated: bool = False,
) -> Result:
    """Live for `days`; what it was like. The limit is reached after 9.5 days if nobody clears up."""
    base = Path(tempfile.mkdtemp(prefix="twsoak-", dir=_FAST))
    inodes = limit_bytes * _LIMIT_INODES // _LIMIT_BYTES
    clock, result = Clock(), Result(mode, filesystem, is_dominated=is_dominated)
    try:
        with FILE_SYSTEMS[filesystem](base / "tmp", limit_bytes, inodes) as percent, world(base) as (root, home):
            per_day = int(limit_bytes / _DAYS_UNTIL_FULL)
            life = Life(root, home, clock, per_day, _FILE_BYTES, has_hooks=mode == "hooks")
            if is_dominated:
                life.bytes_per_day = int(per_day * _REST_SHARE)
                life.dominant_bytes = int(limit_bytes * _DOMINANT_SHARE)
            try:
                with translated(clock):
                    for hour in range(0, int(days * 24), step_hours):
                        _step(life, result, hour, percent, step_hours)
            finally:
                life.close()
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return result


def _step(life: Life, result: Result, hour: int, percent: Callable[[], float], step_hours: int) -> None:
    ended = life.hour(hour, step_hours)
    result.percents.append(percent())
    if result.mode == "hourly":
        _clean(life.clock)
    elif result.mode == "hooks":
        _hooks(life, ended)
    life.check()
    result.percents.append(percent())
    result.failed_writes, result.lost = life.failed_writes, life.lost
    if life.failed_writes and result.first_failure_hour is None:
        result.first_failure_hour = hour
    if life.dominant and result.dominant_gone_hour is None and not life.dominant.outputs.exists():
        result.dominant_gone_hour = hour
    life.clock.forward(step_hours * HOUR_NS)


def _hooks(life: Life, ended: list[Session]) -> None:
    """SessionEnd gives the scratch back; SessionStart and Stop clear what is due, while somebody works."""
    named = frozenset(str(session.temp) for session in ended)
    if named:
        limits = Thresholds(named=named)
        clean(Request(unattended=True, only_paths=named, thresholds=limits), now_ns=life.clock.now_ns)
    if life.is_working:
        _clean(life.clock)


def _clean(clock: Clock) -> None:
    clean(Request(unattended=True), now_ns=clock.now_ns)


def main(argv: list[str]) -> int:
    from bench.soak_plot import page, plot

    docs = Path(__file__).parents[1] / "docs"
    results = []
    for filesystem in FILE_SYSTEMS:
        if filesystem != "tmpfs" and not (os.geteuid() == 0 and shutil.which("mkfs.btrfs")):
            print(f"{filesystem}: not here (needs root and btrfs-progs)")
            continue
        for mode in MODES if filesystem == "tmpfs" else MODES[:2]:
            results.append(replay(mode, filesystem))
            print(_line(results[-1]), flush=True)
    for mode in MODES:
        results.append(replay(mode, is_dominated=True))
        print(_line(results[-1]), flush=True)
    if "--no-docs" not in argv:
        (docs / "soak.svg").write_text(
            plot([each for each in results if each.filesystem == "tmpfs" and not each.is_dominated])
        )
        (docs / "soak.md").write_text(page(results))
    return 0 if all(is_as_promised(result) for result in results) else 1


def is_as_promised(result: Result) -> bool:
    """Below 60 % of the limit all the time with a clean every hour, below 80 % with hooks alone, and nothing lost.

    Where one session dominates, it is gone in time."""
    if result.is_dominated:
        return _dominant_is_as_promised(result)
    most = {"nothing": None, "hourly": 60, "hooks": 80}[result.mode]
    if most is None:
        return result.first_failure_hour is not None
    return result.highest < most and not result.lost and not result.failed_writes


def _dominant_is_as_promised(result: Result) -> bool:
    if result.mode == "nothing":
        return result.dominant_gone_hour is None
    is_gone = result.dominant_gone_hour is not None and result.dominant_gone_hour <= _DOMINANT_GONE_DAYS * 24
    return is_gone and result.highest < 80 and not result.lost and not result.failed_writes


def _line(result: Result) -> str:
    day = "never" if result.first_failure_hour is None else f"day {result.first_failure_hour / 24:.1f}"
    world_of = "one dominant session" if result.is_dominated else result.filesystem
    return (
        f"{world_of:<20} {result.mode:<8} highest {result.highest:5.1f} %   first failed write: {day}   "
        f"failed {result.failed_writes}   files lost {len(result.lost)}   "
        f"{'as promised' if is_as_promised(result) else 'NOT AS PROMISED'}"
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
