"""What `import tmpwarden` and a session cost beside tempfile.TemporaryDirectory."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Iterator

from bench.frame import Line, against, interleaved, ratio, timed

_IMPORT_TEMPFILE = "import tempfile"
_IMPORT_US = "import tmpwarden; tmpwarden.session"
_USE_TEMPFILE = "import tempfile\nwith tempfile.TemporaryDirectory() as d: open(d + '/a', 'x').close()"
_USE_US = "import tmpwarden\nwith tmpwarden.session('bench') as s: s.file('a')"
_MANY_TEMPFILE = (
    "import tempfile\nfor _ in range(500):\n with tempfile.TemporaryDirectory() as d: open(d + '/a', 'x').close()"
)
_MANY_US = "import tmpwarden\nfor _ in range(500):\n with tmpwarden.session('bench') as s: s.file('a')"


def lines(quick: bool) -> Iterator[Line]:
    reps = 5 if quick else 25
    with tempfile.TemporaryDirectory() as tmp:
        env = {**os.environ, "TMPDIR": tmp}
        yield _compared("session: import", _IMPORT_US, "import tempfile", _IMPORT_TEMPFILE, reps, env, 1.3, 1.0)
        yield _compared("session: a program that enters and leaves once", _USE_US, "tempfile", _USE_TEMPFILE, reps, env)
        yield _compared("session: 500 times", _MANY_US, "tempfile", _MANY_TEMPFILE, max(3, reps // 5), env)


def _compared(
    what: str,
    ours: str,
    peer: str,
    theirs: str,
    reps: int,
    env: dict[str, str],
    gate: float | None = None,
    goal: float | None = None,
) -> Line:
    """CPU of whole processes above that of a bare interpreter: what the author of a program adds to it."""

    def child(source: str) -> list[str]:
        return [sys.executable, "-I", "-c", source]

    runs = interleaved(
        {
            "tmpwarden": lambda: timed(child(ours), env),
            peer: lambda: timed(child(theirs), env),
            "pass": lambda: timed(child("pass"), env),
        },
        reps,
    )
    assert all(run.status == 0 for run in runs["tmpwarden"]), "the session did not run"
    middle = {name: statistics.median(run.cpu_s for run in runs[name]) for name in runs}
    added = {name: middle[name] - middle["pass"] for name in ("tmpwarden", peer)}
    note = f"{added['tmpwarden'] * 1000:.1f} ms to {added[peer] * 1000:.1f} ms; whole process " + (
        f"{ratio(runs, 'tmpwarden', peer, of='cpu_s'):.2f} ({against(runs, peer, but='tmpwarden', of='cpu_s')})"
    )
    return Line(what, added["tmpwarden"] / added[peer], f"x {peer}, CPU above a bare interpreter", gate, goal, note)
