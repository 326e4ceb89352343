"""Every --help teaches: plain words, examples that run, lines that fit; and a slip of the finger is met with a hint."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import tmpwarden as tmpwarden_package
from support import forked
from support.command import data
from tmpwarden.cli.call import Call
from tmpwarden.cli.commands import TABLE, brake
from tmpwarden.cli.group import examples, tmpwarden
from tmpwarden.cli.main import main

_JARGON = re.compile(
    r"\b(laws?( \d+)?|REQ-\w+|rows?|litter id|verdicts? type|dialects?|swarms?|INTEGER|FLOAT)\b|x>=",
    re.IGNORECASE,
)  # our words for our parts, and click's for its
_MAN = Path(__file__).parents[2] / "docs" / "man"
_PROGRAMS = ("claude", "make", "npm", "crontab", "true")
_AGENTS = Path(tmpwarden_package.__file__).parent / "catalogue" / "agents"


def _everything(command: click.Command, path: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    """(path, help) of every command there is."""
    name = path.split()[-1] if path else "tmpwarden"
    context = click.Context(command, info_name=name, parent=parent, obj=Call(), **command.context_settings)
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context) if parent is None else command.commands:
            below = command.get_command(context, name)
            assert below is not None
            yield from _everything(below, f"{path} {name}".strip(), context)


HELPS = dict(_everything(tmpwarden, "", None))
EXAMPLES = examples()


@pytest.mark.parametrize("path", HELPS)
def test_a_help_text_says_plain_words_that_fit_80_columns(path: str) -> None:
    assert _JARGON.findall(HELPS[path]) == []
    assert [line for line in HELPS[path].splitlines() if len(line) > 80] == []


def test_a_manual_page_says_plain_words() -> None:
    pages = {page.name: page.read_text() for page in _MAN.iterdir()}
    assert len(pages) > len(TABLE)
    assert {name: _JARGON.findall(text) for name, text in pages.items() if _JARGON.search(text)} == {}


@pytest.mark.parametrize("path", HELPS)
def test_a_list_of_commands_breaks_off_no_sentence(path: str) -> None:
    commands = HELPS[path].partition("\nCommands:\n")[2].partition("\n\n")[0]
    assert "..." not in commands


def test_the_summaries_say_plain_words() -> None:
    assert [summary for _, _, summary in TABLE if _JARGON.search(summary)] == []


def test_every_command_has_an_example_and_no_example_lacks_its_command() -> None:
    assert set(EXAMPLES) == set(HELPS), "cli/examples.txt has lines for each command"
    for path, lines in EXAMPLES.items():
        assert f"tmpwarden {lines[0][0]}".strip() in HELPS[path]
        assert any(words.startswith(path) for words, _ in lines), path


@pytest.fixture
def small_path(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH without any scheduler, shell or editor of the machine: just programs that do nothing."""
    bin_dir = own_world / "bin"
    bin_dir.mkdir()
    for name in _PROGRAMS:
        (bin_dir / name).write_text("#!/bin/sh\nexit 0\n")
        (bin_dir / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(bin_dir))
    return bin_dir


@pytest.mark.usefixtures("small_path")
@pytest.mark.parametrize("path", EXAMPLES)
def test_every_example_runs(
    path: str, own_world: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It may find nothing (5), want to ask (4) or say no (2, 7); it is never called wrongly and never breaks."""
    monkeypatch.chdir(own_world)
    monkeypatch.setattr(brake, "_FIRST_LOOK_S", 0.01)
    monkeypatch.setattr(brake, "_EVERY_S", 0.01)
    shutil.copy(_AGENTS / "aider.toml", "mine.toml")
    for words, _ in EXAMPLES[path]:
        here = str(own_world / "tmp")
        argv = [word.replace("/var/tmp", here).replace("/tmp", here) for word in shlex.split(words)]
        argv = [os.path.expanduser(word) for word in argv]
        status = _called(argv) if argv[:1] == ["run"] else main(argv)
        assert status in (0, 2, 4, 5, 7), (words, status, capfd.readouterr())


def _called(argv: list[str]) -> int:
    """`run` becomes the program that it starts: not in this process."""
    return forked.run([sys.executable, "-m", "tmpwarden", *argv], stdin=subprocess.DEVNULL, check=False).returncode


@pytest.mark.parametrize("words", [["clean"], ["orphans", "end"], []])
def test_help_is_what_the_option_says(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", *words]) == 0
    asked = capsys.readouterr().out
    assert main([*words, "--help"]) == 0
    assert capsys.readouterr().out == asked
    assert data("help", *words)["help"] == asked.rstrip("\n")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["claen"], "tmpwarden clean"),
        (["clean", "--forc"], "--force"),
        (["guard", "chek"], "check"),
        (["help", "claen"], "clean"),
        (["help", "guard", "chek"], "check"),
        (["scan", "--agent", "cluade"], "claude"),
        (["install", "cluade"], "claude"),
        (["clean", "--tier", "asq"], "ask"),
        (["clean", "--dryrun"], "--dry-run"),
        (["scan", "--agnet", "claude"], "--agent"),
    ],
)
def test_a_typo_is_met_with_the_word_that_was_meant(
    words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 3
    said = capsys.readouterr().err
    assert "did you mean" in said.lower()
    assert meant in said


def test_an_option_that_is_like_no_other_is_met_with_no_guess(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "--nope"]) == 3
    assert "did you mean" not in capsys.readouterr().err.lower()


def test_an_empty_session_is_refused_and_not_read_as_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["teardown", "--session", "", "--agent", "claude"]) == 3
    assert "--session is empty" in capsys.readouterr().err


def test_everyday_commands_come_first_and_in_the_order_of_their_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    everyday, more = text.partition("Everyday commands:")[2].split("More:")
    names = [line.split()[0] for line in everyday.splitlines() if line.startswith("  ") and line[2] != " "]
    assert names == ["status", "scan", "clean", "undo", "why", "doctor", "report", "ui", "setup"]
    assert "  install " not in text and "  uninstall " in more


@pytest.mark.parametrize("words", [["-V"], ["--version"], ["version"], ["scan", "-V"]], ids=" ".join)
def test_the_version_is_told_however_it_is_asked_for(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert tmpwarden_package.__version__ in capsys.readouterr().out


def test_config_alone_shows_the_settings_and_guard_alone_its_help(
    own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config"]) == 0
    settings = capsys.readouterr().out
    assert "quarantine" in settings and "preset sandbox" in settings and "site-packages" not in settings
    assert main(["guard"]) == 0
    shown = capsys.readouterr().out
    assert "Usage: tmpwarden guard" in shown and "check" in shown
