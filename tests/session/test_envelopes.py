"""However a command leaves, its program prints one answer that the published schema allows."""

import signal

import pytest

import tmpwarden
from support import documents
from support.documents import PARSING, WAYS
from support.envelope import checked
from support.program import Programs
from tmpwarden import errors

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.TmpwardenError)]


def test_there_are_a_hundred_documents() -> None:
    """Those below, and those of tmpwarden itself (tests/cli/test_envelopes.py)."""
    assert documents.COUNT == 100


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", documents.PROGRAMS)
def test_however_a_command_leaves_it_answers_once(programs: Programs, program: str, way: str) -> None:
    status, code = WAYS[way]
    ran = programs.run(documents.PROGRAMS[program].format(work=way))
    envelope = checked(ran.stdout, ran.returncode)
    assert ran.returncode == status, ran.stderr
    assert (envelope["error"] or {"code": None})["code"] == code
    assert ("Traceback" in ran.stderr) is (code == "internal"), ran.stderr
    assert programs.sessions() == []


@pytest.mark.parametrize("program", PARSING)
@pytest.mark.parametrize("words", documents.UNPARSED, ids=" ".join)
def test_arguments_that_do_not_parse_are_answered(programs: Programs, program: str, words: tuple[str, ...]) -> None:
    ran = programs.run(PARSING[program].format(work="return"), *words)
    assert (ran.returncode, "Traceback" in ran.stderr, "rror: " in ran.stderr) == (3, False, True)
    assert checked(ran.stdout, 3)["error"]["code"] == "bad-argument"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_of_ours_can_be_the_answer(own_world: object, kind: type[errors.TmpwardenError]) -> None:
    with tmpwarden.session("mycli") as s:
        error = kind(2) if kind is errors.Interrupted else kind("a", "b", "c")
        assert checked(s.envelope(error=error) + "\n", 1)["error"]["code"] == kind.code


# Strikes at the n-th line that runs in tmpwarden/session once an answer is being made: at every moment, one by one.
STRUCK = """
import os, sys
number, at, count = int(sys.argv.pop(1)), int(sys.argv.pop(1)), 0
from tmpwarden.session import signals
import tmpwarden.session.answer
def trace(frame, event, _):
    global count
    if "/tmpwarden/session/" not in frame.f_code.co_filename:
        return None
    if event == "line" and signals._watch.depth:
        count += 1
        if count == at:
            sys.settrace(None)
            os.kill(os.getpid(), number)
    return trace
sys.settrace(trace)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
@pytest.mark.parametrize("program", PARSING)
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_signal_at_any_moment_is_one_answer(programs: Programs, program: str, number: int, step: int) -> None:
    source = STRUCK + PARSING[program].format(work="return {'rows': 1}")
    ends = {}
    for at in range(1, 2000, step):
        ran = programs.run(source, str(int(number)), str(at))
        assert "Traceback" not in ran.stderr, (at, ran.stderr)
        assert ran.returncode in (0, 128 + number), (at, ran.returncode, ran.stderr)
        error = checked(ran.stdout, ran.returncode)["error"]
        assert error is None or error["code"] == "CANCELLED"
        assert programs.sessions() == [], at
        ends[at] = ran.returncode
        if ran.returncode == 0 and list(ends.values())[-9:] == [0] * 9:
            break  # past the end of the program
    assert 128 + number in ends.values()
    assert len(ends) > 20
