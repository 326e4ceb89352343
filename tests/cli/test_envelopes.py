"""One JSON object on stdout whatever happens, in the words of the published schema (REQ-F-004, of F-043's family)."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support import planted
from support.command import tmpwarden
from support.documents import COMMANDS, World
from support.envelope import checked
from tmpwarden import errors
from tmpwarden.cli.envelope import chunks

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


@pytest.mark.parametrize(
    ("world", "words", "status", "code"), COMMANDS, ids=[f"{each[1]} {each[0].__name__}" for each in COMMANDS]
)
def test_every_answer_has_the_published_form(
    own_world: Path, world: World, words: str, status: int, code: str | None
) -> None:
    with world(own_world):
        result = tmpwarden("--json", *words.split(), later_s=planted.DAYS)
    assert result.returncode == status, result.stdout + result.stderr
    envelope = checked(result.stdout, status)
    assert (envelope["meta"]["schema"], (envelope["error"] or {"code": None})["code"]) == (2, code)


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


def test_an_error_suggests_what_to_do() -> None:
    result = tmpwarden("scan", "--root", "/nowhere", "--json")
    error = checked(result.stdout, result.returncode)["error"]
    assert error["suggestion"] == errors.UnsafeRoot.hint


@pytest.mark.parametrize("kind", PUBLIC, ids=lambda kind: kind.__name__)
def test_every_error_describes_itself_in_the_published_words(kind: type[errors.TmpwardenError]) -> None:
    words = (2,) if kind is errors.Interrupted else ("a", "b", "c")
    described = kind(*words).described()
    assert set(described) == {"code", "message", "suggestion"}
    told = "".join(chunks(None, kind(*words), ["slow"], exit_code=kind.exit_code, started=0.0))
    checked(f"{told}\n", kind.exit_code)


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
