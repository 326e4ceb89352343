"""Every race window x every move of an adversary. Nothing the adversary owns may be lost."""

import contextlib
import ctypes
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.mounts import bind, ext4, fill_bytes, fill_inodes, needs_root, tmpfs
from support.user import OrdinaryUser
from support.windows import strike
from tmpwarden.oskit import system
from tmpwarden.oskit.files import take as mod
from tmpwarden.oskit.files.take import Taken

pytestmark = pytest.mark.disk

Move = Callable[[Path], None]
WINDOWS = ["judged, not yet taken", "taken, not yet verified", "found wrong, not yet put back"]
TOKEN = "0123456789abcdef"


class Dirs:
    """A shared directory with the condemned `x`, and our quarantine."""

    def __init__(self, base: Path) -> None:
        self.shared, self.ours = base / "shared", base / "ours"
        self.shared.mkdir()
        self.ours.mkdir(mode=0o700)
        self.shared_fd, self.ours_fd = (
            os.open(path, os.O_RDONLY | os.O_DIRECTORY) for path in (self.shared, self.ours)
        )

    def take(self, pinned: int, name: str = "x") -> str:
        return mod.take(self.shared_fd, name, pinned, quarantine_fd=self.ours_fd, token=TOKEN)

    def everything(self) -> set[str]:
        """The content of every file in both directories."""
        files = [path for base in (self.shared, self.ours) for path in base.rglob("*")]
        return {path.read_text() for path in files if path.is_file() and not path.is_symlink()}

    def close(self) -> None:
        os.close(self.shared_fd)
        os.close(self.ours_fd)


@pytest.fixture
def dirs(tmp_path: Path) -> Iterator[Dirs]:
    both = Dirs(tmp_path)
    yield both
    both.close()


def make_file(shared: Path) -> None:
    (shared / "x").write_text("stale")


def make_tree(shared: Path) -> None:
    (shared / "x" / "sub").mkdir(parents=True)
    (shared / "x" / "sub" / "member").write_text("stale")


def clear(shared: Path) -> None:
    """Whatever `x` is, the adversary moves it out of the way (it could not remove a tree in one step)."""
    with contextlib.suppress(FileNotFoundError):
        os.rename(shared / "x", shared / "moved")


def replace_with_file(shared: Path) -> None:
    clear(shared)
    (shared / "x").write_text("precious")


def replace_with_symlink(shared: Path) -> None:
    clear(shared)
    (shared / "victim").write_text("precious")
    os.symlink(shared / "victim", shared / "x")


def replace_with_directory(shared: Path) -> None:
    clear(shared)
    (shared / "x").mkdir()
    (shared / "x" / "file").write_text("precious")


def recreate(shared: Path) -> None:
    if not os.path.lexists(shared / "x"):
        (shared / "x").write_text("precious")


def vanish(shared: Path) -> None:
    clear(shared)


def exchange(shared: Path) -> None:
    """RENAME_EXCHANGE with another directory: no moment without an `x`."""
    (shared / "other").mkdir()
    (shared / "other" / "file").write_text("precious")
    libc = ctypes.CDLL(None, use_errno=True)
    there = os.fsencode(shared / "x"), os.fsencode(shared / "other")
    libc.renameat2(-100, there[0], -100, there[1], 2)


MOVES: list[Move] = [
    replace_with_file,
    replace_with_symlink,
    replace_with_directory,
    recreate,
    vanish,
    exchange,
]


@pytest.mark.parametrize("make", [make_file, make_tree], ids=["file", "tree"])
@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
@pytest.mark.parametrize("window", WINDOWS[:2])
def test_a_successor_survives(dirs: Dirs, monkeypatch: pytest.MonkeyPatch, window: str, move: Move, make: Move) -> None:
    make(dirs.shared)
    pinned = mod.pin(dirs.shared_fd, "x")
    fired = strike(monkeypatch, mod, window, lambda: move(dirs.shared))
    word = dirs.take(pinned)

    assert fired == [window]
    made_precious = "precious" in dirs.everything()
    assert made_precious == (move not in (recreate, vanish) or (move is recreate and window == WINDOWS[1]))
    if word == Taken.TAKEN:
        assert mod.is_same(dirs.ours_fd, TOKEN, pinned)
        assert "precious" not in {path.read_text() for path in dirs.ours.rglob("*") if path.is_file()}
    else:
        assert list(dirs.ours.iterdir()) == []
        assert word == (Taken.VANISHED if move is vanish else Taken.CHANGED)
    os.close(pinned)


@pytest.mark.parametrize("second", MOVES, ids=lambda move: move.__name__)
@pytest.mark.parametrize("first", [replace_with_file, replace_with_directory], ids=lambda move: move.__name__)
def test_what_was_taken_wrongly_is_put_back_or_kept(
    dirs: Dirs, monkeypatch: pytest.MonkeyPatch, first: Move, second: Move
) -> None:
    """The adversary strikes twice: the second time while we hold the wrong file and want to give it back."""
    make_file(dirs.shared)
    pinned = mod.pin(dirs.shared_fd, "x")
    fired: list[str] = []

    def on_window(here: str) -> None:
        if here == WINDOWS[0]:
            first(dirs.shared)
        if here == WINDOWS[2]:
            fired.append(here)
            for path in dirs.shared.rglob("moved"):
                path.unlink()
            second(dirs.shared)

    monkeypatch.setattr(mod, "_race_window", on_window)
    word = dirs.take(pinned)
    os.close(pinned)
    assert fired == [WINDOWS[2]]
    name_is_free = second in (vanish, exchange)
    assert word == (Taken.CHANGED if name_is_free else Taken.STUCK)
    wrongly_taken = dirs.shared / "x" if name_is_free else dirs.ours / TOKEN
    inner = wrongly_taken if first is replace_with_file else wrongly_taken / "file"
    assert inner.read_text() == "precious"


def test_an_inode_number_alone_is_no_identity(tmp_path: Path) -> None:
    """ext4 hands an inode number out again at once; the pin keeps it from doing so."""
    dirs = Dirs(tmp_path)
    for _ in range(20):
        make_file(dirs.shared)
        pinned = mod.pin(dirs.shared_fd, "x")
        (dirs.shared / "x").unlink()
        (dirs.shared / "x").write_text("precious")
        assert dirs.take(pinned) == Taken.CHANGED
        os.close(pinned)
        assert (dirs.shared / "x").read_text() == "precious"
        (dirs.shared / "x").unlink()
    dirs.close()


@pytest.mark.parametrize(
    "name", ["plain", "new\nline", "esc\x1b[31m", "bad\udcff\udcfeutf8", "n" * 255, " ", "-rf", "ü" * 127]
)
def test_any_name_is_taken_and_put_back_exactly(dirs: Dirs, name: str) -> None:
    (dirs.shared / name).write_text("stale")
    pinned = mod.pin(dirs.shared_fd, name)
    assert dirs.take(pinned, name) == Taken.TAKEN
    assert os.listdir(dirs.shared) == []
    assert mod.put_back(dirs.ours_fd, TOKEN, dirs.shared_fd, name)
    assert os.listdir(dirs.shared) == [name] and os.listdir(dirs.ours) == []
    os.close(pinned)


@pytest.mark.parametrize("kind", ["fifo", "symlink to nowhere", "socket"])
def test_pinning_and_taking_never_opens_the_thing_itself(dirs: Dirs, kind: str) -> None:
    if kind == "fifo":
        os.mkfifo(dirs.shared / "x")
    elif kind == "socket":
        os.mknod(dirs.shared / "x", stat.S_IFSOCK | 0o600)
    else:
        os.symlink("/nowhere", dirs.shared / "x")
    pinned = mod.pin(dirs.shared_fd, "x")
    assert dirs.take(pinned) == Taken.TAKEN
    os.close(pinned)


def test_putting_back_never_overwrites(dirs: Dirs) -> None:
    (dirs.ours / TOKEN).write_text("ours")
    (dirs.shared / "x").write_text("precious")
    assert not mod.put_back(dirs.ours_fd, TOKEN, dirs.shared_fd, "x")
    assert (dirs.shared / "x").read_text() == "precious" and (dirs.ours / TOKEN).read_text() == "ours"


@pytest.mark.parametrize("successor", ["none", "file", "empty directory", "full directory", "symlink"])
@pytest.mark.parametrize("make", [make_file, make_tree], ids=["file", "tree"])
def test_without_a_no_replace_flag_nothing_is_overwritten_either(dirs: Dirs, make: Move, successor: str) -> None:
    make(dirs.shared)
    os.rename(dirs.shared / "x", dirs.ours / TOKEN)
    if successor == "file":
        (dirs.shared / "x").write_text("precious")
    elif successor.endswith("directory"):
        (dirs.shared / "x").mkdir(mode=0o750)
        if successor.startswith("full"):
            (dirs.shared / "x" / "file").write_text("precious")
    elif successor == "symlink":
        os.symlink("precious", dirs.shared / "x")
    before = os.lstat(dirs.shared / "x").st_ino if successor != "none" else None

    went = mod._move_without_flags(dirs.ours_fd, TOKEN, dirs.shared_fd, "x")

    assert went == (successor == "none")
    assert os.path.lexists(dirs.ours / TOKEN) != went
    if before is not None:
        assert os.lstat(dirs.shared / "x").st_ino == before


def test_putting_back_uses_the_flags_of_neither_system_when_there_are_none(
    dirs: Dirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system.entries, "_libc", object())
    make_tree(dirs.ours)
    os.rename(dirs.ours / "x", dirs.ours / TOKEN)
    assert mod.put_back(dirs.ours_fd, TOKEN, dirs.shared_fd, "x")
    assert (dirs.shared / "x" / "sub" / "member").read_text() == "stale"


@needs_root
def test_another_file_system_is_told_and_left_alone(dirs: Dirs, tmp_path: Path) -> None:
    with tmpfs(tmp_path / "elsewhere") as elsewhere:
        quarantine_fd = os.open(elsewhere, os.O_RDONLY)
        make_tree(dirs.shared)
        pinned = mod.pin(dirs.shared_fd, "x")
        word = mod.take(dirs.shared_fd, "x", pinned, quarantine_fd=quarantine_fd, token=TOKEN)
        assert word == Taken.CROSS_DEVICE
        assert (dirs.shared / "x" / "sub" / "member").exists()
        os.close(pinned)
        os.close(quarantine_fd)


@needs_root
def test_a_mount_point_is_busy_and_left_alone(dirs: Dirs, tmp_path: Path) -> None:
    make_tree(dirs.shared)
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "file").write_text("precious")
    with bind(tmp_path / "source", dirs.shared / "x"):
        pinned = mod.pin(dirs.shared_fd, "x")
        assert dirs.take(pinned) in (Taken.BUSY, Taken.CROSS_DEVICE)
        os.close(pinned)
        assert (dirs.shared / "x" / "file").read_text() == "precious"


@needs_root
@pytest.mark.parametrize("what", ["bytes", "inodes"])
def test_taking_and_putting_back_work_on_a_full_tmpfs(tmp_path: Path, what: str) -> None:
    with tmpfs(tmp_path / "full", size="2m", inodes=200) as full:
        dirs = Dirs(full)
        make_tree(dirs.shared)
        fill_bytes(full) if what == "bytes" else fill_inodes(full)
        pinned = mod.pin(dirs.shared_fd, "x")
        assert dirs.take(pinned) == Taken.TAKEN
        assert mod.put_back(dirs.ours_fd, TOKEN, dirs.shared_fd, "x")
        os.close(pinned)
        dirs.close()


@needs_root
def test_taking_works_on_a_full_ext4(tmp_path: Path) -> None:
    with ext4(tmp_path / "full", tmp_path / "image", megabytes=8) as full:
        dirs = Dirs(full)
        make_tree(dirs.shared)
        fill_bytes(full)
        pinned = mod.pin(dirs.shared_fd, "x")
        assert dirs.take(pinned) == Taken.TAKEN
        os.close(pinned)
        dirs.close()


_TAKE_AS_USER = """
import os, sys
from tmpwarden.oskit.files import take
mode, undo = int(sys.argv[1], 8), sys.argv[2] == "undo"
os.mkdir("s"); os.mkdir("q", 0o700); os.mkdir("s/x"); open("s/x/member", "w").close(); os.chmod("s/x", mode)
s, q = os.open("s", os.O_RDONLY), os.open("q", os.O_RDONLY)
pinned = take.pin(s, "x")
print(oct(take.mode_of(pinned)), take.take(s, "x", pinned, quarantine_fd=q, token="t"))
print(oct(os.lstat("q/t").st_mode & 0o7777))
if undo:
    print(take.put_back(q, "t", s, "x"), oct(os.lstat("s/x").st_mode & 0o7777))
"""


@needs_root
@pytest.mark.parametrize("mode", ["0500", "0000", "0555", "1500"])
def test_a_read_only_directory_moves_and_keeps_its_mode(ordinary_user: OrdinaryUser, mode: str) -> None:
    result = ordinary_user.run([ordinary_user.python, "-c", _TAKE_AS_USER, mode, "undo"], cwd=ordinary_user.tmp)
    octal = oct(int(mode, 8))
    assert result.stderr == ""
    assert result.stdout.splitlines() == [f"{octal} taken", octal, f"True {octal}"]


_SWAP_AS_USER = """
import os
from tmpwarden.oskit.files import take
os.mkdir("s"); os.mkdir("q", 0o700); os.mkdir("s/x"); os.mkdir("s/other"); os.chmod("s/x", 0o500)
s, q = os.open("s", os.O_RDONLY), os.open("q", os.O_RDONLY)
pinned = take.pin(s, "x")
def strike(here):
    if here == "made writable, not yet taken":
        os.rename("s/x", "s/moved"); os.rename("s/other", "s/x")
take._race_window = strike
print(take.take(s, "x", pinned, quarantine_fd=q, token="t"))
print(sorted(os.listdir("s")), os.listdir("q"), oct(os.lstat("s/moved").st_mode & 0o7777))
"""


@needs_root
def test_the_mode_is_mended_on_the_pinned_directory_wherever_it_went(ordinary_user: OrdinaryUser) -> None:
    result = ordinary_user.run([ordinary_user.python, "-c", _SWAP_AS_USER], cwd=ordinary_user.tmp)
    assert result.stderr == ""
    assert result.stdout.splitlines() == ["changed", "['moved', 'x'] [] 0o500"]
