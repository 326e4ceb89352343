"""A removal in place that was cut short is finished by the next run, and spares what came meanwhile."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.command import tmpwarden
from support.holding import process
from support.litter import claude_session, later, snapshot
from support.mounts import fill_inodes, needs_root, tmpfs
from support.users import IN_FLIGHT
from support.windows import strike
from tmpwarden.model.request import Request
from tmpwarden.oskit.files import inplace
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store.journal import Journal
from tmpwarden.sweep.take import taking

pytestmark = [needs_root, pytest.mark.disk]


class Cut(BaseException):
    """As a kill would end it: no handler of ours sees it."""


def die() -> None:
    raise Cut


def cut_short(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run `clean` on a root where nothing can be made, and end it after a few members are gone."""
    strike(monkeypatch, inplace, "judged, not yet compared", die, nth=6)
    with pytest.raises(Cut):
        clean(Request(roots=(str(root),)), now_ns=later(100))


def test_it_is_finished_by_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root:
        unit = claude_session(root, files=50)
        fill_inodes(root)
        cut_short(root, monkeypatch)
        assert unit.exists()
        fill_inodes(root)
        clean(Request(roots=(str(root),)), now_ns=later(0.001))  # too soon for any age to be reached
        assert not unit.exists()


def test_another_unit_of_that_name_and_inode_is_spared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ext4 hands an inode number out again at once; here the unit itself stays, with a new member."""
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root:
        unit = claude_session(root, files=50)
        fill_inodes(root)
        cut_short(root, monkeypatch)
        os.close(os.open(unit / "new", os.O_CREAT | os.O_WRONLY, 0o600))
        clean(Request(roots=(str(root),)), now_ns=later(0.001))
        assert (unit / "new").exists()


def test_what_somebody_holds_unseen_is_not_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A descriptor in flight: no process has it open, so only the kernel knows."""
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root:
        unit = claude_session(root, files=50)
        fill_inodes(root)
        cut_short(root, monkeypatch)
        left = sorted(unit.rglob("*.output"))
        assert 0 < len(left) < 50
        with process(IN_FLIGHT, str(left[-1])):
            clean(Request(roots=(str(root),)), now_ns=later(0.001))
            assert sorted(unit.rglob("*.output")) == left


def test_an_older_directory_that_took_the_name_is_spared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of its dates tells: only that it is another."""
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root:
        (root / "older").mkdir()
        (root / "older" / "precious").write_text("x")
        unit = claude_session(root, files=50)
        fill_inodes(root)
        cut_short(root, monkeypatch)
        unit.rename(root / "moved")
        (root / "older").rename(unit)
        clean(Request(roots=(str(root),)), now_ns=later(0.001))
        assert (unit / "precious").exists()


def kept_by_a_command(own_world: Path, unit: Path) -> contextlib.AbstractContextManager[object]:
    assert tmpwarden("keep", str(unit)).returncode == 0
    return contextlib.nullcontext()


def perhaps_kept_by_a_config_that_is_broken(own_world: Path, unit: Path) -> contextlib.AbstractContextManager[object]:
    (own_world / "config" / "tmpwarden").mkdir()
    (own_world / "config" / "tmpwarden" / "config.toml").write_text(f'[keep]\npaths = ["{unit}"\n')
    return contextlib.nullcontext()


def gone_on_with(own_world: Path, unit: Path) -> contextlib.AbstractContextManager[object]:
    return process("", env={"CLAUDE_CODE_SESSION_ID": unit.name})


@pytest.mark.parametrize("how", [kept_by_a_command, perhaps_kept_by_a_config_that_is_broken, gone_on_with])
def test_what_is_kept_or_used_since_is_not_gone_on_with(
    own_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Callable[..., Any]
) -> None:
    """Also where not one member had gone yet: only the intent says that it was begun."""
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root:
        unit = claude_session(root, files=50)
        before = snapshot(unit)
        fill_inodes(root)
        strike(monkeypatch, inplace, "judged, not yet opened", die)
        with pytest.raises(Cut):
            clean(Request(roots=(str(root),)), now_ns=later(100))
        with how(own_world, unit):
            clean(Request(roots=(str(root),)), now_ns=later(0.001))
        assert snapshot(unit) == before


def hard_linked_session(root: Path) -> Path:
    """As uv, pnpm and local clones make it: most files have two names in it."""
    unit = claude_session(root, files=30)
    (unit / "links").mkdir()
    for path in sorted((unit / "tasks").iterdir()):
        os.link(path, unit / "links" / path.name)
    return unit


@pytest.mark.parametrize("again", [0, 1], ids=["cut short once", "cut short twice"])
def test_one_with_hard_links_inside_is_finished_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: int
) -> None:
    """What went had other names, and those look changed now: by us."""
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root:
        unit = hard_linked_session(root)
        fill_inodes(root)
        for _ in range(again + 1):
            cut_short(root, monkeypatch)
        left = [path for path in unit.rglob("*") if path.is_file()]
        assert {path.stat().st_nlink for path in left} == {1, 2}
        fill_inodes(root)
        clean(Request(roots=(str(root),)), now_ns=later(0.001))
        assert not unit.exists()


@pytest.mark.parametrize("what", ["written", "replaced", "brought in"])
def test_a_linked_file_that_is_another_since_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root:
        unit = hard_linked_session(root)
        (root / "mine").write_text("precious")
        os.utime(root / "mine", ns=(1_500_000_000 * 10**9,) * 2)
        fill_inodes(root)
        cut_short(root, monkeypatch)
        left = next(path for path in unit.rglob("*") if path.is_file() and path.stat().st_nlink == 1)
        if what == "written":
            left.write_text("precious")
        else:
            os.rename(root / "mine", left if what == "replaced" else left.with_name("new"))
        clean(Request(roots=(str(root),)), now_ns=later(0.001))
        assert "precious" in [path.read_text() for path in unit.rglob("*") if path.is_file()]


def test_one_with_more_links_than_can_be_written_down_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root:
        unit = hard_linked_session(root)
        before = snapshot(unit)
        fill_inodes(root)
        monkeypatch.setattr(inplace, "MOST_LINKS", 29)
        result = clean(Request(roots=(str(root),)), now_ns=later(100))
        assert snapshot(unit) == before
        assert ["too many hard links" in each.detail for each in result.failed] == [True]
        monkeypatch.setattr(inplace, "MOST_LINKS", 30)
        clean(Request(roots=(str(root),)), now_ns=later(100))
        assert not unit.exists()


def test_where_the_marks_cannot_be_written_down_it_stays_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is worth nothing: half of it would stay after a kill."""
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root:
        unit = hard_linked_session(root)
        before = snapshot(unit)
        fill_inodes(root)
        monkeypatch.setattr(taking, "Worth", SimpleNamespace(SOME=object()))  # as if it were worth nothing
        intend = Journal.intend
        monkeypatch.setattr(Journal, "intend", lambda self, intent: not intent.links and intend(self, intent))
        clean(Request(roots=(str(root),)), now_ns=later(100))
        assert snapshot(unit) == before
