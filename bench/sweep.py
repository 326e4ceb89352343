"""Sweeping the litter tree: ours beside rm -rf, find, systemd-tmpfiles and tmpreaper; system calls; memory."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from bench import frame, litter
from bench.frame import Line, Run, against, interleaved, ratio, timed

_MEMORY = Path("/dev/shm") if os.path.isdir("/dev/shm") else Path(tempfile.gettempdir())
# The command itself, ten days later: ctime cannot be set, and a preloaded library that fakes the clock costs time.
LATER = (
    "import sys, time; from tmpwarden.cli.main import main;"
    "sys.exit(main(sys.argv[1:], now_ns=lambda: time.time_ns() + 864_000 * 10**9))"
)
_OURS = [sys.executable, "-I", "-c", LATER]
_CLEAN = "clean --force, 63,370 inodes on tmpfs"
_FLOOR = "the same system calls in C"
_IMAGE_BYTES = 800 << 20


@contextlib.contextmanager
def world(where: Path = _MEMORY) -> Iterator[tuple[Path, dict[str, str]]]:
    """A directory (on tmpfs) with a temp root and a home, and an environment that knows only these."""
    base = Path(tempfile.mkdtemp(prefix="twbench-", dir=where))
    try:
        for name in ("tmp", "home"):
            (base / name).mkdir(mode=0o700)
        yield base, _environment(base)
    finally:
        subprocess.run(["/bin/rm", "-rf", str(base)], check=False)  # rmtree recurses, and these trees are deep


@contextlib.contextmanager
def ext4() -> Iterator[Path]:
    """A file system of its own, in a file. Raises where that cannot be: it takes root and a loop device."""
    with tempfile.TemporaryDirectory(prefix="twbench-") as base:
        image, point = Path(base) / "image", Path(base) / "mounted"
        point.mkdir()
        with image.open("wb") as file:
            file.truncate(_IMAGE_BYTES)
        subprocess.run(["mkfs.ext4", "-q", "-N", "200000", str(image)], check=True, capture_output=True)
        subprocess.run(["mount", "-o", "loop", str(image), str(point)], check=True, capture_output=True)
        try:
            yield point
        finally:
            subprocess.run(["umount", str(point)], check=True)


def _environment(base: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(base / "home"), "TMPWARDEN_ROOTS": str(base / "tmp")}


def lines(quick: bool) -> Iterable[Line]:
    with world() as (base, env):
        yield from _cleaning(base, env, 3 if quick else 5)
        yield _system_calls(base, env)
        yield _scanning(base, env, 5 if quick else 11)
    yield from _many_sessions(1 if quick else 3)
    yield from _on_ext4(1 if quick else 3)
    if not quick:
        yield _memory("flat", _flat)
        yield _memory("deep", _deep)


def _cleaning(base: Path, env: Mapping[str, str], reps: int) -> Iterator[Line]:
    root = base / "tmp"
    rules = base / "tmpfiles.conf"
    rules.write_text(f"e {root} - - - amM:1h\n")
    plain = {"PATH": os.environ["PATH"]}
    tools: dict[str, tuple[list[str], Mapping[str, str]]] = {
        "tmpwarden": ([*_OURS, "clean", "--force", "--no-quarantine", "--json"], env),
        "rm -rf": (["/bin/rm", "-rf", str(root / f"claude-{os.geteuid()}")], plain),
        "find -mmin -delete": (["/usr/bin/find", str(root), "-mindepth", "1", "-mmin", "+60", "-delete"], plain),
    }
    for tool, argv in (("systemd-tmpfiles", ["--clean", str(rules)]), ("tmpreaper", ["--mtime", "1h", str(root)])):
        if path := shutil.which(tool, path="/usr/bin:/usr/sbin:/bin:/sbin"):
            tools[tool] = ([path, *argv], plain)
        else:
            yield Line(tool, None, f"not here: apt-get install {tool}")
    if floor := frame.floor("sweep", base):
        aside = [str(root / f"claude-{os.geteuid()}"), str(base / "q"), str(base / "journal")]
        tools[_FLOOR] = ([floor, "purge", *aside], plain)
    slow = {name: tools.pop(name) for name in ("tmpreaper",) if name in tools}
    contenders = {name: _swept(root, argv, of) for name, (argv, of) in tools.items()}
    runs = interleaved(contenders, reps)
    once: dict[str, list[Run]] = {}
    for name, (argv, of) in slow.items():
        try:
            once |= interleaved({name: _swept(root, argv, of)}, 1)
        except RuntimeError as error:  # it gives up after 55 s
            yield Line(name, None, f"did not run: {error}")
    note = against(runs, "rm -rf", but="tmpwarden")
    for name, (run,) in once.items():
        note += f", {name} {run.wall_s / runs['rm -rf'][0].wall_s:.1f} (one run)"
    if "systemd-tmpfiles" in runs:
        cpu = f"CPU {ratio(runs, 'tmpwarden', 'systemd-tmpfiles', 'cpu_s'):.2f}"
        yield Line(_CLEAN, ratio(runs, "tmpwarden", "systemd-tmpfiles"), "x systemd-tmpfiles --clean", 1.15, 0.9, cpu)
    yield Line("  the same", ratio(runs, "tmpwarden", "rm -rf"), "x rm -rf", 3.0, note=note)
    yield Line("  its peak memory", max(run.peak_mb for run in runs["tmpwarden"]), "MB", 48, 32)


def _many_sessions(reps: int) -> Iterator[Line]:
    from bench.scale import fill_sessions

    with world() as (base, env):
        fill_sessions(base / "tmp", 30_000)
        du = ["/usr/bin/du", "-s", str(base / "tmp")]
        timed(du)  # fills the kernel's caches
        contenders = {"tmpwarden": lambda: timed([*_OURS, "scan", "--json"], env), "du -s": lambda: timed(du)}
        if floor := frame.floor("sweep", base):
            contenders[_FLOOR] = lambda: timed([floor, "scan", str(base / "tmp" / f"claude-{os.geteuid()}")])
        runs = interleaved(contenders, reps)
    cpu = f"CPU {ratio(runs, 'tmpwarden', 'du -s', 'cpu_s'):.2f}; {against(runs, 'du -s', but='tmpwarden', of='cpu_s')}"
    yield Line("scan of 30,000 sessions", ratio(runs, "tmpwarden", "du -s"), "x du -s", 3.5, 2.5, cpu)
    yield Line("  its peak memory", max(run.peak_mb for run in runs["tmpwarden"]), "MB", 40)


def _on_ext4(reps: int) -> Iterator[Line]:
    what = "clean --force, 63,370 inodes on ext4"
    try:
        with ext4() as point, world(point) as (base, env):
            root, plain = base / "tmp", {"PATH": os.environ["PATH"]}
            ours = [*_OURS, "clean", "--force", "--no-quarantine", "--json"]
            removal = ["/bin/rm", "-rf", str(root / f"claude-{os.geteuid()}")]
            small = {"size_bytes": 100 << 20}
            runs = interleaved(
                {"tmpwarden": _swept(root, ours, env, **small), "rm -rf": _swept(root, removal, plain, **small)}, reps
            )
    except (OSError, subprocess.CalledProcessError) as error:
        yield Line(what, None, f"did not run: {error}")
        return
    cpu = f"CPU {ratio(runs, 'tmpwarden', 'rm -rf', 'cpu_s'):.2f}; {against(runs, 'rm -rf', but='tmpwarden')}"
    yield Line(what, ratio(runs, "tmpwarden", "rm -rf"), "x rm -rf", 1.0, 0.85, cpu)


def _swept(root: Path, argv: list[str], env: Mapping[str, str], **size: int) -> Callable[[], Run]:
    def once() -> Run:
        litter.build(root, **size)
        run = timed(argv, env)
        left = sum(1 for _ in (root / f"claude-{os.geteuid()}").rglob("*"))
        shutil.rmtree(root / f"claude-{os.geteuid()}", ignore_errors=True)
        shutil.rmtree(root / f"tmpwarden-{os.geteuid()}", ignore_errors=True)
        if left > 500:  # tmpreaper leaves the directories it made young itself; more is no clean-up to compare with
            raise RuntimeError(f"{argv[0]} left {left} entries behind, exit {run.status}")
        return run

    return once


def _system_calls(base: Path, env: Mapping[str, str]) -> Line:
    what = "  its system calls"
    strace = shutil.which("strace")
    if strace is None:
        return Line(what, None, "strace is not here: apt-get install strace")
    inodes = litter.build(base / "tmp")
    report = base / "strace"
    argv = [strace, "-f", "-c", "-o", str(report), *_OURS, "clean", "--force", "--no-quarantine", "--json"]
    subprocess.run(argv, env=dict(env), stdout=subprocess.DEVNULL, check=True)
    total = re.search(r"^\s*100\.00\s+\S+\s+(?:\S+\s+)?(\d+)(?:\s+\d+)? total", report.read_text(), re.M)
    calls = int(total[1]) if total else 0
    return Line(what, calls / inodes, "calls an inode", 5.5, note="systemd-tmpfiles 3.44, rm -rf 3.49, find 4.20")


def _scanning(base: Path, env: Mapping[str, str], reps: int) -> Line:
    litter.build(base / "tmp")
    runs = interleaved(
        {
            "tmpwarden": lambda: timed([*_OURS, "scan", "--json"], env),
            "du -s": lambda: timed(["/usr/bin/du", "-s", str(base / "tmp")], {"PATH": os.environ["PATH"]}),
            **_counters(base / "tmp"),
            **_floors(base),
        },
        reps,
    )
    note = f"{against(runs, 'du -s', but='tmpwarden')}, CPU {ratio(runs, 'tmpwarden', 'du -s', 'cpu_s'):.2f}"
    return Line("scan with sizes", ratio(runs, "tmpwarden", "du -s"), "x du -s", 1.5, 1.1, note)


def _floors(base: Path) -> dict[str, Callable[[], Run]]:
    """The walk alone, in C and in a bare interpreter."""
    top = str(base / "tmp" / f"claude-{os.geteuid()}")
    python = [sys.executable, "-I", "-S", str(Path(__file__).parent / "floors" / "walk.py"), top]
    program = frame.floor("sweep", base)
    found = {"a bare walk in Python": lambda: timed(python)}
    return found | ({_FLOOR: lambda: timed([program, "scan", top])} if program else {})


def _counters(root: Path) -> dict[str, Callable[[], Run]]:
    """Others that add up a tree, where they are installed."""
    known = {"gdu": ["--non-interactive", "--no-progress", str(root)], "dust": ["-s", str(root)]}
    there = {name: shutil.which(name) for name in known}
    return {
        name: (lambda argv=[path, *known[name]]: timed(argv))  # type: ignore[misc]
        for name, path in there.items()
        if path is not None
    }


def _memory(shape: str, fill: Callable[[Path], None]) -> Line:
    with world() as (base, env):
        fill(base / "tmp" / f"claude-{os.geteuid()}" / "-work-big" / "3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11")
        runs = [timed([*_OURS, *words], env) for words in (["scan", "--json"], ["clean", "--force", "--json"])]
        note = ", ".join(f"exit {run.status}" for run in runs)
        return Line(f"peak memory, 1,000,000 entries, {shape}", max(run.peak_mb for run in runs), "MB", 48, 32, note)


def _flat(session: Path) -> None:
    session.mkdir(parents=True)
    for number in range(1_000_000):
        os.close(os.open(session / f"b{number:08x}.output", os.O_WRONLY | os.O_CREAT, 0o600))


def _deep(session: Path) -> None:
    """A thousand chains of a thousand directories; made through descriptors, for a path may not be that long."""
    session.mkdir(parents=True)
    for chain in range(1000):
        here = os.open(session, os.O_RDONLY | os.O_DIRECTORY)
        for level in range(1000):
            name = f"d{chain}" if level == 0 else "d"
            os.mkdir(name, 0o700, dir_fd=here)
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)
