"""`import tmpwarden.early`: a signal while a program imports is one answer, too, and no traceback."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from support.envelope import checked
from support.program import Programs

HELP = subprocess.run(["env", "--help"], capture_output=True, text=True, check=False).stdout
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
    assert set(json.loads(ran.stdout.replace("'", '"'))) <= {
        "tmpwarden",
        "tmpwarden.early",
        "_signal",
        "atexit",
        "__future__",
    }


WORDS = str(Path(__file__).parents[2] / "examples" / "words.py")


def waiting_when_it_starts(number: int) -> None:
    """As `env --block-signal` and a signal before the first line of Python leave a process."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("name", ENDS)
def test_a_signal_that_was_blocked_while_python_started_is_answered(programs: Programs, name: str) -> None:
    number = int(signal.Signals[name])
    ran = subprocess.run(
        [sys.executable, WORDS, "/nowhere"],
        env={**os.environ, "TMPDIR": str(programs.tmp)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: waiting_when_it_starts(number),
    )
    assert (ran.returncode, ran.stderr) == (ENDS[name], "")
    assert checked(ran.stdout, ran.returncode)["error"]["message"] == f"stopped by {name}"


AFTER = """
import tmpwarden.early, argparse, atexit, os, signal, sys
from tmpwarden.session import run_argparse
def late():
    os.kill(os.getpid(), {number})
class Last:
    def __del__(self):
        os.kill(os.getpid(), {number})
sys.last = Last()
if {at!r} == "atexit":
    atexit.register(late)
def work(s, arguments):
    if {status}:
        sys.exit({status})
    return {{"rows": 1}}
status = run_argparse(argparse.ArgumentParser("mycli"), work)
if {at!r} == "at once":
    late()
sys.exit(status)
"""


@pytest.mark.parametrize("status", [0, 3])
@pytest.mark.parametrize("at", ["at once", "atexit", "while Python ends"])
@pytest.mark.parametrize("name", ENDS)
def test_a_signal_after_the_answer_changes_nothing(programs: Programs, name: str, at: str, status: int) -> None:
    source = AFTER.format(number=int(signal.Signals[name]), at=at, status=status)
    ran = programs.run(source, imports_anew=True)
    assert (ran.returncode, ran.stderr) == (status, "")
    checked(ran.stdout, status)


MOMENTS = 264  # of two programs and two signals: 1,056 runs
BLOCKING = ["env", "--block-signal=INT,TERM,HUP"]


@pytest.mark.long
@pytest.mark.skipif("block-signal" not in HELP, reason="needs env of GNU coreutils 8.31")
def test_in_1056_runs_a_signal_is_one_answer_or_comes_before_python(programs: Programs) -> None:
    ends: Counter[str] = Counter()
    text = programs.tmp / "text"
    text.write_text("a b a\n")
    for moment, program, number in product(range(MOMENTS), ("words.py", "words_click.py"), (2, 15)):
        run = subprocess.Popen(
            [*BLOCKING, sys.executable, f"{Path(WORDS).parent}/{program}", str(text)],
            env={**os.environ, "TMPDIR": str(programs.tmp)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        until = time.perf_counter() + 0.060 * moment / MOMENTS
        while time.perf_counter() < until:
            pass
        run.send_signal(number)
        out, err = run.communicate(timeout=60)
        if run.returncode == -number:
            assert (out, err) == ("", ""), "env had not begun to block it"
            ends["before Python"] += 1
            continue
        assert err.strip() == "", "click ends the line of an interrupted command"
        envelope = checked(out, run.returncode)
        ends["done" if envelope["ok"] else envelope["error"]["code"]] += 1
    print(ends)
    assert ends.total() == 4 * MOMENTS
    assert set(ends) <= {"before Python", "CANCELLED", "done"}
    assert ends["CANCELLED"] > ends.total() / 2
