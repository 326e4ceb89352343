"""`clean` ends with one question about the biggest groups that no row knows and nobody has used for long."""

import os
import sys
from pathlib import Path

import pytest

from support.command import LATER
from support.holding import process
from support.terminal import on_a_terminal
from tmpwarden.lazy_dataclass import replace
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import scan

DAYS_9 = 9 * 86400
HOLDS = "import sys; held = open(sys.argv[1])\n"


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def group(root: Path, name: str, count: int, each_bytes: int) -> list[Path]:
    units = [root / f"{name}-{number:04x}" for number in range(count)]
    for unit in units:
        unit.mkdir()
        (unit / "out").write_bytes(b"x" * each_bytes)
    return units


def clean(*words: str, answer: str = "", later_s: int = DAYS_9) -> tuple[int, str]:
    env = {**os.environ, "LATER_S": str(later_s)}
    return on_a_terminal(
        [sys.executable, str(LATER), "clean", *words], answer=answer, env=env, prompt="[y/N", columns=160
    )


def test_a_group_that_was_unused_for_long_is_asked_about_and_goes(root: Path) -> None:
    units, few = group(root, "orch", 30, 100_000), group(root, "few", 2, 10)
    status, shown = clean(answer="y")
    assert status == 0, shown
    assert f"{root}/orch-*: 30 items" in " ".join(shown.split()) and "unused for 9d" in shown
    assert "few" not in shown
    assert not any(unit.exists() for unit in units) and all(unit.exists() for unit in few)
    assert "tmpwarden undo" in shown


@pytest.mark.parametrize("answer", ["n", "^D"])
def test_no_leaves_it(root: Path, answer: str) -> None:
    units = group(root, "orch", 30, 100_000)
    status, shown = clean(answer=answer)
    assert (status, "orch" in shown, "[y/N" in shown) == (0, True, True), shown
    assert all(unit.exists() for unit in units)


def test_what_was_used_lately_or_is_in_use_is_not_offered(root: Path) -> None:
    units = group(root, "orch", 30, 100_000)
    assert "orch" not in clean(later_s=3600)[1]
    with process(HOLDS, str(units[0] / "out")):
        status, shown = clean(answer="y")
    assert status == 0 and "29 items" in shown
    assert units[0].exists() and not units[1].exists()


def test_a_run_that_does_not_ask_asks_nothing(root: Path) -> None:
    units = group(root, "orch", 30, 100_000)
    for words in (("--yes",), ("--dry-run",), ("--agent", "claude")):
        status, shown = clean(*words)
        assert status == 0 and "too?" not in shown
    assert all(unit.exists() for unit in units)


def test_a_group_does_not_take_what_is_recognised_with_it(root: Path) -> None:
    """`claude-*` would be the glob of some names that no row knows; claude's own directory is judged by its row."""
    units = [root / f"claude-notes-{word}" for word in ("alpha", "beta", "gamma")]
    for unit in units:
        unit.mkdir()
        (unit / "out").write_bytes(b"x" * 1_000_000)
    ours = root / f"claude-{os.geteuid()}" / "-p" / "5e551011-0000-4000-8000-000000000001" / "scratchpad"
    ours.mkdir(parents=True)
    (ours / "a").write_bytes(b"x")
    with process(HOLDS, str(ours / "a")):
        status, shown = clean(answer="y")
    assert status == 0, shown
    assert f"{root}/claude-*: 3 items" in " ".join(shown.split())
    assert (ours / "a").exists() and not any(unit.exists() for unit in units)


def test_of_a_named_group_only_what_nobody_recognises_is_judged(root: Path) -> None:
    unknown = root / "claude-notes-alpha"
    unknown.mkdir()
    session = root / f"claude-{os.geteuid()}" / "-p" / "5e551011-0000-4000-8000-000000000001"
    session.mkdir(parents=True)
    request = Request(words=(f"{root}/claude-*",), only_unknown=True)
    assert [verdict.finding.path for verdict in scan(request)] == [str(unknown)]
    assert len(list(scan(replace(request, only_unknown=False)))) > 1
