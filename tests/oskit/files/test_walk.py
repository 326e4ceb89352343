"""One walk tells the truth about a tree, changes nothing and never leaves it."""

import os
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from support.examples import examples
from support.mounts import bind, mounted, needs_root, tmpfs
from support.trees import chain, opened
from support.user import OrdinaryUser
from tmpwarden.model.sweep import Measure
from tmpwarden.oskit import system
from tmpwarden.oskit.files import deep_walk
from tmpwarden.oskit.files import walk as mod
from tmpwarden.oskit.files.walk import measure, open_dir


@pytest.fixture
def base(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    with opened(tmp_path / "base") as found:
        yield found
    subprocess.run(["rm", "-rf", found[0]], check=True)  # pytest's own rmtree recurses, and breaks on deep trees


def look(fd: int, name: str = "unit", **wishes: object) -> Measure:
    seen = measure(fd, name, **{"uid": os.geteuid(), "count_atime": False, **wishes})  # type: ignore[arg-type]
    assert seen is not None
    return seen


def test_bytes_and_entries_are_those_of_du_and_find(base: tuple[Path, int]) -> None:
    path, fd = base
    for number in range(40):
        folder = path / "unit" / f"d{number % 7}" / f"e{number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}").write_bytes(b"x" * number * 500)
    os.link(path / "unit" / "d0" / "e0" / "f0", path / "unit" / "second-name")
    os.link(path / "unit" / "d1" / "e1" / "f1", path / "unit" / "third-name")
    seen = look(fd)
    du = subprocess.run(["du", "-s", "-B1", path / "unit"], capture_output=True, text=True, check=True)
    find = subprocess.run(["find", path / "unit", "-printf", "x"], capture_output=True, text=True, check=True)
    assert (seen.bytes, seen.entries) == (int(du.stdout.split()[0]), len(find.stdout))
    assert seen.linked == 4 and not seen.at_least


def test_a_vanished_unit_is_none(base: tuple[Path, int]) -> None:
    assert measure(base[1], "nothing", uid=0, count_atime=False) is None


@pytest.mark.parametrize("place", ["unit", "unit/deep/member"])
def test_the_age_is_that_of_the_newest_member(base: tuple[Path, int], place: str) -> None:
    path, fd = base
    (path / "unit" / "deep").mkdir(parents=True)
    (path / "unit" / "deep" / "member").write_text("x")
    future = 4_000_000_000_123_456_789
    os.utime(path / place, ns=(1, future))
    assert look(fd).newest_ns == future


def test_dates_are_exact_to_the_microsecond_within_one_second(base: tuple[Path, int]) -> None:
    path, fd = base
    (path / "unit").mkdir()
    for offset in (3, 9, 5):
        (path / "unit" / str(offset)).write_text("")
        os.utime(path / "unit" / str(offset), ns=(0, 4_000_000_000_000_000_000 + offset * 1000))
    os.utime(path / "unit", ns=(0, 4_000_000_000_000_002_001))
    seen = look(fd)
    assert (seen.newest_ns % 1_000_000, seen.oldest_ns % 1_000_000) == (9000, 2001)


def test_the_oldest_member_counts_by_its_newest_date(base: tuple[Path, int]) -> None:
    path, fd = base
    (path / "unit").mkdir()
    (path / "unit" / "old").write_text("")
    os.utime(path / "unit" / "old", ns=(1, 1))
    changed_ns = os.lstat(path / "unit" / "old").st_ctime_ns  # ctime is now, whatever utime says
    assert look(fd).oldest_ns == min(changed_ns, os.lstat(path / "unit").st_ctime_ns)


def test_a_ctime_counts_though_the_mtime_lies_between_all_others(base: tuple[Path, int]) -> None:
    """`touch -d` hides a fresh file from whoever looks at mtimes alone."""
    path, fd = base
    member = path / "unit" / "deep" / "member"
    member.parent.mkdir(parents=True)
    member.write_text("x")
    made_ns = os.lstat(member.parent).st_ctime_ns
    os.utime(member, ns=(made_ns, made_ns))
    while os.lstat(member).st_ctime_ns <= made_ns:  # a clock tick has some milliseconds
        os.utime(member, ns=(made_ns, made_ns))
    assert look(fd).newest_ns == os.lstat(member).st_ctime_ns > made_ns


@pytest.mark.parametrize("count_atime", [True, False])
def test_an_atime_counts_though_the_other_dates_lie_between_all_others(
    base: tuple[Path, int], count_atime: bool
) -> None:
    path, fd = base
    member, late_ns = path / "unit" / "deep" / "member", 4_000_000_000_000_000_000
    member.parent.mkdir(parents=True)
    member.write_text("x")
    os.utime(member, ns=(late_ns + 10**9, os.lstat(member).st_mtime_ns))
    os.utime(path / "unit", ns=(1, late_ns))
    assert look(fd, count_atime=count_atime).newest_ns == late_ns + (10**9 if count_atime else 0)


def test_atime_counts_only_when_asked(base: tuple[Path, int]) -> None:
    path, fd = base
    (path / "unit").mkdir()
    (path / "unit" / "read").write_text("")
    future = 4_000_000_000_000_000_000
    os.utime(path / "unit" / "read", ns=(future, 1))
    assert look(fd).newest_ns < future
    assert look(fd, count_atime=True).newest_ns == future


@needs_root
def test_looking_does_not_make_a_directory_younger(tmp_path: Path) -> None:
    with mounted(tmp_path / "m", "-t", "tmpfs", "-o", "strictatime", "tmpfs") as point:
        (point / "unit" / "sub").mkdir(parents=True)
        (point / "unit" / "sub" / "file").write_text("x")
        for path in (point / "unit" / "sub", point / "unit"):
            os.utime(path, ns=(1, 1))
        fd = os.open(point, os.O_RDONLY)
        look(fd)
        assert [os.lstat(point / name).st_atime_ns for name in ("unit", "unit/sub")] == [1, 1]
        os.listdir(point / "unit")
        assert os.lstat(point / "unit").st_atime_ns != 1, (
            "this mount does not keep access times: the test proves nothing"
        )
        os.close(fd)


@pytest.mark.parametrize("kind", ["fifo", "symlink", "symlink to directory", "socket", "file"])
def test_a_unit_of_any_kind_is_one_entry_and_never_hangs(base: tuple[Path, int], kind: str) -> None:
    path, fd = base
    if kind == "fifo":
        os.mkfifo(path / "unit")
    elif kind.startswith("symlink"):
        os.symlink("/" if "directory" in kind else "/nowhere", path / "unit")
    elif kind == "socket":
        os.mknod(path / "unit", stat.S_IFSOCK | 0o600)
    else:
        (path / "unit").write_text("x")
    seen = look(fd)
    assert seen.entries == 1 and seen.sockets == (("",) if kind == "socket" else ())


def test_a_link_to_elsewhere_is_a_member_and_not_followed(base: tuple[Path, int], tmp_path: Path) -> None:
    path, fd = base
    (tmp_path / "elsewhere" / "much").mkdir(parents=True)
    (path / "unit").mkdir()
    os.symlink(tmp_path / "elsewhere", path / "unit" / "link")
    assert look(fd).entries == 2


def test_sockets_git_sticky_files_and_devices_are_told(base: tuple[Path, int]) -> None:
    path, fd = base
    (path / "unit" / "repo" / ".git").mkdir(parents=True)
    (path / "unit" / "worktree").mkdir()
    (path / "unit" / "worktree" / ".git").write_text("gitdir: elsewhere")
    (path / "unit" / "sticky").write_text("")
    os.chmod(path / "unit" / "sticky", 0o1600)
    os.chmod(path / "unit" / "repo", 0o1700)  # a sticky directory is nothing special
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{fd}/unit/worktree/s")
    seen = look(fd)
    assert sorted(seen.git) == ["repo", "worktree"]
    assert seen.sockets == ("worktree/s",) and seen.sticky == 1
    if os.geteuid() == 0:
        os.mknod(path / "unit" / "null", stat.S_IFCHR | 0o600, os.makedev(1, 3))
        assert look(fd).devices == 1


def test_a_unit_that_is_a_repository_itself_is_told(base: tuple[Path, int]) -> None:
    (base[0] / "unit" / ".git").mkdir(parents=True)
    assert look(base[1]).git == ("",)


@pytest.mark.parametrize("place", ["unit", "unit/sub", "unit/sub/file"])
def test_a_locked_member_is_told_by_device_and_inode(base: tuple[Path, int], place: str) -> None:
    path, fd = base
    (path / "unit" / "sub").mkdir(parents=True)
    (path / "unit" / "sub" / "file").write_text("")
    status = os.lstat(path / place)
    relative = place.removeprefix("unit").lstrip("/")
    assert look(fd, locked=frozenset({(status.st_dev, status.st_ino)})).locked == (relative,)
    assert look(fd, locked=frozenset({(status.st_dev + 1, status.st_ino + 10**9)})).locked == ()


def test_marked_members_are_told(base: tuple[Path, int]) -> None:
    path, fd = base
    (path / "unit" / "a" / "b").mkdir(parents=True)
    (path / "unit" / "a" / "b" / "secret").write_text("")
    asked = []

    def is_marked(directory: str, name: str) -> bool:
        asked.append((directory, name))
        return name == "secret" or (directory, name) == ("a", "b")

    assert look(fd, is_marked=is_marked).marked == ("a/b", "a/b/secret")
    assert asked == [("", "a"), ("a", "b"), ("a/b", "secret")]


@pytest.mark.parametrize("held_back", ["", "file", "a/file", "a/b"])
def test_what_flags_of_macos_hold_back_is_told_and_not_entered(
    base: tuple[Path, int], monkeypatch: pytest.MonkeyPatch, held_back: str
) -> None:
    """Immutable, guarded by macOS, or not on this disk: to look into that would fetch it from a server."""
    path, fd = base
    (path / "unit" / "a" / "b").mkdir(parents=True)
    for place in ("file", "a/file", "a/b/file"):
        (path / "unit" / place).write_text("")
    wanted = (path / "unit" / held_back).stat()
    monkeypatch.setattr(system.entries, "is_held_back", lambda status: os.path.samestat(status, wanted))
    seen = look(fd)
    assert seen.held_back == (held_back,)
    assert seen.entries == {"": 1, "a/b": 5}.get(held_back, 6)


@needs_root
def test_members_of_other_users_are_counted(base: tuple[Path, int]) -> None:
    path, fd = base
    (path / "unit" / "sub").mkdir(parents=True)
    (path / "unit" / "file").write_text("")
    os.chown(path / "unit" / "sub", 65534, -1)
    os.chown(path / "unit" / "file", 65534, -1)
    assert look(fd).foreign == 2
    assert look(fd, uid=65534).foreign == 1


@needs_root
@pytest.mark.usefixtures("kernel")
def test_another_file_system_is_told_and_not_entered(base: tuple[Path, int]) -> None:
    path, fd = base
    with tmpfs(path / "unit" / "mount") as point:
        (point / "file").write_text("x")
        seen = look(fd)
        assert seen.crosses_device and seen.entries == 2


@needs_root
def test_a_bind_mount_that_comes_while_we_walk_is_told_and_not_entered(base: tuple[Path, int], tmp_path: Path) -> None:
    path, fd = base
    for place in (path / "unit" / "mount", tmp_path / "victim"):
        place.mkdir(parents=True)
    (tmp_path / "victim" / "file").write_text("x")
    with ExitStack() as stack:

        def on_entry(_: str, name: str) -> bool:
            stack.enter_context(bind(tmp_path / "victim", path / "unit" / name))
            return False

        seen = look(fd, is_marked=on_entry)
        assert seen.crosses_device and seen.entries == 2


_LOOK_AS_USER = """
import os
from tmpwarden.oskit.files.walk import measure
os.makedirs("unit/shut/inner"); os.makedirs("unit/listable"); open("unit/listable/file", "w").close()
os.chmod("unit/shut", 0); os.chmod("unit/listable", 0o400)
seen = measure(os.open(".", os.O_RDONLY), "unit", uid=os.geteuid(), count_atime=True)
print(seen.entries, seen.unreadable, seen.at_least, oct(os.lstat("unit/shut").st_mode & 0o777))
"""


@needs_root
def test_what_cannot_be_read_is_counted_and_not_opened_up(ordinary_user: OrdinaryUser) -> None:
    result = ordinary_user.run([ordinary_user.python, "-c", _LOOK_AS_USER], cwd=ordinary_user.tmp)
    assert (result.stdout, result.stderr) == ("3 2 True 0o0\n", "")


def test_the_limit_stops_early_and_says_at_least(base: tuple[Path, int]) -> None:
    path, fd = base
    (path / "unit").mkdir()
    for number in range(50):
        (path / "unit" / f"f{number}").write_text("")
    seen = look(fd, limit=10)
    assert seen.at_least and seen.entries == 10
    assert not look(fd, limit=51).at_least


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_a_small_limit_holds_among_directories_too(base: tuple[Path, int], limit: int) -> None:
    path, fd = base
    for number in range(10):
        (path / "unit" / f"d{number}" / "e").mkdir(parents=True)
    seen = look(fd, limit=limit)
    assert seen.at_least and seen.entries <= max(1, limit)


_DEEP = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
sys.path.insert(0, sys.argv[2])
from support.trees import chain
from tmpwarden.oskit.files.walk import measure
os.chdir(sys.argv[1]); os.mkdir("unit"); fd = os.open("unit", os.O_RDONLY); chain(fd, 3000)
here = fd
for _ in range(200):
    here = os.open("d", os.O_RDONLY, dir_fd=here)
    os.mkdir("side", dir_fd=here); os.mkdir("side/inner", dir_fd=here)
    os.close(os.open("side/f", os.O_CREAT, dir_fd=here))
resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400))
seen = measure(os.open(".", os.O_RDONLY), "unit", uid=os.geteuid(), count_atime=False)
print(seen.entries, seen.at_least)
"""


def test_three_thousand_levels_with_few_descriptors(base: tuple[Path, int], run_python: Callable[..., str]) -> None:
    out = run_python(_DEEP, str(base[0]), str(Path(__file__).parents[2]))
    assert out == "3602 False\n"


def test_a_deep_tree_moved_under_us_is_told_and_not_left(
    base: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`..` of a directory that was moved leads elsewhere: the walk must not go on there."""
    path, fd = base
    (path / "unit").mkdir()
    (path / "elsewhere" / "much").mkdir(parents=True)
    top = os.open(path / "unit", os.O_RDONLY)
    chain(top, 90)
    deep = top
    for _ in range(80):
        below = os.open("d", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    real_climb = deep_walk.climb
    moved = []

    def climb(walk: "mod.Walk", here: int, inode: int) -> int:
        if len(walk.names) == 81 and not moved:  # inside what is about to be moved away
            moved.append(os.rename("d", path / "elsewhere" / "d", src_dir_fd=deep))
        return real_climb(walk, here, inode)

    monkeypatch.setattr(deep_walk, "climb", climb)
    seen = look(fd)
    os.close(deep)
    assert moved and seen.at_least and seen.unreadable == 1
    assert seen.entries == 92


def test_a_member_that_vanishes_or_changes_kind_meanwhile_is_fine(base: tuple[Path, int]) -> None:
    path, fd = base
    (path / "unit").mkdir()
    for name in ("dir", "file", "kind"):
        (path / "unit" / name).mkdir()

    def strike(directory: str, name: str) -> bool:  # between reading the name and looking at it
        if name in ("dir", "kind"):
            (path / "unit" / name).rmdir()
        if name == "kind":
            (path / "unit" / name).write_text("x")
        return False

    seen = look(fd, is_marked=strike)
    assert seen.entries == 3 and not seen.at_least


def test_opening_needs_a_directory(base: tuple[Path, int]) -> None:
    path, fd = base
    os.mkfifo(path / "fifo")
    os.symlink("/", path / "link")
    for name in ("fifo", "link"):
        with pytest.raises(NotADirectoryError if name == "fifo" else OSError):
            open_dir(name, fd)


names = st.binary(min_size=1, max_size=40).filter(
    lambda raw: b"/" not in raw and b"\0" not in raw and raw not in (b".", b"..")
)


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(names, min_size=1, max_size=12))
def test_names_come_back_byte_for_byte(tmp_path_factory: pytest.TempPathFactory, raw_names: set[bytes]) -> None:
    path = tmp_path_factory.mktemp("names")
    (path / "unit").mkdir()
    for raw in raw_names:
        os.close(os.open(os.fsencode(path / "unit") + b"/" + raw, os.O_CREAT, 0o1600))
        os.chmod(os.fsencode(path / "unit") + b"/" + raw, 0o600)
    fd = os.open(path, os.O_RDONLY)
    seen = measure(fd, "unit", uid=os.geteuid(), count_atime=False, is_marked=lambda *_: True)
    os.close(fd)
    assert seen and {os.fsencode(name) for name in seen.marked} == raw_names
