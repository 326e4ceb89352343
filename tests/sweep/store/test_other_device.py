"""`undo --to` another file system brings a unit back as it was, or not at all."""

import fcntl
import json
import os
import signal
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.litter import claude_session, in_quarantine, later
from support.mounts import fill_bytes, needs_root, tmpfs
from tmpwarden.errors import NameTaken, NotFound
from tmpwarden.model.request import Request
from tmpwarden.oskit.files import copying
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store import undo as mod
from tmpwarden.sweep.store.journal import Journal, restorable
from tmpwarden.sweep.store.undo import undo

pytestmark = needs_root
ACL = struct.pack(
    "<I" + "HHI" * 5, 2, 1, 6, 0xFFFFFFFF, 2, 4, 1234, 4, 0, 0xFFFFFFFF, 16, 4, 0xFFFFFFFF, 32, 0, 0xFFFFFFFF
)
HOLE_BYTES = 8 << 20
OTHER_ROW = Request(rows=("claude.cwd-marker",))  # settles, and takes nothing of what these tests make


@pytest.fixture
def unit(own_world: Path) -> Path:
    """With all that a plain copy loses."""
    unit = claude_session(own_world / "tmp")
    (unit / "one").write_text("linked")
    (unit / "deep").mkdir()
    os.link(unit / "one", unit / "deep" / "two")
    with (unit / "sparse").open("wb") as file:
        file.seek(HOLE_BYTES)
        file.write(b"end")
        file.truncate(2 * HOLE_BYTES)
    os.mkfifo(unit / "fifo", 0o640)
    here = os.getcwd()
    os.chdir(unit)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    os.chdir(here)
    (unit / "link").symlink_to("nowhere/at all")
    (unit / "shut").mkdir()
    (unit / "shut" / "file").write_text("x")
    os.setxattr(unit / "one", "user.note", b"kept")
    os.setxattr(unit / "shut" / "file", "system.posix_acl_access", ACL)
    (unit / "shut").chmod(0o500)
    (unit / "one").chmod(0o4711)
    os.utime(unit / "deep", ns=(10**18, 10**18))
    return unit


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    with tmpfs(tmp_path / "elsewhere", size="4m") as place:
        yield place


def description(top: Path) -> dict[str, object]:
    """Everything about a tree but its inode numbers, with names of one inode put together."""
    names: dict[int, list[str]] = {}
    for path in sorted(top.rglob("*")):
        names.setdefault(path.lstat().st_ino, []).append(str(path.relative_to(top)))
    told: dict[str, object] = {}
    for path in [top, *sorted(top.rglob("*"))]:
        status = path.lstat()
        is_link = stat.S_ISLNK(status.st_mode)
        told[str(path.relative_to(top))] = (
            oct(status.st_mode),
            status.st_mtime_ns,
            0 if path.is_dir() else status.st_size,
            names.get(status.st_ino),
            path.read_bytes() if stat.S_ISREG(status.st_mode) else os.readlink(path) if is_link else b"",
            {} if is_link else {name: os.getxattr(path, name) for name in os.listxattr(path)},
        )
    return told


def test_it_is_as_it_was(unit: Path, elsewhere: Path, own_world: Path) -> None:
    before = description(unit)
    clean(now_ns=later(100))
    (restored,) = undo(to=str(elsewhere))
    assert description(Path(restored.path)) == before
    assert (elsewhere / unit.name / "sparse").stat().st_blocks * 512 < HOLE_BYTES
    assert os.listdir(elsewhere) == [unit.name]
    assert in_quarantine(own_world / "tmp") == []
    assert restorable(str(own_world / "state" / "tmpwarden")) == {}


def test_where_there_is_no_room_nothing_of_it_appears_and_nothing_is_lost(
    unit: Path, elsewhere: Path, own_world: Path
) -> None:
    before = description(unit)
    clean(now_ns=later(100))
    fill_bytes(elsewhere)
    with pytest.raises(OSError, match="space"):
        undo(to=str(elsewhere))
    assert os.listdir(elsewhere) == ["filler"]
    undo()
    assert description(unit) == before


def test_a_copy_that_is_cut_off_anywhere_leaves_the_unit_where_it_is(
    unit: Path, elsewhere: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = description(unit)
    clean(now_ns=later(100))
    copy = copying._copy_file
    for number in range(1, 6):
        left = [number]

        def failing(*words: object, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise OSError(5, "Input/output error")
            copy(*words)  # type: ignore[arg-type]

        monkeypatch.setattr(copying, "_copy_file", failing)
        with pytest.raises(OSError, match="Input/output"):
            undo(to=str(elsewhere))
        assert os.listdir(elsewhere) == []
    monkeypatch.setattr(copying, "_copy_file", copy)
    undo()
    assert description(unit) == before


def test_a_name_that_is_taken_meanwhile_is_not_overwritten(
    unit: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = description(unit)
    clean(now_ns=later(100))
    monkeypatch.setattr(mod, "_race_window", lambda _: (elsewhere / unit.name).write_text("successor"))
    with pytest.raises(NameTaken):
        undo(to=str(elsewhere))
    assert [path.read_text() for path in elsewhere.iterdir()] == ["successor"]
    undo()
    assert description(unit) == before


def test_what_is_written_while_it_is_copied_is_not_lost(
    unit: Path, elsewhere: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean(now_ns=later(100))
    copy = copying.copy

    def copy_and_write(*words: object) -> int:
        copied = copy(*words)  # type: ignore[arg-type]
        (taken,) = in_quarantine(own_world / "tmp")
        (taken / "one").write_text("fresh")
        return copied

    monkeypatch.setattr(copying, "copy", copy_and_write)
    with pytest.raises(OSError, match="changed while it was copied"):
        undo(to=str(elsewhere))
    undo()
    assert (unit / "one").read_text() == "fresh" and os.listdir(elsewhere) == []


def killed_while_it_copies(elsewhere: Path) -> Path:
    """What an undo leaves that is killed with its copy made and not in place."""
    child = os.fork()
    if child == 0:
        mod._race_window = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
        undo(to=str(elsewhere))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    (left,) = elsewhere.iterdir()
    return left


@pytest.mark.parametrize("by", ["clean", "undo"])
def test_what_a_killed_one_left_is_removed_by_the_next_run(unit: Path, elsewhere: Path, by: str) -> None:
    before = description(unit)
    clean(now_ns=later(100))
    killed_while_it_copies(elsewhere)
    if by == "clean":
        clean(OTHER_ROW, now_ns=later(1))
        assert os.listdir(elsewhere) == []
    undo()
    assert description(unit) == before and os.listdir(elsewhere) == []


@contextmanager
def locked(place: Path) -> Iterator[None]:
    fd = os.open(place, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def test_a_copy_that_is_being_made_is_left_to_who_makes_it(unit: Path, elsewhere: Path) -> None:
    clean(now_ns=later(100))
    left = killed_while_it_copies(elsewhere)
    with locked(left):
        clean(OTHER_ROW, now_ns=later(1))
        assert os.listdir(left) == [unit.name]


@pytest.mark.parametrize("name", ["project", ".tmpwarden-0123", ".tmpwarden-0123456789abcdef"])
def test_an_edited_line_removes_nothing_else(own_world: Path, name: str) -> None:
    place = own_world / name
    place.mkdir(mode=0o755 if len(name) == 27 else 0o700)  # with the right name, it is not closed to others
    (place / "file").write_text("precious")
    state = own_world / "state" / "tmpwarden"
    state.mkdir()
    (state / "journal.jsonl").write_text(json.dumps({"t": "staging", "id": name, "path": str(place)}) + "\n")
    clean(now_ns=later(100))
    assert (place / "file").read_text() == "precious"


def test_one_that_cannot_be_removed_is_told_each_time(unit: Path, elsewhere: Path, own_world: Path) -> None:
    clean(now_ns=later(100))
    left = killed_while_it_copies(elsewhere)
    left.chmod(0o755)
    for _ in range(2):
        claude_session(own_world / "tmp")
        told = clean(now_ns=later(100)).warnings
        assert [str(left) in each for each in told] == [True]
    left.chmod(0o700)
    assert clean(OTHER_ROW, now_ns=later(1)).warnings == []
    assert os.listdir(elsewhere) == []


def test_one_is_not_forgotten_because_a_run_that_does_not_settle_ended_well(
    unit: Path, elsewhere: Path, own_world: Path
) -> None:
    clean(now_ns=later(100))
    killed_while_it_copies(elsewhere)
    Journal(str(own_world / "state" / "tmpwarden")).note("end")  # as a teardown ends
    with pytest.raises(NotFound):
        undo("ffff")
    assert os.listdir(elsewhere) == []
