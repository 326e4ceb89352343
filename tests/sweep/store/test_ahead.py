"""What a full disk needs is made while there is room, by whatever command comes first."""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from support.command import answer
from support.mounts import fill_bytes, needs_root, tmpfs


def quarantine_of(root: Path) -> Path:
    return root / f"tmpwarden-{os.geteuid()}" / "q"


@pytest.mark.parametrize(
    "words", [("scan",), ("status",), ("setup", "--yes", "--no-timer")], ids=lambda words: words[0]
)
def test_the_first_command_makes_the_quarantine_and_the_reserve(own_world: Path, words: tuple[str, ...]) -> None:
    status, said = answer(*words)
    assert status == 0, said
    assert quarantine_of(own_world / "tmp").is_dir()
    assert (own_world / "state" / "tmpwarden" / "reserve").stat().st_blocks * 512 >= 256 << 10
    assert list(quarantine_of(own_world / "tmp").iterdir()) == []


def test_a_preview_makes_nothing(own_world: Path) -> None:
    before = sorted(own_world.rglob("*"))
    assert answer("setup", "--dry-run")[0] == 0
    assert sorted(own_world.rglob("*")) == before


def test_nothing_is_made_in_a_directory_that_was_only_named(own_world: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for command in ("scan", "status"):
        assert answer("--root", str(other), command)[0] == 0
    assert list(other.iterdir()) == []


@needs_root
@pytest.mark.parametrize("command", ["scan", "status"])
@pytest.mark.parametrize("what", ["full", "read-only"])
def test_where_nothing_can_be_made_the_command_works_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, command: str
) -> None:
    """And the last bytes of a disk are left to those who need them now."""
    with tmpfs(tmp_path / "disk", size="5m") as disk:
        (disk / "tmp").mkdir()
        (disk / "state").mkdir()
        monkeypatch.setenv("TMPWARDEN_ROOTS", str(disk / "tmp"))
        monkeypatch.setenv("XDG_STATE_HOME", str(disk / "state"))
        if what == "full":
            (disk / "film").write_bytes(bytes(2 << 20))  # 3 MB are free
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        status, said = answer(command)
        assert status == 0, said
        assert list((disk / "tmp").iterdir()) == list((disk / "state").iterdir()) == []
        if what == "full":
            with contextlib.suppress(OSError):
                fill_bytes(disk)
            assert answer(command)[0] == 0


@needs_root
def test_a_quarantine_that_is_squatted_breaks_no_look(own_world: Path) -> None:
    (own_world / "tmp" / f"tmpwarden-{os.geteuid()}").write_text("not a directory")
    for command in ("scan", "status"):
        assert answer(command)[0] == 0
    assert (own_world / "state" / "tmpwarden" / "reserve").exists()
