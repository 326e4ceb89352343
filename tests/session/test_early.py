"""`import tmpwarden.early`: a signal while a program imports is one answer, too, and no traceback."""

import json
import signal

import pytest

from support.envelope import checked
from support.program import Programs

# Strikes at the n-th line that runs anywhere from the program's first line on, until the answer is being made.
STRUCK = """
import os, sys
number, at, count = int(sys.argv.pop(1)), int(sys.argv.pop(1)), 0
import tmpwarden.early
def trace(frame, event, _):
    global count
    if event == "line":
        count += 1
        if count == at:
            sys.settrace(None)
            os.kill(os.getpid(), number)
    return trace
sys.settrace(trace)
import argparse
from tmpwarden.session import run_argparse
def work(s, arguments):
    sys.settrace(None)
    s.file("work")
    if at > count:
        print(count, file=sys.stderr)
    return {"rows": 1}
sys.exit(run_argparse(argparse.ArgumentParser("mycli"), work))
"""
ENDS = {"SIGTERM": 143, "SIGINT": 130, "SIGHUP": 129}


@pytest.mark.parametrize("name", ENDS)
def test_a_signal_at_any_line_of_the_imports_is_one_answer(programs: Programs, name: str) -> None:
    number = str(int(signal.Signals[name]))
    lines = int(programs.run(STRUCK, number, "1000000000", imports_anew=True).stderr)
    assert lines > 1000, "the imports of a whole program"
    for at in (*range(1, 40), *range(41, lines, lines // 30)):
        ran = programs.run(STRUCK, number, str(at), imports_anew=True)
        assert (ran.returncode, ran.stderr) == (ENDS[name], ""), at
        envelope = checked(ran.stdout, ran.returncode)
        assert envelope["error"] == {"code": "CANCELLED", "message": f"stopped by {name}"}
        assert envelope["meta"]["partial"] is True
        assert programs.sessions() == []


HANDLED = """
import signal, sys
{before}
import tmpwarden.early
{after}
signal.raise_signal(signal.SIGTERM)
print("went on")
"""


def test_a_handler_of_the_program_stays(programs: Programs) -> None:
    mine = "signal.signal(signal.SIGTERM, lambda *_: print('mine'))"
    for source in (HANDLED.format(before=mine, after=""), HANDLED.format(before="", after=mine)):
        assert programs.run(source, imports_anew=True).stdout == "mine\nwent on\n"
    ignored = HANDLED.format(before="signal.signal(signal.SIGTERM, signal.SIG_IGN)", after="")
    assert programs.run(ignored, imports_anew=True).stdout == "went on\n"


def test_after_a_session_nothing_is_answered_twice(programs: Programs) -> None:
    source = (
        "import tmpwarden.early, tmpwarden, os, signal\n"
        "with tmpwarden.session('mycli') as s:\n    print(s.envelope({'rows': 1}), flush=True)\n"
        "assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    ran = programs.run(source, imports_anew=True)
    assert ran.returncode == -signal.SIGTERM
    assert json.loads(ran.stdout)["ok"] is True


def test_importing_it_costs_next_to_nothing(programs: Programs) -> None:
    """What it imports is already there when Python has started."""
    source = "import sys; before = set(sys.modules); import tmpwarden.early; print(sorted(set(sys.modules) - before))"
    ran = programs.run(source, imports_anew=True)
    assert set(json.loads(ran.stdout.replace("'", '"'))) <= {"tmpwarden", "tmpwarden.early", "_signal", "__future__"}
