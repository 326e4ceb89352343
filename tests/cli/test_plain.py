"""A line that is read without click means what it means to click."""

import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from support.examples import examples
from support.litter import claude_session
from tmpwarden.cli import plain
from tmpwarden.cli.clicked import tmpwarden
from tmpwarden.cli.group import clicked
from tmpwarden.cli.main import main

WORDS = [
    "--each", "--agent", "claude", "--agent=codex", "--min-age", "1h", "--max-age=72h", "--all", "--full", "-n", "-f",
    "-y", "--yes", "--force", "--dry-run", "--tier", "ask", "--tier=x", "--budget", "80%", "--if-due", "--time-limit",
    "--purge", "-q", "--session", "s1", "--pid", "12", "--pid=0", "--wait", "--", "-", "a b", "/tmp/x", "--private-tmp",
    "--size", "1G", "--max-file", "--max-bytes", "make", "-la", "--help", "--version", "--ag", "", "--all-users",
    "--worktree", "-qn",
]  # fmt: skip


HARMLESS = [word for word in WORDS if word not in ("--all-users", "/tmp/x")]  # also where they are carried out


def command(name: str) -> plain.Plain:
    found = __import__(f"tmpwarden.cli.commands.{name}", fromlist=["command"]).command
    assert isinstance(found, plain.Plain)
    return found


def as_click_reads(name: str, words: list[str]) -> dict[str, object] | str:
    """Its values, or why it gives none."""
    group = tmpwarden.make_context("tmpwarden", [name], obj=plain.Call())
    try:
        return clicked(command(name)).make_context(name, list(words), parent=group).params
    except (click.ClickException, click.exceptions.Exit) as error:
        return type(error).__name__


@pytest.mark.parametrize("name", sorted(plain.QUICK))
@examples(60)
@given(words=st.lists(st.sampled_from(WORDS), max_size=6))
def test_what_is_read_without_click_is_what_click_reads(name: str, words: list[str]) -> None:
    values = plain.parsed(command(name), words)
    if values is not None:
        assert as_click_reads(name, words) == values


def answered(argv: list[str]) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of one call; figures, which time and other programs change, are left out."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(argv)
    return status, re.sub(r"[0-9][0-9.,]*", "0", out.getvalue()), re.sub(r"[0-9][0-9.,]*", "0", err.getvalue())


@examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.lists(st.sampled_from(("--json", "--version", "--root", "/nowhere")), max_size=2),
    name=st.sampled_from(("scan", "teardown", "clean", "sca")),  # no status: who lives is another's business
    words=st.lists(st.sampled_from([*HARMLESS, "--json", "--config", "--root=/nowhere"]), max_size=3),
)
@example(before=[], name="teardown", words=[])
@example(before=["--json"], name="teardown", words=["--session", "s1", "--wait"])
@example(before=[], name="teardown", words=["--pid", "x"])
@example(before=[], name="scan", words=["--help"])
@example(before=[], name="clean", words=["-n", "/nowhere"])
def test_the_short_way_and_click_give_one_answer(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, before: list[str], name: str, words: list[str]
) -> None:
    argv = [*before, name, *words]
    short = answered(argv)
    with monkeypatch.context() as patched:
        patched.setattr(plain, "called", lambda call, argv: None)
        assert answered(argv) == short


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("scan", ["--each", "--agent", "claude", "--agent=codex", "--min-age", "1h"]),
        ("clean", ["-n", "-f", "--tier", "ask", "/tmp/x", "/tmp/y"]),
        ("clean", ["--yes", "--budget=80%", "--", "-odd"]),
        ("teardown", ["--session", "s", "--pid", "12", "--wait"]),
        ("run", ["--max-file", "1G", "make", "-j", "--size", "x"]),
        ("run", ["--", "ls", "-la"]),
        ("status", []),
    ],
)
def test_an_ordinary_line_needs_no_click(name: str, words: list[str]) -> None:
    values = plain.parsed(command(name), words)
    assert values is not None
    assert values == as_click_reads(name, words)


@pytest.mark.parametrize(
    "words", [["--help"], ["--pid"], ["--pid", "x"], ["--sess", "x"], ["more"], ["--wait=1"]], ids=str
)
def test_a_line_that_is_not_ordinary_is_left_to_click(words: list[str]) -> None:
    assert plain.parsed(command("teardown"), words) is None


@pytest.mark.parametrize(
    ("words", "roots", "config_file"),
    [
        (["--json", "scan", "--root", "/a", "--root=/b", "--config", "f"], ("/a", "/b"), "f"),
        (["scan"], (), None),
    ],
)
def test_common_options_are_heard_anywhere(
    words: list[str], roots: tuple[str, ...], config_file: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(command("scan"), "function", lambda call, **_: seen.append(call), raising=True)
    call = plain.Call()
    plain.called(call, words)
    assert (seen, call.roots, call.config_file, call.json) == ([call], roots, config_file, "--json" in words)


def test_a_value_that_looks_like_a_command_is_none() -> None:
    """`--config run scan` scans."""
    assert plain.called(plain.Call(), ["--config", "run", "scan"]) is None


def test_a_small_teardown_imports_neither_click_nor_what_shows_tables() -> None:
    code = (
        "import sys; from tmpwarden.cli.main import main; main(['teardown', '--session', 'x', '--json'])\n"
        "slow = {'click', 'inspect', 'dataclasses', 'tmpwarden.cli.render'}\n"
        "print(sorted(slow & set(sys.modules)), file=sys.stderr)"
    )
    code = f"import sys; sys.path[:0] = {sys.path!r}\n{code}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_an_empty_root_is_scanned_without_looking_at_any_process(own_world: Path) -> None:
    """Nothing is there to ask about: /proc is read when the first unit is."""
    code = (
        "import sys; from tmpwarden.cli.main import main\n"
        "from tmpwarden.oskit.proc.holders import Holders\n"
        "def look(*_, **__): print('looked', file=sys.stderr); return real(*_, **__)\n"
        "real, Holders.look = Holders.look, look\n"
        "main(['scan', '--json'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (json.loads(done.stdout)["data"]["findings"], done.stderr) == ([], "")
    claude_session(own_world / "tmp")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (len(json.loads(done.stdout)["data"]["findings"]), done.stderr) == (1, "looked\n")
