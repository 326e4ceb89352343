"""Bad input: one sentence, a hint, the right exit status; the same in JSON; and nothing is touched."""

import os
import subprocess
from pathlib import Path

import pytest

from support import planted
from support.command import answer, data, tmpwarden
from support.user import OrdinaryUser
from tmpwarden import __version__
from tmpwarden.cli.main import main


def refused(*args: str) -> tuple[int, str, str]:
    """(exit status, code, sentence); what people see is exactly that sentence and one hint."""
    status, envelope = answer(*args)
    return status, envelope["error"]["code"], envelope["error"]["message"]


@pytest.mark.parametrize(
    "words",
    [
        ("--min-age", "-5m"), ("--min-age=-1h",), ("--older-than", "soon"), ("--min-age", ""),
        ("--min-age", "1h1h"), ("--min-age", "٣h"), ("--budget", "200%"), ("--budget", "much"),
        ("--time-limit", "1.5h"), ("--tier", "never"), ("--max-age", "99999999d"),
        ("--max-age", "1h", "--min-age", "2h"), ("--nope",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_absurd_options_are_exit_3(words: tuple[str, ...], own_world: Path) -> None:
    unit = planted.marker(own_world / "tmp")
    status, code, sentence = refused("clean", "--force", *words)
    assert (status, code) == (3, "bad-argument")
    assert "\n" not in sentence
    assert unit.exists()


def test_an_unknown_agent_is_exit_3_and_the_nearest_is_named() -> None:
    result = tmpwarden("clean", "--force", "--agent", "claud")
    assert result.returncode == 3
    assert result.stderr.splitlines() == [
        "tmpwarden: unknown agent claud",
        "  hint: did you mean claude? `tmpwarden agents` lists them",
    ]


def test_a_root_that_must_not_be_swept_is_exit_7(own_world: Path) -> None:
    file, repository, inside = own_world / "file", own_world / "repo", own_world / "home" / "x"
    file.write_text("x")
    subprocess.run(["git", "init", "-q", repository], check=True)
    inside.mkdir()
    for root in ("/", os.environ["HOME"], str(own_world), str(file), str(repository)):
        status, code, sentence = refused("clean", "--force", "--root", root)
        assert (status, code) == (7, "unsafe-root"), root
        assert "cannot clean " in sentence


def test_a_root_that_is_somebodys_symlink_is_refused(own_world: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to give a link away")
    link = own_world / "link"
    link.symlink_to(own_world / "tmp")
    os.chown(link, 65534, 65534, follow_symlinks=False)
    unit = planted.marker(own_world / "tmp")
    status, code, sentence = refused("clean", "--force", "--root", str(link))
    assert (status, code) == (7, "unsafe-root")
    assert "symbolic link" in sentence
    assert unit.exists()


def test_a_missing_root_is_exit_5() -> None:
    assert refused("scan", "--root", "/no/such/place") == (5, "no-such-root", "there is no directory /no/such/place")


def test_an_unknown_agent_cannot_be_torn_down() -> None:
    assert refused("teardown", "--agent", "claud") == (3, "unknown-agent", "unknown agent claud")


@pytest.mark.parametrize(
    ("words", "expected"),
    [(("--root", "/no/such/place"), (5, "no-such-root")), (("--config", "/no/such/file"), (3, "bad-config"))],
)
def test_a_teardown_that_was_called_wrongly_says_so(words: tuple[str, ...], expected: tuple[int, str]) -> None:
    assert refused("teardown", "--session", "abc", *words)[:2] == expected


def test_a_teardown_that_is_switched_off_tells_its_error_in_json(own_world: Path) -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[teardown]\nenabled = false\n")
    status, code, sentence = refused("teardown", "--session", "abc")
    assert (status, code) == (1, "teardown-failed")
    assert "switched off" in sentence


def test_config_alone_shows_and_guard_alone_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config"]) == 0
    alone = capsys.readouterr().out
    assert main(["config", "show"]) == 0
    assert capsys.readouterr().out == alone
    assert main(["guard"]) == 0
    assert "Usage: tmpwarden guard" in capsys.readouterr().out


@pytest.mark.parametrize("words", ["-V", "--version", "version"])
def test_the_version_is_told_however_it_is_asked_for(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([words]) == 0
    assert capsys.readouterr().out == f"tmpwarden {__version__}\n"


@pytest.mark.parametrize(
    "text",
    [
        '[keep]\npaths = ["{0}"\n',
        '[keep]\npaths = "{0}"\n',
        '[keep]\npaths = ["{0}*"]\n',
        '[rows."claude.session"]\nenabled = "no"\n',
        '[rows."claude.sesion"]\nenabled = false\n',
    ],
)
def test_a_broken_config_that_may_protect_something_keeps_everything(text: str, own_world: Path) -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(parents=True)
    unit = planted.session(own_world / "tmp")
    config.write_text(text.replace("{0}", str(unit)))
    result = tmpwarden("clean", "--force", later_s=planted.DAYS)
    assert unit.exists()
    assert result.returncode == 0
    assert f"{config}:" in result.stderr and "cannot be read, and may keep it" in result.stdout
    config.write_text("[periodic\n")
    tmpwarden("clean", "--force", later_s=planted.DAYS)
    assert not unit.exists()


def test_a_broken_drop_in_is_skipped_with_a_warning_and_everything_else_works(own_world: Path) -> None:
    broken = own_world / "config" / "tmpwarden" / "agents.d" / "mine.toml"
    broken.parent.mkdir(parents=True)
    broken.write_text('schema = 1\n[agent]\nid = "mine"\nname = \n')
    unit = planted.session(own_world / "tmp")
    result = tmpwarden("clean", "--force", later_s=planted.DAYS)
    assert result.returncode == 0
    assert f"warning: {broken}:4" in result.stderr
    assert not unit.exists()
    _, envelope = answer("scan")
    assert envelope["ok"] is True
    assert str(broken) in envelope["warnings"][0]


def test_a_broken_config_is_a_warning_that_names_file_and_line(own_world: Path) -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[periodic]\nevery = "often"\n')
    result = tmpwarden("scan")
    assert result.returncode == 0
    assert f"{config}:2" in result.stderr


def test_a_directory_nobody_may_read_is_kept_or_taken_but_never_a_crash(own_world: Path) -> None:
    unit = planted.session(own_world / "tmp")
    closed = unit / "closed"
    closed.mkdir(mode=0)
    found = data("clean", "--force", later_s=planted.DAYS)
    assert unit.exists() == (not found["removed"])


@pytest.mark.parametrize(
    "name", ["\x1b[2J", "new\nline", "bad\udcff", "q" * 200], ids=["escape", "newline", "utf8", "long"]
)
def test_strange_names_are_handled_exactly_and_shown_escaped(own_world: Path, name: str) -> None:
    unit = planted.session(own_world / "tmp")
    strange = os.path.join(unit, name)
    os.close(os.open(strange, os.O_CREAT | os.O_WRONLY, 0o600))
    told = tmpwarden("why", strange, later_s=planted.DAYS)
    assert told.returncode == 0
    assert "\x1b" not in told.stdout and "\udcff" not in told.stdout
    assert data("why", strange, later_s=planted.DAYS)["path"] == strange
    data("clean", "--force", later_s=planted.DAYS)
    data("undo")
    assert os.path.lexists(strange)


def test_a_directory_of_ours_that_cannot_be_written_is_exit_7_and_named(ordinary_user: OrdinaryUser) -> None:
    closed = ordinary_user.home / ".config"
    closed.mkdir()
    os.chown(closed, 0, 0)
    result = ordinary_user.tmpwarden("keep", "/tmp/precious")
    assert result.returncode == 7, result
    assert str(closed) in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("word", ["--fo\x1b[31mo", "--a\nb", "-\x1b", "sc\x1ban", "--x=\x07", "--\u202eb"])
@pytest.mark.parametrize(
    "before", [(), ("scan",), ("clean",), ("guard",), ("worktrees",)], ids=lambda words: words[-1:]
)
def test_what_was_typed_is_escaped_in_what_is_said_about_it(before: tuple[str, ...], word: str) -> None:
    done = tmpwarden(*before, word)
    assert done.returncode in (0, 3, 5)
    assert all(char.isprintable() or char == "\n" for char in done.stdout + done.stderr)
    assert "a\nb" not in done.stderr


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "\x1b[31mb", "it's", "$(id)", "a b", "-rf"])
def test_the_command_that_why_suggests_is_one_line_and_means_this_very_name(own_world: Path, name: str) -> None:
    path = own_world / "tmp" / "somebodys" / name
    path.mkdir(parents=True)
    said = tmpwarden("why", str(path)).stdout
    (line,) = [line.strip() for line in said.splitlines() if line.strip().startswith("tmpwarden clean")]
    argv = subprocess.run(
        ["bash", "-c", f'tmpwarden() {{ printf "%s" "$2"; }}; {line}'], capture_output=True, check=True
    )
    assert argv.stdout.decode() == str(path)
