"""A file that grows without limit is told of, its writer stopped or punched when told, and no other is touched."""

import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from processes.leftovers import SESSION, WAIT, carrying, program
from processes.test_punch import asked
from support.command import data, tmpwarden
from support.mounts import tmpfs
from support.user import UID
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.lifecycle import braking
from tmpwarden.model.processes import GrowingFile, Limits, Sampled, Writer
from tmpwarden.model.sweep import Space
from tmpwarden.oskit.system.linux.reading import read_whole
from tmpwarden.processes import runaway

MB = 1 << 20
# Appends as fast as it can up to so many megabytes, then 5 a second: a slow test still finds room.
FILLS = """
import os, sys, time
path, soon = sys.argv[1], int(sys.argv[2])
out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
print(os.getpid(), flush=True)
block = b"x" * (1 << 20)
while True:
    os.write(out, block)
    if os.fstat(out).st_size > soon << 20:
        time.sleep(0.2)
"""


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def is_stopped(pid: int) -> bool:
    line = read_whole(f"/proc/{pid}/stat") or b""
    return line[line.rfind(b")") + 2 : line.rfind(b")") + 3] == b"T"


@pytest.fixture
def small_root(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("needs root to mount")
    with tmpfs(own_world / "small", "256m") as path:
        monkeypatch.setenv("TMPWARDEN_ROOTS", str(path))
        yield path


def test_a_writer_of_nobodys_session_is_told_of_and_left_alone(tmp_path: Path, small_root: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text('[brake]\nmax_file = "20M"\naction = "end"\n')
    words = ["node", "fill.py", str(small_root / "out.log"), "40"]
    with program(tmp_path, words, {"PATH": os.environ["PATH"]}, FILLS) as writer:
        done = tmpwarden("brake", "--for", "3s", "--config", str(config))
        assert "warning" in done.stderr
        assert writer.is_alive()
        assert not is_stopped(writer.pid)


def test_punching_gives_back_all_but_the_end_and_the_writer_goes_on(tmp_path: Path, small_root: Path) -> None:
    path = small_root / "out.log"
    with program(tmp_path, ["node", "fill.py", str(path), "120"], carrying(), FILLS) as writer:
        while path.stat().st_size < 110 * MB:
            time.sleep(0.01)
        before = path.stat()
        status, envelope = asked(path)
        assert status == 0, envelope
        assert envelope["data"]["freed_bytes"] >= 40 * MB
        after = path.stat()
        assert after.st_size >= before.st_size
        assert path.read_bytes()[-MB:] == b"x" * MB
        grown = path.stat().st_size
        while path.stat().st_size == grown:
            assert writer.is_alive()


def test_a_deleted_file_is_punched_by_its_descriptor(tmp_path: Path, small_root: Path) -> None:
    path = small_root / "gone.log"
    with program(tmp_path, ["node", "fill.py", str(path), "100"], carrying(), FILLS) as writer:
        while path.stat().st_size < 90 * MB:
            time.sleep(0.01)
        path.unlink()
        [found] = data("brake")["files"]
        assert found["deleted"] and found["writers"][0]["pid"] == writer.pid
        descriptors = [name for name in os.listdir(f"/proc/{writer.pid}/fd") if _leads_to(writer.pid, name, "gone.log")]
        status, envelope = asked(f"{writer.pid}:{descriptors[0]}")
        assert status == 0, envelope
        assert envelope["data"]["freed_bytes"] > 10 * MB


def _leads_to(pid: int, name: str, word: str) -> bool:
    return word in os.readlink(f"/proc/{pid}/fd/{name}")


@pytest.mark.parametrize("how", ["backwards", "mapped", "database"])
def test_what_is_still_needed_from_its_beginning_is_not_punched(tmp_path: Path, root: Path, how: str) -> None:
    path = root / "x.bin"
    if how == "database":
        sqlite3.connect(path).execute("create table t (x)").connection.commit()
        source = f"f = open({str(path)!r}, 'ab')\n"
    else:
        path.write_bytes(b"y" * MB)
        mode = "r+b" if how == "backwards" else "a+b"
        source = f"f = open({str(path)!r}, {mode!r})\n"
        source += "import mmap; m = mmap.mmap(f.fileno(), 0)\n" if how == "mapped" else "f.seek(10)\n"
    content = path.read_bytes()
    with program(tmp_path, ["node", "w.py"], carrying(), source + WAIT):
        status, envelope = asked(path)
        assert status == 3
        assert "needed" in envelope["error"]["message"]
    assert path.read_bytes() == content
    assert path.stat().st_blocks * 512 >= len(content)


def test_a_hole_is_punched_only_after_a_yes(tmp_path: Path, root: Path) -> None:
    with program(tmp_path, ["node", "w.py"], carrying(), f"f = open({str(root / 'l')!r}, 'ab')\n" + WAIT):
        assert tmpwarden("brake", "--punch", str(root / "l")).returncode == 4
    assert tmpwarden("brake", "--punch", str(root / "l"), "--yes").returncode == 5  # no process writes it


def test_one_of_another_user_is_neither_stopped_nor_ended(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    stranger = subprocess.Popen(["sleep", "60"], user=UID)
    try:
        assert tmpwarden("brake", "--stop", str(stranger.pid)).returncode == 7
        assert not is_stopped(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()


WRITER = Writer(1, 1, "yes", "s", None)
FREE = Space("/tmp", "tmpfs", 1000 * MB, 500 * MB, 0, 0, True)


def growing(bytes_: int, rate: float, session: str | None = "s") -> GrowingFile:
    file = Sampled("/tmp/x", False, 1, 2, bytes_, (Writer(1, 1, "yes", session, None),))
    return GrowingFile(file, rate, FREE.bytes_free / rate if rate else None, "/tmp")


def test_growth_is_told_by_what_was_gained_and_blocks_count() -> None:
    file = Sampled("/tmp/x", False, 1, 2, 300 * MB, (WRITER,))
    [one] = runaway.growth({(1, 2): 100 * MB}, [file], 2.0, [FREE])
    assert one.bytes_per_s == 100 * MB
    assert one.seconds_to_full == 5.0
    assert "fills /tmp in about 5 s" in runaway.sentence(one)
    assert runaway.is_runaway(one)
    [new] = runaway.growth({}, [file], 2.0, [FREE])  # first seen: nothing is known of its growth
    assert not new.is_growing


@pytest.mark.parametrize(
    ("limits", "over"),
    [
        (Limits(max_file_bytes=99 * MB), "max_file"),
        (Limits(max_file_bytes=101 * MB), None),
        (Limits(max_session_bytes=99 * MB), "max_session"),
        (Limits(min_free_percent=51), "min_free"),
        (Limits(min_free_percent=49), None),
        (Limits(), None),
    ],
)
def test_only_what_a_limit_speaks_of_is_a_breach(limits: Limits, over: str | None) -> None:
    found = runaway.breaches([growing(100 * MB, 1.0)], limits, [FREE])
    assert [breach.limit.split()[0] for breach in found] == ([over] if over else [])
    assert runaway.breaches([growing(100 * MB, 0.0)], limits, [FREE]) == ()  # it does not grow any more


def test_a_writer_without_a_session_is_never_braked() -> None:
    [breach] = runaway.breaches([growing(100 * MB, 1.0, None)], Limits(max_file_bytes=1), [FREE])
    assert breach.writers == ()


def test_a_stopped_writer_can_be_ended(tmp_path: Path, root: Path) -> None:
    with program(tmp_path, ["node", "w.py"], carrying()) as writer:
        start = braking.procs.start_ticks(writer.pid)
        assert start is not None
        assert braking.stop(writer.pid, start, "node")
        assert braking.end(writer.pid, start, "node") == "ended"
        assert not writer.is_alive(for_s=5)


def test_the_first_look_of_a_timer_applies_a_limit_that_is_passed(tmp_path: Path, small_root: Path) -> None:
    from tmpwarden.catalogue.settings import Settings

    (Path(os.environ["XDG_STATE_HOME"]) / "tmpwarden").mkdir(mode=0o700)
    open_scratch(str(small_root), "claude", SESSION, pid=os.getpid())
    limited = Settings(brake_max_file_bytes=20 * MB, brake_action="stop")
    with program(tmp_path, ["node", "fill.py", str(small_root / "out.log"), "40"], carrying(), FILLS) as writer:
        path = small_root / "out.log"
        while path.stat().st_size < 40 * MB:
            time.sleep(0.01)
        told = braking.look_since_last_time(limited, may_act=True)
        assert f"stopped {writer.pid}: over max_file 20.0 MB" in told
        while not is_stopped(writer.pid):  # a signal arrives when its process is next on a processor
            assert writer.is_alive(for_s=0.01)
