"""Every hook pays for what the guard imports."""

import subprocess
import sys
from pathlib import Path

SRC = Path(__file__).parents[3] / "src"
HEAVY = {
    "re",
    "json",
    "dataclasses",
    "enum",
    "typing",
    "pathlib",
    "functools",
    "collections",
    "os",
    "argparse",
    "subprocess",
}


def test_reading_and_rewriting_import_nothing_heavy() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SRC)!r}); before = set(sys.modules)\n"
        "from tmpwarden.guard.decide.leading import lead_line\n"
        "from tmpwarden.guard.decide.rewriting import TempRoot\n"
        "from tmpwarden.guard.simulate.study import study\n"
        "from tmpwarden.guard.nouns.analysis import Budget\n"
        "look = lambda p: ('/', False)\n"
        "from tmpwarden.guard.context import AgentFacts, Context, CallPlace, Probes\n"
        "place = CallPlace(scratch=None, project=None, cwd='/', home='/h', uid=0)\n"
        "here = Context(place, Probes(look), AgentFacts())\n"
        "done = study('touch /tmp/a', here, Budget())\n"
        "assert lead_line('touch /tmp/a', done, TempRoot('/tmp/s', ('/tmp',), (), look), cwd='/', environ={})\n"
        "print(' '.join(set(sys.modules) - before))"
    )
    out = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = set(out.split())
    assert not loaded & HEAVY
    assert not loaded & (
        {"tmpwarden.guard.simulate.braces"} | {f"tmpwarden.guard.programs.{name}" for name in ("inline", "git")}
    )
