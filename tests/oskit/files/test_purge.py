"""Purging removes all of a tree of ours, nothing else, and says truly what it freed."""

import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.doomed import destroy
from support.holding import process
from support.mounts import bind, fill_bytes, fill_inodes, needs_root, tmpfs
from support.trees import chain, opened
from support.user import OrdinaryUser
from tmpwarden.oskit.files import emptier, same_mount
from tmpwarden.oskit.files import purge as mod
from tmpwarden.oskit.files.doomed import own
from tmpwarden.oskit.files.purge import Unlinked, purge_own, unlink_same
from tmpwarden.oskit.files.walk import measure

pytestmark = pytest.mark.disk

STRANGE_NAMES = ["new\nline", "esc\x1b[31m", "bad\udcff\udcfeutf8", "n" * 255, " ", "-rf", "*", "ü" * 127]


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    with opened(tmp_path / "ours") as found:
        yield found


def make_tree(path: Path) -> None:
    (path / "a" / "b").mkdir(parents=True)
    for number in range(5):
        (path / "a" / f"file{number}").write_bytes(b"x" * 5000)
    for name in STRANGE_NAMES:
        (path / "a" / "b" / name).write_text("x")
    os.mkfifo(path / "fifo")
    os.symlink("/etc/passwd", path / "link")
    os.symlink("a", path / "link-to-directory")
    with socket.socket(socket.AF_UNIX) as server:
        fd = os.open(path, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{fd}/socket")
        os.close(fd)


@pytest.mark.parametrize("trusts", [False, True], ids=["counting", "measured"])
def test_a_tree_goes_whole_and_its_bytes_are_counted(ours: tuple[Path, int], trusts: bool) -> None:
    path, fd = ours
    make_tree(path / "unit")
    seen = measure(fd, "unit", uid=os.geteuid(), count_atime=False)
    assert seen
    done = destroy(fd, "unit", measured=seen if trusts else None)
    assert os.listdir(path) == []
    assert (done.freed_bytes, done.entries, done.failed, done.left) == (seen.bytes, seen.entries, (), 0)


@pytest.mark.parametrize("name", STRANGE_NAMES)
@pytest.mark.parametrize("is_tree", [False, True], ids=["file", "tree"])
def test_any_name_goes(ours: tuple[Path, int], name: str, is_tree: bool) -> None:
    path, fd = ours
    if is_tree:
        (path / name / name).mkdir(parents=True)
    else:
        (path / name).write_text("x")
    assert purge_own(fd, name).left == 0
    assert os.listdir(path) == []


def test_a_name_that_is_gone_is_no_failure(ours: tuple[Path, int]) -> None:
    assert purge_own(ours[1], "nothing").failed == ()


def test_what_a_link_points_to_stays(ours: tuple[Path, int], victim: Path) -> None:
    path, fd = ours
    (path / "unit").mkdir()
    os.symlink(victim, path / "unit" / "link")
    os.symlink(victim, path / "top")
    purge_own(fd, "unit")
    purge_own(fd, "top")
    assert (victim / "file").read_text() == "precious" and os.listdir(path) == []


def test_only_the_last_name_of_an_inode_frees_bytes(ours: tuple[Path, int], tmp_path: Path) -> None:
    path, fd = ours
    (tmp_path / "outside").write_bytes(b"x" * 40960)
    (path / "unit").mkdir()
    os.link(tmp_path / "outside", path / "unit" / "shared")
    (path / "unit" / "alone").write_bytes(b"x" * 8192)
    (path / "unit" / "first").write_bytes(b"x" * 20480)
    os.link(path / "unit" / "first", path / "unit" / "second")
    directory = os.lstat(path / "unit").st_blocks * 512
    seen = measure(fd, "unit", uid=os.geteuid(), count_atime=False)
    done = destroy(fd, "unit", measured=seen)
    assert done.freed_bytes == directory + 8192 + 20480
    assert (tmp_path / "outside").stat().st_size == 40960


def test_a_sparse_file_frees_what_it_held(ours: tuple[Path, int]) -> None:
    path, fd = ours
    with (path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    assert purge_own(fd, "sparse").freed_bytes == 0


def test_three_thousand_levels_go_with_few_descriptors(ours: tuple[Path, int]) -> None:
    path, fd = ours
    (path / "unit").mkdir()
    top = os.open(path / "unit", os.O_RDONLY)
    chain(top, 3000)
    os.close(top)
    before = len(os.listdir("/proc/self/fd"))
    highest = most = max(map(int, os.listdir("/proc/self/fd")))  # whatever tests before this one have left open
    real_open = emptier.enter

    def counting(name: str, dir_fd: int | None = None) -> int:
        nonlocal most
        found = real_open(name, dir_fd)
        most = max(most, found)
        return found

    emptier.enter = counting
    try:
        done = purge_own(fd, "unit")
    finally:
        emptier.enter = real_open
    assert done.entries == 3002 and done.left == 0 and os.listdir(path) == []
    assert len(os.listdir("/proc/self/fd")) <= before  # the collector may close others
    assert most - highest < 250


@needs_root
@pytest.mark.usefixtures("kernel")
def test_a_bind_mount_of_the_same_file_system_is_not_entered(ours: tuple[Path, int], victim: Path) -> None:
    path, fd = ours
    (path / "unit" / "a" / "sp ace\nline").mkdir(parents=True)
    (path / "unit" / "a" / "plain").write_text("x")
    with bind(victim, path / "unit" / "a" / "sp ace\nline"):
        done = purge_own(fd, "unit")
        assert (victim / "file").read_text() == "precious"
    assert [name for name, _ in done.failed] == ["a/sp ace\nline"]
    assert done.left == 3 and done.entries == 1


@needs_root
@pytest.mark.usefixtures("kernel")
def test_a_bind_mount_below_sixty_four_levels_is_not_entered(ours: tuple[Path, int], victim: Path) -> None:
    path, fd = ours
    deep = path / "unit" / "/".join("d" * 150)
    deep.mkdir(parents=True)
    with bind(victim, deep):
        done = purge_own(fd, "unit")
        assert (victim / "file").read_text() == "precious"
        assert done.left and len(done.failed) == 1
        os.rename(path / "unit", path / "moved")  # the mount is lazily undone by its old path otherwise
        (point,) = [
            line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(path) in line
        ]
        os.system(f"umount '{point}'")
    assert purge_own(fd, "moved").left == 0


@needs_root
def test_what_will_not_go_does_not_hold_up_what_lies_deep(ours: tuple[Path, int]) -> None:
    path, fd = ours
    (path / "unit" / "/".join("d" * 300)).mkdir(parents=True)
    with tmpfs(path / "unit" / "mount"):
        done = purge_own(fd, "unit")
        assert os.listdir(path / "unit") == ["mount"]
        assert (done.left, done.entries, len(done.failed)) == (2, 300, 1)


@needs_root
@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("is_told", [True, False], ids=["mountinfo tells of it", "only its device tells"])
def test_another_file_system_is_not_entered(
    ours: tuple[Path, int], monkeypatch: pytest.MonkeyPatch, is_told: bool
) -> None:
    path, fd = ours
    if not is_told:
        monkeypatch.setattr(emptier, "mounts_below", lambda *_: frozenset())  # as where /proc is not there
    (path / "unit" / "mount").mkdir(parents=True)
    with tmpfs(path / "unit" / "mount") as mounted:
        (mounted / "file").write_text("precious")
        done = purge_own(fd, "unit")
        assert (mounted / "file").read_text() == "precious" and done.left == 2


def test_where_nobody_can_tell_what_is_mounted_no_directory_is_emptied(
    ours: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without openat2 the mount table has to say it, and there is no descriptor left to read it with."""
    path, fd = ours
    (path / "unit").mkdir()
    (path / "unit" / "file").write_text("x")
    monkeypatch.setattr(same_mount, "_is_known", True)
    monkeypatch.setattr(same_mount, "_call", None)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    doomed = own(fd, "unit")
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        emptied = emptier.Emptier(doomed, counts=True)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    with doomed:
        emptied.purge()
    assert (path / "unit" / "file").exists()
    assert "could not be checked whether a file system is mounted" in emptied.result().trouble
    assert purge_own(fd, "unit").entries == 2


@needs_root
@pytest.mark.parametrize("what", ["bytes", "inodes"])
def test_purging_works_on_a_full_tmpfs_and_makes_room(tmp_path: Path, what: str) -> None:
    with tmpfs(tmp_path / "full", size="2m", inodes=300) as full:
        (full / "unit").mkdir()
        for number in range(100):
            (full / "unit" / f"file{number}").write_bytes(b"x" * 4096)
        fill_bytes(full) if what == "bytes" else fill_inodes(full)
        fd = os.open(full, os.O_RDONLY)
        assert purge_own(fd, "unit").entries == 101
        (full / "new").write_text("fits")
        os.close(fd)


_PURGE_AS_USER = """
import os
from tmpwarden.oskit.files.purge import purge_own
os.makedirs("q/unit/deep/deeper")
for name in ("q/unit/a", "q/unit/deep/b", "q/unit/deep/deeper/c"):
    open(name, "w").close()
MODES = {modes}
for path, mode in MODES:
    os.chmod(path, mode)
q = os.open("q", os.O_RDONLY)
done = purge_own(q, "unit")
print(os.listdir("q"), done.entries, done.failed)
"""


@needs_root
@pytest.mark.parametrize("mode", [0o500, 0o000, 0o100, 0o400, 0o300])
def test_directories_that_forbid_it_are_mended_and_go(ordinary_user: OrdinaryUser, mode: int) -> None:
    modes = [(f"q/unit{path}", mode) for path in ("/deep/deeper", "/deep", "")]
    source = _PURGE_AS_USER.replace("{modes}", repr(modes))
    result = ordinary_user.run([ordinary_user.python, "-c", source], cwd=ordinary_user.tmp)
    assert (result.stdout, result.stderr) == ("[] 6 ()\n", "")


@needs_root
def test_a_tree_deeper_than_the_limit_with_shut_directories_goes(ordinary_user: OrdinaryUser) -> None:
    source = _PURGE_AS_USER.replace(
        "MODES = {modes}",
        "p = 'q/unit/' + '/'.join('d' * 200)\nos.makedirs(p)\nMODES = [(p[:406 - 2 * n], 0o500) for n in range(199)]",
    )
    result = ordinary_user.run([ordinary_user.python, "-c", source], cwd=ordinary_user.tmp)
    assert (result.stdout, result.stderr) == ("[] 206 ()\n", "")


_EXCHANGE_AS_USER = """
import os
from tmpwarden.oskit.files import emptier, purge
os.makedirs("q/unit/shut"); os.makedirs("victim"); open("victim/file", "w").close()
os.chmod("q/unit/shut", 0)
os.chmod("victim", 0o500)
def strike(here):
    os.rename("q/unit/shut", "q/unit/moved")
    {move}
emptier._race_window = strike
done = purge.purge_own(os.open("q", os.O_RDONLY), "unit")
print(oct(os.stat("victim").st_mode & 0o777), os.listdir("victim"), bool(done.failed))
"""


@needs_root
@pytest.mark.parametrize(
    "move",
    [
        "os.symlink('../../victim', 'q/unit/shut')",
        "open('q/unit/shut', 'w').close()",
        "os.chmod('victim', 0o700); os.rename('victim', 'q/unit/shut'); os.chmod('q/unit/shut', 0o500); "
        "os.symlink('q/unit/shut', 'victim')",
    ],
)
def test_the_mode_of_a_victim_never_changes(ordinary_user: OrdinaryUser, move: str) -> None:
    """cpython issue 157579: the repair of a shut directory went by path again."""
    source = _EXCHANGE_AS_USER.replace("{move}", move)
    result = ordinary_user.run([ordinary_user.python, "-c", source], cwd=ordinary_user.tmp)
    assert (result.stdout, result.stderr) == ("0o500 ['file'] True\n", "")


def test_what_will_not_go_is_named_and_the_rest_goes(ours: tuple[Path, int]) -> None:
    path, fd = ours
    (path / "unit" / "stuck").mkdir(parents=True)
    (path / "unit" / "stuck" / "immutable").write_text("x")
    (path / "unit" / "other").write_text("x")
    if os.system(f"chattr +i {path}/unit/stuck/immutable 2>/dev/null"):
        pytest.skip("this file system knows no immutable files")
    try:
        seen = measure(fd, "unit", uid=os.geteuid(), count_atime=False)
        done = destroy(fd, "unit", measured=seen)
        rest = measure(fd, "unit", uid=os.geteuid(), count_atime=False)
    finally:
        os.system(f"chattr -i {path}/unit/stuck/immutable")
    assert done.failed == (("stuck/immutable", "Operation not permitted"),)
    assert (done.left, done.entries) == (3, 1)
    assert seen and rest and done.freed_bytes == seen.bytes - rest.bytes
    assert purge_own(fd, "unit").left == 0


def test_the_same_file_is_unlinked_and_a_successor_is_not(
    ours: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, fd = ours
    (path / "x").write_text("stale")
    monkeypatch.setattr(mod, "_race_window", lambda _: (os.unlink(path / "x"), (path / "x").write_text("precious")))
    with own(fd, "x") as doomed:
        assert unlink_same(doomed) == Unlinked.CHANGED
    monkeypatch.undo()
    assert (path / "x").read_text() == "precious"
    with own(fd, "x") as doomed:
        assert unlink_same(doomed) == Unlinked.REMOVED
        assert unlink_same(doomed) == Unlinked.VANISHED


def test_a_file_held_open_goes_and_its_reader_keeps_reading(ours: tuple[Path, int]) -> None:
    path, fd = ours
    (path / "held").write_text("still here")
    with process("import sys; f = open(sys.argv[1])", str(path / "held")):
        assert purge_own(fd, "held").entries == 1
