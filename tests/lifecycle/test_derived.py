"""`[worktrees] derived_only`: the timer takes what can be made again out of agents' worktrees that nobody uses."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.command import data
from support.holding import process
from support.repos import git
from tmpwarden.lifecycle.derived import take_derived
from tmpwarden.sweep.weigh import consent
from worktrees import shapes

TICK = Path(__file__).parents[2] / "src" / "tmpwarden" / "lifecycle" / "tick.py"
AHEAD = Path(__file__).parents[1] / "support" / "ahead.py"
DAY_S = 86400


def later(days: float) -> Callable[[], int]:
    return lambda: time.time_ns() + int(days * DAY_S * 10**9)


def config(world: Path, text: str) -> None:
    path = world / "config" / "tmpwarden" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


@pytest.fixture
def tree(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A worktree with packages in a place of an agent's, and unfinished work beside them."""
    monkeypatch.delenv("TMPWARDEN_ROOTS")
    monkeypatch.setattr("tmpwarden.oskit.files.places._COMMON_ROOTS", ())
    config(own_world, '[worktrees]\nderived_only = "14d"\n')
    consent.give()
    made = shapes.with_derived_files(own_world)
    place = own_world / "home" / ".codex" / "worktrees" / "1a2b"
    place.mkdir(parents=True)
    git(own_world / "project", "worktree", "move", str(made), str(place / "project"))
    (place / "project" / "file").write_text("work in progress")
    return place / "project"


def is_there(tree: Path) -> tuple[bool, bool]:
    return (tree / "node_modules").exists(), (tree / "file").read_text() == "work in progress"


def test_after_the_days_packages_go_and_work_stays(tree: Path) -> None:
    assert take_derived(now_ns=later(13)) == ""
    assert is_there(tree) == (True, True)
    said = take_derived(now_ns=later(15))
    assert is_there(tree) == (False, True)
    assert said.startswith("moved build products and packages of 1 worktree, ")
    data("undo")
    assert is_there(tree) == (True, True)


def test_off_a_run_takes_nothing(tree: Path, own_world: Path) -> None:
    config(own_world, "")
    assert take_derived(now_ns=later(400)) == ""
    assert is_there(tree) == (True, True)


def test_it_looks_once_a_day(tree: Path) -> None:
    take_derived(now_ns=later(13.9))
    assert take_derived(now_ns=later(14.5)) == "", "the next look is due a day later"
    assert take_derived(now_ns=later(15)) != ""


def test_a_look_that_takes_too_long_goes_on_behind_the_last_one_in_the_next_run(tree: Path, own_world: Path) -> None:
    first = own_world / "home" / ".codex" / "worktrees" / "0a0b" / "project"
    git(own_world / "project", "worktree", "add", "-q", "-b", "first", str(first))
    assert take_derived(now_ns=later(15), look_s=0) == ""
    assert is_there(tree) == (True, True)
    assert take_derived(now_ns=later(15), look_s=0) != "", "not a day later"
    assert is_there(tree) == (False, True)


def a_worktree_of_a_person(tree: Path) -> Path:
    git(tree, "worktree", "move", str(tree), str(tree.parents[3] / "mine"))
    return tree.parents[3] / "mine"


def test_a_persons_own_worktree_is_left_alone(tree: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = a_worktree_of_a_person(tree)
    monkeypatch.chdir(own_world / "project")  # whose list names it
    assert [each["path"] for each in data("worktrees")["worktrees"]] == [str(mine)]
    assert take_derived(now_ns=later(15)) == ""
    assert is_there(mine) == (True, True)


def test_one_that_somebody_works_in_is_left_alone(tree: Path) -> None:
    with process("import os, sys; os.chdir(sys.argv[1])\n", str(tree)):
        assert take_derived(now_ns=later(15)) == ""
    assert is_there(tree) == (True, True)


def test_nothing_that_is_older_than_us_goes_before_a_person_has_confirmed_a_clean(tree: Path, own_world: Path) -> None:
    (own_world / "state" / "tmpwarden" / "consent").unlink()
    assert take_derived(now_ns=later(15)) == ""
    assert is_there(tree) == (True, True)


def test_settings_that_cannot_be_read_keep_everything(tree: Path, own_world: Path) -> None:
    config(own_world, '[worktrees]\nderived_only = "14d"\n[quarantine]\nkeep = 7\n')
    assert take_derived(now_ns=later(15)) == ""
    assert is_there(tree) == (True, True)


def test_the_timer_does_it(tree: Path) -> None:
    ahead = [sys.executable, str(AHEAD), str(15 * DAY_S), str(TICK)]
    ran = subprocess.run(ahead, capture_output=True, text=True, check=True, timeout=120)
    assert is_there(tree) == (False, True), ran.stderr
    assert "moved build products and packages of 1 worktree" in ran.stdout
