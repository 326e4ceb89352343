"""The frame around every command: common options, one JSON object, exit statuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tmpwarden.cli.commands import HIDDEN
from tmpwarden.cli.main import main

COMMANDS = Path(__file__).parents[2] / "src" / "tmpwarden" / "cli" / "commands"


def call(*args: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tmpwarden", *args], input=stdin, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("args", [("--json", "--version"), ("--version", "--json"), ("status", "--json", "--version")])
def test_common_options_stand_before_or_after_the_command(args: tuple[str, ...]) -> None:
    answer = json.loads(call(*args).stdout)
    assert answer["ok"] is True
    assert answer["data"]["version"] == answer["meta"]["version"]


@pytest.mark.parametrize("args", [("nonsense",), ("status", "--nonsense"), ("status", "too", "many")])
def test_a_usage_error_is_exit_3_and_still_one_json_object(args: tuple[str, ...]) -> None:
    result = call(*args, "--json")
    answer = json.loads(result.stdout)
    assert (result.returncode, answer["ok"], answer["error"]["code"]) == (3, False, "bad-argument")
    assert set(answer) == {"ok", "data", "error", "warnings", "meta"}
    assert result.stderr == ""


def test_a_usage_error_says_one_sentence_and_a_hint_on_stderr() -> None:
    result = call("sttus")
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        "tmpwarden: unknown command 'sttus'; did you mean `tmpwarden status`?",
        "  hint: `tmpwarden --help` shows its options",
    ]


def test_every_command_module_is_listed_in_help() -> None:
    shown = call("--help").stdout
    for module in {path.stem for path in COMMANDS.glob("[a-z]*.py")} - set(HIDDEN):
        assert f"\n  {module} " in shown, f"{module} has no row in TABLE"


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for module in COMMANDS.glob("[a-z]*.py"):
        assert main([module.stem, "--help"]) == 0
        assert "Usage: tmpwarden" in capsys.readouterr().out


def test_an_answer_that_cannot_be_written_is_one_sentence_and_exit_1() -> None:
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "tmpwarden", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.returncode == 1
    assert result.stderr == "tmpwarden: the answer could not be written: No space left on device\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_no_crash(closed: str) -> None:
    result = subprocess.run(
        f"'{sys.executable}' -m tmpwarden scan {closed}", shell=True, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in result.stderr + result.stdout
    assert result.returncode == 0


def test_a_closed_pipe_is_silent() -> None:
    result = subprocess.run(
        f"'{sys.executable}' -m tmpwarden --help | true", shell=True, capture_output=True, text=True, check=False
    )
    assert result.stderr == ""
