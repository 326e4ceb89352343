"""What a command costs before it has anything to do, beside a bare interpreter."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

from bench.frame import COMMAND, Line, Run, interleaved, ratio, timed
from bench.sweep import world

_BARE = "python3 -I -S -c pass"
_COMMANDS = (  # what it is called, its words, gate, goal
    ("scan of an empty root", ("scan", "--json"), 9.0, 7.0),
    ("teardown of nothing", ("teardown", "--session", "none", "--json"), 9.0, 7.0),
    ("status", ("status", "--json"), 13.0, 10.0),
    ("run -- true", ("run", "--", "/bin/true"), None, None),
    ("--version, read by click", ("--version",), None, None),
)


def lines(quick: bool) -> Iterator[Line]:
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    with world() as (_, env):
        contenders: dict[str, Callable[[], Run]] = {_BARE: lambda: timed([python, "-I", "-S", "-c", "pass"], env)}
        for what, words, *_ in _COMMANDS:
            argv = [*COMMAND, *words]
            contenders[what] = lambda argv=argv: timed(argv, env)  # type: ignore[misc]
        for run in [*contenders.values()] * 2:  # the first call of a version writes its modules into one file
            run()
        runs = interleaved(contenders, 7 if quick else 31)
        for what, _, gate, goal in _COMMANDS:
            middle = sorted(run.cpu_s for run in runs[what])[len(runs[what]) // 2]
            peak = max(run.peak_mb for run in runs[what])
            note = f"{middle * 1000:.0f} ms CPU, {peak:.0f} MB"
            yield Line(what, ratio(runs, what, _BARE, "cpu_s"), f"x {_BARE}, CPU", gate, goal, note)
