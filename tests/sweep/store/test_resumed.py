"""A removal in place that was cut short is finished by the next run, and spares what came meanwhile."""

import os
from pathlib import Path

import pytest

from support.litter import claude_session, later
from support.mounts import fill_inodes, needs_root, tmpfs
from tmpwarden.model.request import Request
from tmpwarden.oskit.files import inplace
from tmpwarden.sweep.compose import clean

pytestmark = needs_root


class Cut(BaseException):
    """As a kill would end it: no handler of ours sees it."""


def cut_short(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run `clean` on a root where nothing can be made, and end it after a few members are gone."""
    seen = []

    def on_window(here: str) -> None:
        seen.append(here)
        if seen.count("judged, not yet compared") > 5:
            raise Cut

    monkeypatch.setattr(inplace, "_race_window", on_window)
    with pytest.raises(Cut):
        clean(Request(roots=(str(root),)), now_ns=later(100))
    monkeypatch.setattr(inplace, "_race_window", lambda _: None)


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
