"""What evidence that cannot lie costs: this edition beside the first one, where nobody leaves a doubt.

The first edition is taken out of this repository's own history; TMPWARDEN_PEER names another checkout instead."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from bench import litter
from bench.frame import Line, Run, interleaved, ratio, timed
from bench.sweep import world

_HERE = Path(__file__).parents[1]
_FIRST = "b8bc578"  # the last commit before answers had three cases
_LATER = (
    "import sys, time; sys.path.insert(0, {0!r}); from tmpwarden.cli.main import main;"
    "sys.exit(main(sys.argv[1:], now_ns=lambda: time.time_ns() + 864_000 * 10**9))"
)
_NAMED = "3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11"
_WHATS = {  # what -> (its arguments, how its tree is made)
    "clean for good, {inodes} inodes in 60 sessions": (["clean", "--force", "--no-quarantine", "--json"], 60),
    "clean into quarantine, {inodes} inodes in 1,500 sessions": (["clean", "--force", "--json"], 1500),
    "scan with sizes, {inodes} inodes in 1,500 sessions": (["scan", "--json"], 1500),
    "teardown of one session": (["teardown", "--session", _NAMED, "--wait", "--json"], 0),
}


def lines(quick: bool) -> Iterable[Line]:
    with _peer() as peer:
        if peer is None:
            yield Line("beside the first edition", None, f"commit {_FIRST} is not in this clone; set TMPWARDEN_PEER")
            return
        for what, (words, sessions) in _WHATS.items():
            with world() as (base, env):
                yield _compared(what, words, sessions, base, env, peer, 3 if quick else 7, 0.05 if quick else 0.25)


def _compared(
    what: str, words: list[str], sessions: int, base: Path, env: Mapping[str, str], peer: Path, reps: int, scale: float
) -> Line:
    scale = scale if sessions else 0.001

    def swept(source: Path) -> Callable[[], Run]:
        argv = [sys.executable, "-I", "-c", _LATER.format(str(source / "src")), *words]

        def once() -> Run:
            shutil.rmtree(base / "tmp")
            (base / "tmp").mkdir(mode=0o700)
            litter.build(base / "tmp", scale=scale, sessions_wanted=sessions or 1)
            if not sessions:
                (found,) = (base / "tmp").glob("claude-*/*/*")
                found.rename(found.with_name(_NAMED))
            run = timed(argv, env)
            if run.status:
                raise RuntimeError(f"{words[0]} of {source} ended with {run.status}")
            return run

        return once

    contenders = {"ours": swept(_HERE), "theirs": swept(peer)}
    for once in contenders.values():
        once()  # compiles what is not compiled yet
    runs = interleaved(contenders, reps)
    wall = f"wall {ratio(runs, 'ours', 'theirs'):.2f}; ours {min(run.cpu_s for run in runs['ours']) * 1000:.0f} ms CPU"
    told = what.format(inodes=f"{int(litter.INODES * scale):,}")
    return Line(told, ratio(runs, "ours", "theirs", "cpu_s"), "x the first edition, CPU", 1.1, 1.0, wall)


@contextlib.contextmanager
def _peer() -> Iterator[Path | None]:
    named = os.environ.get("TMPWARDEN_PEER")
    if named:
        yield Path(named)
        return
    with tempfile.TemporaryDirectory(prefix="twpeer-") as place:
        packed = subprocess.run(["git", "-C", str(_HERE), "archive", _FIRST, "src"], capture_output=True, check=False)
        if packed.returncode:
            yield None
            return
        subprocess.run(["tar", "-x", "-C", place], input=packed.stdout, check=True)
        yield Path(place)
