"""One JSON object on stdout whatever happens, in the words of the published schema (REQ-F-004, of F-043's family)."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import planted
from support.command import tmpwarden
from tmpwarden import errors

# schemas/response-envelope.json of romamo/cli-agent-ergonomics, as facts: key -> type; required ones first.
TOP = {"ok": bool, "data": (dict, list, type(None)), "error": (dict, type(None)), "warnings": list, "meta": dict}
ERROR_REQUIRED = {"code": str, "message": str}
ERROR = {**ERROR_REQUIRED, "detail": str, "retryable": bool, "retry_after": int, "phase": str, "suggestion": str}
OURS = {"hint": str}  # beside it, for readers of our first edition
PUBLIC = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.TmpwardenError)]
# The signal comes while the command looks for litter.
STRUCK = """
import os, sys
from tmpwarden.sweep.find import scan
from tmpwarden.cli import main as cli
number = int(sys.argv.pop(1))
def strike(*_):
    os.kill(os.getpid(), number)
    yield
scan.Finder.find = strike
cli.run()
"""


def checked(text: str, status: int) -> dict[str, Any]:
    """The envelope in `text`, which is one line and nothing else."""
    assert text.count("\n") == 1
    envelope: dict[str, Any] = json.loads(text)
    assert set(envelope) == set(TOP)
    for key, kind in TOP.items():
        assert isinstance(envelope[key], kind), key
    assert envelope["ok"] is (status == 0)
    assert all(isinstance(each, str) for each in envelope["warnings"])
    assert isinstance(envelope["meta"]["duration_ms"], int)
    assert (envelope["error"] is None) is (status == 0), "null on success, and only then"
    for key, value in (envelope["error"] or {}).items():
        assert isinstance(value, (ERROR | OURS)[key]), key
    assert envelope["error"] is None or ERROR_REQUIRED.keys() <= envelope["error"].keys()
    return envelope


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["status"], 0),
        (["scan"], 0),
        (["clean", "--yes"], 0),
        (["clean"], 4),
        (["nonsense"], 3),
        (["scan", "--min-age", "soon"], 3),
        (["scan", "--root"], 3),
        (["why"], 3),
        (["undo", "nothing"], 5),
        (["scan", "--root", "/nowhere"], 5),
        (["teardown", "--agent", "nobody"], 3),
        (["run"], 3),
    ],
    ids=str,
)
def test_every_answer_has_the_published_form(own_world: Path, words: list[str], status: int) -> None:
    if words == ["clean"]:
        planted.session(own_world / "tmp")
    result = tmpwarden("--json", *words, later_s=planted.DAYS)
    assert result.returncode == status, result.stdout + result.stderr
    checked(result.stdout, status)


def test_what_fails_is_an_error_even_where_all_is_told_in_the_data(own_world: Path) -> None:
    """doctor ends with 2 when something fails."""
    (own_world / "tmp").chmod(0o1777)
    squat = own_world / "tmp" / f"tmpwarden-{os.geteuid()}"
    squat.symlink_to("/")
    result = tmpwarden("doctor", "--json")
    assert result.returncode == 2
    envelope = checked(result.stdout, 2)
    assert envelope["error"]["code"] == "partial"
    assert envelope["data"]["diagnoses"]


def test_an_error_suggests_what_to_do_and_still_hints_it() -> None:
    result = tmpwarden("scan", "--root", "/nowhere", "--json")
    error = checked(result.stdout, result.returncode)["error"]
    assert error["suggestion"] == error["hint"] == errors.UnsafeRoot.hint


@pytest.mark.parametrize("kind", PUBLIC, ids=lambda kind: kind.__name__)
def test_every_error_describes_itself_in_the_published_words(kind: type[errors.TmpwardenError]) -> None:
    words = (2,) if kind is errors.Interrupted else ("a", "b", "c")
    described = kind(*words).described()
    assert set(described) == {"code", "message", "suggestion", "hint"}


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("words", [["scan", "--json"], ["--json", "clean", "--dry-run"]], ids=" ".join)
def test_a_signal_is_answered_as_well(own_world: Path, number: int, status: int, words: list[str]) -> None:
    argv = [sys.executable, "-c", STRUCK, str(int(number)), *words]
    result = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == status, result.stderr
    assert checked(result.stdout, status)["error"]["code"] == "interrupted"


def test_a_bug_in_what_is_told_is_an_envelope_too(own_world: Path) -> None:
    source = (
        "from tmpwarden.cli import documents, main as cli\n"
        "documents.Totals.document = lambda totals: 1 / 0\n"
        "raise SystemExit(cli.main(['scan', '--json']))"
    )
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert checked(result.stdout, 1)["error"]["code"] == "unexpected"
