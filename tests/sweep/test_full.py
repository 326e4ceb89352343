"""A full file system: nothing can be created, and clean must work on its very first run and free it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.holding import process
from support.litter import claude_session, cwd_markers, later
from support.mounts import ext4, fill_bytes, fill_inodes, needs_root, tmpfs
from support.windows import strike
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import clean, prepare, scan
from tmpwarden.sweep.explain import explain
from tmpwarden.sweep.store.journal import entries
from tmpwarden.sweep.take import act

pytestmark = needs_root


def free_bytes(path: Path) -> int:
    return os.statvfs(path).f_bavail * os.statvfs(path).f_frsize


def test_a_tmpfs_without_a_free_byte_is_freed(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="4m") as root:
        unit = claude_session(root, files=50)
        cwd_markers(root, 20)
        fill_bytes(root)
        request = Request(roots=(str(root),), quarantine=False)
        assert free_bytes(root) == 0
        assert len(list(scan(request, now_ns=later(100)))) == 2
        assert explain(str(unit), prepare(request, now_ns=later(100))).verdict
        result = clean(request, now_ns=later(100))
        assert result.failed == []
        assert not unit.exists()
        assert list(root.glob("claude-*-cwd")) == []
        assert free_bytes(root) > 100_000


def test_a_tmpfs_without_a_free_inode_is_freed(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="8m", inodes=400) as root:
        unit = claude_session(root, files=50)
        cwd_markers(root, 20)
        fill_inodes(root)
        request = Request(roots=(str(root),), quarantine=False)
        assert os.statvfs(root).f_favail == 0
        result = clean(request, now_ns=later(100))
        assert result.failed == []
        assert not unit.exists()
        assert os.statvfs(root).f_favail >= 70


@pytest.mark.parametrize("fill", [fill_bytes, fill_inodes])
def test_where_only_a_tree_can_go_it_goes_in_place(tmp_path: Path, fill: object) -> None:
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root:
        unit = claude_session(root, files=50)
        fill(root)  # type: ignore[operator]
        result = clean(Request(roots=(str(root),)), now_ns=later(100))
        assert not unit.exists()
        assert result.failed == []


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """One ext4 that holds home, state and temp alike."""
    with ext4(tmp_path / "disk", tmp_path / "image") as disk:
        for name in ("home", "tmp"):
            (disk / name).mkdir(mode=0o700)
        monkeypatch.setenv("HOME", str(disk / "home"))
        for name in ("STATE", "CONFIG", "DATA", "CACHE"):
            monkeypatch.delenv(f"XDG_{name}_HOME")
        yield disk


def test_one_full_ext4_that_holds_home_and_temp_alike(disk: Path) -> None:
    root = disk / "tmp"
    unit = claude_session(root, files=200)
    markers = cwd_markers(root, 50)
    fill_bytes(disk)
    request = Request(roots=(str(root),))
    assert free_bytes(disk) == 0
    assert len(list(scan(request, now_ns=later(100)))) == 2
    result = clean(request, now_ns=later(100))
    assert not any(marker.exists() for marker in markers)
    assert free_bytes(disk) > 0
    assert not unit.exists(), [r.detail for r in result.failed]
    assert (disk / "home/.local/state/tmpwarden/journal.jsonl").exists(), "room was made for the journal first"


def test_what_may_be_worth_something_stays_while_its_removal_cannot_be_written_down(disk: Path) -> None:
    """There is room on the disk, so that nothing has to be destroyed to make some."""
    unit = claude_session(disk / "tmp", files=20)
    (disk / "home" / ".local").write_text("a file where our directory should be")
    (disk / "tmp" / f"tmpwarden-{os.geteuid()}").write_text("and here")
    result = clean(Request(roots=(str(disk / "tmp"),)), now_ns=later(100))
    assert unit.exists()
    assert [r.reason.value for r in result.failed] == ["journal-cannot-be-written"]


def test_who_begins_to_use_a_tree_before_it_goes_in_place_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No quarantine can be made, so there is no last look afterwards: it comes right before."""
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root, ExitStack() as stack:
        unit = claude_session(root, files=50)
        fill_inodes(root)
        somebody = process("", cwd=unit)
        strike(monkeypatch, act, "judged, to be removed in place", lambda: stack.enter_context(somebody))
        result = clean(Request(roots=(str(root),)), now_ns=later(100))
        assert len(list(unit.rglob("*.output"))) == 50
        assert [receipt.reason.value for receipt in result.spared] == ["working-directory"]


def test_names_tell_of_a_tree_where_the_journal_fills_up_before_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal could be written when the run began, and cannot now; nor is there an inode for a label on a disk.
    A rename needs none: what goes carries its label, and the journal tells of it as soon as there is room."""
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root, tmpfs(tmp_path / "s", size="1m", inodes=300) as state:
        monkeypatch.setenv("XDG_STATE_HOME", str(state))
        unit = claude_session(root, files=50)
        fill_inodes(root)

        def fill_it_up() -> None:
            (state / "tmpwarden" / "reserve").unlink()
            fill_bytes(state)
            with (state / "tmpwarden" / "journal.jsonl").open("ab", buffering=0) as journal:
                journal.write(b" " * 4096)  # the rest of its last page
            fill_inodes(state)

        strike(monkeypatch, act, "judged, to be removed in place", fill_it_up)
        result = clean(Request(roots=(str(root),)), now_ns=later(100))
        assert (result.failed, unit.exists()) == ((), False)
        for each in state.iterdir():
            if each.is_file():
                each.unlink()
        clean(Request(roots=(str(root),)), now_ns=later(100))
        assert str(unit) in {entry["path"] for entry in entries(str(state / "tmpwarden"), "receipt")}


FEW_DESCRIPTORS = """
import resource, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, tuple(map(int, sys.argv[1:])))
from tmpwarden.sweep.compose import clean
result = clean(now_ns=lambda: time.time_ns() + 10**15)
failed = sum(each.outcome.value == "failed" for each in result.receipts)
print(len(result.removed), len(result.kept), failed, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize("limits", [("100", "1024"), ("64", "64")], ids=["it may raise that", "it may not"])
@pytest.mark.parametrize("slug", ["-p{}", "-p"], ids=["each in a directory of its own", "all in one"])
def test_a_program_that_may_open_few_files_takes_as_much_as_any_other(
    own_world: Path, limits: tuple[str, str], slug: str
) -> None:
    """As on macOS, and in services: a unit is held until its group is taken, its directory until the last look. Where
    the limit is ours to raise it is raised, so that a group is as big as on Linux; else groups are smaller."""
    units = [claude_session(own_world / "tmp", slug=slug.format(number), files=1) for number in range(120)]
    ran = subprocess.run([sys.executable, "-c", FEW_DESCRIPTORS, *limits], capture_output=True, text=True, check=True)
    assert [unit for unit in units if unit.exists()] == [], ran.stdout
    assert ran.stdout.split()[1:] == ["0", "0", limits[1]]
