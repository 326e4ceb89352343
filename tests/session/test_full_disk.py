"""A full disk: entering fails with one clear error and leaves nothing behind; leaving always works."""

import os
from pathlib import Path

import pytest

import tmpwarden
from support.mounts import fill_bytes, fill_inodes, needs_root, tmpfs
from support.program import Programs
from tmpwarden.errors import NoSpace

pytestmark = needs_root


def test_entering_without_a_free_inode_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "disk", inodes=32) as disk:
        fill_inodes(disk)
        before = sorted(os.listdir(disk))
        with pytest.raises(NoSpace) as full, tmpwarden.session("mycli", tmp=disk):
            pytest.fail("entered")
        assert str(full.value) == f"cannot create temporary files in {disk}/mycli-0: no space left on device"
        assert "tmpwarden doctor" in full.value.hint
        assert sorted(os.listdir(disk)) == before


@pytest.mark.parametrize("free", [1, 2, 3])
def test_with_too_few_inodes_for_all_of_it_nothing_is_left_either(tmp_path: Path, free: int) -> None:
    with tmpfs(tmp_path / "disk", inodes=32) as disk:
        fill_inodes(disk)
        for number in range(free):
            (disk / f"inode-filler-{number}").unlink()
        before = sorted(os.listdir(disk))
        try:
            with tmpwarden.session("mycli", tmp=disk):
                assert free >= 3  # root, directory, lease
        except NoSpace:
            assert free < 3
            assert sorted(os.listdir(disk)) == before


def test_entering_without_a_free_byte_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "disk", size="1m") as disk:
        fill_bytes(disk)
        with pytest.raises(NoSpace), tmpwarden.session("mycli", tmp=disk):
            pytest.fail("entered")
        assert os.listdir(disk) == ["filler"]


def test_leaving_works_on_a_disk_that_has_become_full(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "disk", size="1m", inodes=64) as disk:
        with tmpwarden.session("mycli", tmp=disk) as s:
            report = s.hand_over("report")
            fill_bytes(Path(s.path))
            fill_inodes(Path(s.path))
            with pytest.raises(NoSpace):
                s.file("more")
            with pytest.raises(NoSpace):
                s.dir("more")
            with pytest.raises(NoSpace):
                s.hand_over("more")
        assert os.listdir(disk / "mycli-0") == ["out"]
        assert os.path.exists(report)
        with tmpwarden.session("mycli", tmp=disk):
            pass


def test_what_a_killed_run_filled_is_cleared_before_the_next_one_needs_the_room(programs: Programs) -> None:
    with tmpfs(programs.tmp, size="1m", inodes=64) as disk:
        source = """
import os, tmpwarden
with tmpwarden.session("mycli") as s:
    with open(s.file("big"), "wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096): pass
        except OSError: os.kill(os.getpid(), 9)
"""
        assert programs.run(source).returncode == -9
        assert os.statvfs(disk).f_bfree == 0
        result = programs.run('import tmpwarden\nwith tmpwarden.session("mycli") as s: s.file("a")')
        assert (result.returncode, result.stderr) == (0, "")
        assert programs.sessions() == []
