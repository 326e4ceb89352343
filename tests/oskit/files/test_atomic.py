"""Files are whole or not there, and a full disk does not silence us."""

import errno
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from support.aged import mode
from support.mounts import ext4, fill_bytes, fill_inodes, needs_root, tmpfs
from tmpwarden.oskit.files import atomic as mod
from tmpwarden.oskit.files.atomic import Reserve, append_line, write


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_a_file_is_0600_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    os.umask(mask)
    write(str(tmp_path / "f"), b"one")
    write(str(tmp_path / "g"), "two", 0o644, durable=True)
    assert (mode(tmp_path / "f"), mode(tmp_path / "g")) == (0o600, 0o644)
    assert sorted(os.listdir(tmp_path)) == ["f", "g", "world"]


def test_a_link_at_the_name_is_replaced_and_its_target_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    os.symlink("victim", tmp_path / "f")
    write(str(tmp_path / "f"), "new")
    assert (tmp_path / "victim").read_text() == "precious" and not (tmp_path / "f").is_symlink()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(OSError, match="directory"):
        write(str(tmp_path / "f"), "new")
    assert sorted(os.listdir(tmp_path)) == ["f", "world"]


def test_undecodable_names_are_written_as_they_were_read(tmp_path: Path) -> None:
    write(str(tmp_path / "f"), "bad\udcff")
    assert (tmp_path / "f").read_bytes() == b"bad\xff"


def test_lines_of_many_processes_never_mix(tmp_path: Path) -> None:
    source = (
        "import sys; sys.path.insert(0, sys.argv[3])\nfrom tmpwarden.oskit.files.atomic import append_line\n"
        "for n in range(200): append_line(sys.argv[1], sys.argv[2] * 300)"
    )
    library = str(Path(mod.__file__).parents[3])
    writers = [
        subprocess.Popen([sys.executable, "-I", "-c", source, tmp_path / "log", letter, library]) for letter in "abcd"
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    lines = (tmp_path / "log").read_text().split()  # an empty line may stand where two met
    assert len(lines) == 800 and {len(set(line)) for line in lines} == {1}
    assert mode(tmp_path / "log") == 0o600


def test_a_line_after_a_torn_one_starts_on_its_own(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("whole\nto")
    append_line(str(tmp_path / "log"), "next\n")
    assert (tmp_path / "log").read_text() == "whole\nto\nnext\n"


def test_a_log_that_is_a_link_is_refused(tmp_path: Path) -> None:
    os.symlink(tmp_path / "victim", tmp_path / "log")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        append_line(str(tmp_path / "log"), "x")
    assert not (tmp_path / "victim").exists()


@needs_root
@pytest.mark.parametrize("what", ["bytes", "inodes"])
@pytest.mark.parametrize("file_system", ["tmpfs", "ext4"])
def test_the_reserve_lets_us_write_on_a_full_disk(tmp_path: Path, what: str, file_system: str) -> None:
    if file_system == "ext4":
        mounted = ext4(tmp_path / "full", tmp_path / "image", megabytes=8)
    else:
        mounted = tmpfs(tmp_path / "full", size="2m", inodes=100)
    with mounted as full:
        reserve = Reserve(str(full / "reserve"), 64 * 1024)
        assert reserve.refill()
        append_line(str(full / "log"), "first")
        fill_bytes(full) if what == "bytes" else fill_inodes(full)
        with pytest.raises(OSError, match="space"):
            write(str(full / "state"), "x" * 5000)
        assert reserve.give_up()
        write(str(full / "state"), "x" * 5000)
        append_line(str(full / "log"), "y" * 3000)
        assert (full / "state").stat().st_size == 5000
        assert (full / "log").read_text() == "first\n" + "y" * 3000 + "\n"
        (full / "filler").unlink(missing_ok=True)
        for filler in list(full.glob("inode-filler-*"))[:5]:
            filler.unlink()
        assert reserve.refill() and (full / "reserve").stat().st_blocks * 512 >= 64 * 1024


@needs_root
def test_a_line_that_does_not_fit_is_an_error_and_not_half_a_success(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "full", size="64k") as full:
        append_line(str(full / "log"), "first")
        fill_bytes(full)
        with pytest.raises(OSError, match="space"):
            append_line(str(full / "log"), "x" * 9000)
        (full / "filler").unlink()
        append_line(str(full / "log"), "last")
        assert (full / "log").read_text().splitlines()[-1] == "last"


@needs_root
def test_a_reserve_that_does_not_fit_is_no_error(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "full", size="64k") as full:
        assert not Reserve(str(full / "reserve"), 1 << 20).refill()
        assert not Reserve(str(full / "nowhere" / "reserve")).refill()
        assert not Reserve(str(full / "none")).give_up()


@pytest.mark.parametrize("kind", ["fifo", "device", "socket"])
def test_a_log_that_is_no_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    log = tmp_path / "log"
    if kind == "fifo":
        os.mkfifo(log)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(log))
    elif os.geteuid() != 0:
        pytest.skip("needs root to make a device")
    else:
        os.mknod(log, 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero: it would swallow every line
    with pytest.raises(OSError, match=r"is not a file|No such device"):
        append_line(str(log), "x")
    with pytest.raises(OSError, match=r"is not a file|No such device"), open(log, "rb", opener=mod.at_once):
        pass


def test_a_file_that_is_masked_by_dev_null_reads_as_empty(tmp_path: Path) -> None:
    (tmp_path / "masked").symlink_to("/dev/null")
    with open(tmp_path / "masked", "rb", opener=mod.at_once) as file:
        assert file.read() == b""
