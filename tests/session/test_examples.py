"""The example programs of the documentation are run as they stand, and the page shows them as they are."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.program import Programs, wait_until_it_waits

ROOT = Path(__file__).parents[2]
EXAMPLES = ("words.py", "words_click.py")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text"
    path.write_text("a b a\nc A\n")
    return path


def _run(programs: Programs, example: str, *args: str, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(ROOT / "examples" / example), *args],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(programs.tmp), **env},
        check=False,
        timeout=60,
    )


def _sessions(programs: Programs) -> list[str]:
    return [path.name for path in programs.tmp.glob("words-*/*") if path.name != "out"]


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_answers_as_the_requirement_says(programs: Programs, text: Path, example: str) -> None:
    result = _run(programs, example, str(text))
    assert (result.returncode, result.stderr, result.stdout.count("\n")) == (0, "", 1)
    answer = json.loads(result.stdout)
    assert answer["data"]["words"] == 3
    assert Path(answer["data"]["output_file"]).read_text().split() == ["3", "a", "1", "c", "1", "b"]
    assert answer["data"]["cleanup"]["auto_cleanup_after_seconds"] == 600
    assert _sessions(programs) == []
    subprocess.run(answer["data"]["cleanup"]["command"], shell=True, check=True)
    assert list(programs.tmp.glob("words-*/out/*/*")) == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_failure_is_one_json_object_too(programs: Programs, text: Path, example: str) -> None:
    (programs.tmp / f"words-{os.geteuid()}").write_text("squatted")
    refused = _run(programs, example, str(text))
    assert refused.returncode == 7
    answer = json.loads(refused.stdout)
    assert (answer["ok"], answer["data"], answer["error"]["code"]) == (False, None, "unsafe-scratch")
    assert "TMPDIR" in answer["error"]["suggestion"]


def test_a_bug_is_told_in_json_and_with_its_traceback(programs: Programs, tmp_path: Path) -> None:
    result = _run(programs, "words.py", str(tmp_path / "none"))
    assert result.returncode == 1
    assert json.loads(result.stdout)["error"]["code"] == "internal"
    assert "Traceback" in result.stderr
    assert _sessions(programs) == []


def test_arguments_that_do_not_parse_are_told_to_people_and_to_programs(programs: Programs) -> None:
    for example in EXAMPLES:
        result = _run(programs, example)
        assert "usage" in result.stderr.lower()
        assert "Traceback" not in result.stderr
        error = json.loads(result.stdout)["error"]
        assert (result.returncode, error["code"]) == (3, "bad-argument")
        assert "TEXT" in error["message"].upper()
        assert error["suggestion"].endswith("--help")
    assert list(programs.tmp.iterdir()) == []


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize(("signum", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_is_answered_too(programs: Programs, tmp_path: Path, example: str, signum: int, status: int) -> None:
    (tmp_path / "text").write_text("a b")
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDWR)  # somebody who may write is there: neither side waits for the other
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "examples" / example), str(tmp_path / "text"), str(tmp_path / "pipe")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(programs.tmp)},
    )
    while not list(programs.tmp.glob("words-*/s*/words")):
        assert process.poll() is None
        time.sleep(0.01)
    wait_until_it_waits(process)
    process.send_signal(signum)
    out, err = process.communicate(timeout=30)
    os.close(pipe)
    assert process.returncode == status, err
    assert json.loads(out)["error"]["code"] == "CANCELLED"
    assert _sessions(programs) == []


CLICK_ERRORS = """
import click, tmpwarden.session
@click.command()
@tmpwarden.session.answers("mycli")
def main(s): %s
main()
"""


def test_clicks_own_ways_to_leave_are_respected(programs: Programs) -> None:
    failed = programs.run(CLICK_ERRORS % 'raise click.ClickException("no such row")')
    assert failed.returncode == 1
    assert json.loads(failed.stdout)["error"] == {"code": "error", "message": "no such row"}
    left = programs.run(CLICK_ERRORS % "click.get_current_context().exit(4)")
    assert (left.returncode, left.stderr) == (4, "")
    assert json.loads(left.stdout)["error"] == {"code": "exit", "message": "the command ended with exit status 4"}
    said_no = programs.run(CLICK_ERRORS % "raise click.Abort")
    assert (said_no.returncode, json.loads(said_no.stdout)["error"]["code"]) == (1, "aborted")
    assert "Traceback" not in said_no.stderr
    assert programs.sessions() == []


def test_the_page_shows_the_examples_as_they_are() -> None:
    page = (ROOT / "docs" / "cli-authors.md").read_text()
    for example in EXAMPLES:
        assert f"```python\n{(ROOT / 'examples' / example).read_text()}```" in page
    for name in ("tmp", "grace", "on_cancel"):
        assert f"`{name}`" in page
