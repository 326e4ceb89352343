"""Where no quarantine can be made a tree goes in place, name by name, and stops at whatever was not judged."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.doomed import resume_in_place
from support.mounts import bind, fill_bytes, fill_inodes, needs_root, tmpfs
from support.trees import chain
from support.user import OrdinaryUser
from support.windows import strike
from tmpwarden.oskit.files import inplace as mod
from tmpwarden.oskit.files.doomed import own
from tmpwarden.oskit.files.inplace import purge_in_place
from tmpwarden.oskit.files.purge import Purged
from tmpwarden.oskit.files.walk import measure

pytestmark = pytest.mark.disk

WINDOWS = [
    "judged, not yet opened",
    "compared, not yet opened",
    "judged, not yet compared",
    "emptied, not yet removed",
]
Move = Callable[[Path], None]


class Condemned:
    """`shared/unit`, judged: what lies there, or one member in one directory."""

    def __init__(self, shared: Path) -> None:
        self.shared = shared
        if not (shared / "unit").exists():
            (shared / "unit" / "sub").mkdir(parents=True)
            (shared / "unit" / "sub" / "member").write_bytes(b"x" * 8192)
        self.fd = os.open(shared, os.O_RDONLY | os.O_DIRECTORY)
        self.doomed = own(self.fd, "unit")
        seen = measure(self.fd, "unit", uid=os.geteuid(), count_atime=False)
        assert seen
        self.bytes, self.newest_ns = seen.bytes, seen.newest_ns
        (shared / "tick").write_text("")
        while os.lstat(shared / "tick").st_ctime_ns <= self.newest_ns:  # until the kernel's clock has moved on
            os.utime(shared / "tick")

    def purge(self) -> Purged:
        return purge_in_place(self.doomed, newest_ns=self.newest_ns)


@pytest.fixture
def condemned(tmp_path: Path) -> Iterator[Condemned]:
    (tmp_path / "shared").mkdir()
    unit = Condemned(tmp_path / "shared")
    yield unit
    unit.doomed.bound.close()
    os.close(unit.fd)


def unit_becomes_a_link(shared: Path) -> None:
    (shared / "victim" / "sub").mkdir(parents=True)
    (shared / "victim" / "sub" / "member").write_text("precious")
    os.rename(shared / "unit", shared / "moved")
    os.symlink("victim", shared / "unit")


def unit_becomes_another(shared: Path) -> None:
    unit_becomes_a_link(shared)
    os.unlink(shared / "unit")
    os.rename(shared / "victim", shared / "unit")


def directory_becomes_a_link(shared: Path) -> None:
    (shared / "victim").mkdir()
    (shared / "victim" / "member").write_text("precious")
    os.rename(shared / "unit" / "sub", shared / "moved")
    os.symlink(shared / "victim", shared / "unit" / "sub")


def directory_becomes_another(shared: Path) -> None:
    directory_becomes_a_link(shared)
    os.unlink(shared / "unit" / "sub")
    os.rename(shared / "victim", shared / "unit" / "sub")


def member_is_written(shared: Path) -> None:
    (shared / "unit" / "sub" / "member").write_text("precious")


def member_is_replaced_by_an_older_file(shared: Path) -> None:
    (shared / "old").write_text("precious")
    os.utime(shared / "old", ns=(1, 1))
    os.rename(shared / "old", shared / "unit" / "sub" / "member")


def a_member_is_added(shared: Path) -> None:
    (shared / "unit" / "sub" / "new").write_text("precious")


MOVES: list[Move] = [
    unit_becomes_a_link,
    unit_becomes_another,
    directory_becomes_a_link,
    directory_becomes_another,
    member_is_written,
    member_is_replaced_by_an_older_file,
    a_member_is_added,
]


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
@pytest.mark.parametrize("window", WINDOWS)
def test_nothing_that_was_not_judged_goes(
    condemned: Condemned, monkeypatch: pytest.MonkeyPatch, window: str, move: Move
) -> None:
    fired = strike(monkeypatch, mod, window, lambda: move(condemned.shared))
    done = condemned.purge()
    assert fired == [window]
    kept = [path for path in condemned.shared.rglob("*") if path.is_file() and path.read_text() == "precious"]
    assert len(kept) == 1
    assert done.failed and done.left


def test_another_unit_of_the_same_name_stays_however_old_it_is(condemned: Condemned) -> None:
    unit_becomes_another(condemned.shared)
    condemned.newest_ns += 10**18
    assert condemned.purge().failed == (("", "it is not what was checked"),)
    assert (condemned.shared / "unit" / "sub" / "member").read_text() == "precious"


def test_another_directory_of_the_same_name_stays_however_old_it_is(
    condemned: Condemned, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its dates say nothing then: only that it is not the one that was looked at a moment ago."""
    window = "compared, not yet opened"  # the first time with the unit itself
    strike(monkeypatch, mod, window, lambda: directory_becomes_another(condemned.shared), nth=2)
    condemned.newest_ns += 10**18
    assert condemned.purge().failed == (("sub", "it is not what was checked"),)
    assert (condemned.shared / "unit" / "sub" / "member").read_text() == "precious"


@pytest.mark.parametrize("name", ["unit", "unit/sub"])
def test_an_empty_directory_that_took_the_name_stays(
    condemned: Condemned, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def take_the_name() -> None:
        os.rename(condemned.shared / name, condemned.shared / "moved")
        (condemned.shared / name).mkdir()

    strike(monkeypatch, mod, WINDOWS[-1], take_the_name, nth=1 if name == "unit/sub" else 2)
    assert condemned.purge().left
    assert (condemned.shared / name).is_dir()


def test_a_tree_goes_and_its_bytes_are_counted(condemned: Condemned) -> None:
    done = condemned.purge()
    assert (done.freed_bytes, done.entries, done.failed) == (condemned.bytes, 3, ())
    assert not (condemned.shared / "unit").exists()


def test_a_stopped_one_is_resumed(condemned: Condemned) -> None:
    """Whoever stopped it halfway, by a crash say, had made the directories younger."""
    (condemned.shared / "unit" / "sub" / "member").unlink()
    assert condemned.purge().failed == (("sub", "it changed after it was checked"),)
    assert resume_in_place(condemned.fd, "unit", newest_ns=condemned.newest_ns).left == 0
    assert not (condemned.shared / "unit").exists()


def test_a_resumed_one_stops_at_what_came_since(condemned: Condemned) -> None:
    (condemned.shared / "unit" / "sub" / "fresh").write_text("precious")
    done = resume_in_place(condemned.fd, "unit", newest_ns=condemned.newest_ns)
    assert done.failed == (("sub/fresh", "it changed after it was checked"),)
    assert (condemned.shared / "unit" / "sub" / "fresh").read_text() == "precious"


def test_an_empty_directory_that_was_made_since_stops_it(condemned: Condemned) -> None:
    (condemned.shared / "unit" / "sub" / "fresh").mkdir()
    assert condemned.purge().failed == (("sub", "it changed after it was checked"),)
    assert (condemned.shared / "unit" / "sub" / "fresh").is_dir()


def test_a_vanished_unit_is_no_failure(condemned: Condemned) -> None:
    os.rename(condemned.shared / "unit", condemned.shared / "moved")
    assert condemned.purge().failed == ()


@needs_root
@pytest.mark.parametrize("what", ["bytes", "inodes"])
def test_it_works_where_nothing_can_be_made(tmp_path: Path, what: str) -> None:
    with tmpfs(tmp_path / "full", size="1m", inodes=50) as full:
        unit = Condemned(full)
        fill_bytes(full) if what == "bytes" else fill_inodes(full)
        assert unit.purge().left == 0
        (full / "new").mkdir()
        os.close(unit.fd)


@needs_root
def test_a_member_of_another_user_stops_it(condemned: Condemned) -> None:
    os.chown(condemned.shared / "unit" / "sub" / "member", 65534, -1)
    condemned.newest_ns += 10**18
    assert condemned.purge().failed == (("sub/member", "it is not what was checked"),)


@needs_root
def test_a_bind_mount_stops_it(condemned: Condemned, tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "file").write_text("precious")
    (condemned.shared / "unit" / "sub" / "mount").mkdir()
    with bind(tmp_path / "victim", condemned.shared / "unit" / "sub" / "mount"):
        condemned.newest_ns += 10**18
        assert condemned.purge().failed == (("sub/mount", "a file system is mounted here"),)
        assert (tmp_path / "victim" / "file").read_text() == "precious"


@needs_root
def test_a_bind_mount_that_comes_at_the_last_moment_stops_it(
    condemned: Condemned, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same file system, ours and old: nothing but the mount itself tells that it is not one of the unit."""
    condemned.newest_ns += 10**18
    with ExitStack() as stack:
        mount = bind(victim, condemned.shared / "unit" / "sub")
        strike(monkeypatch, mod, "judged, not yet opened", lambda: stack.enter_context(mount))
        assert condemned.purge().failed == (("sub", "a file system is mounted here"),)
        assert (victim / "file").read_text() == "precious"


def test_a_chain_of_three_thousand_goes(condemned: Condemned) -> None:
    top = os.open(condemned.shared / "unit", os.O_RDONLY)
    chain(top, 3000)
    os.close(top)
    condemned.newest_ns += 10**18
    assert condemned.purge().left == 0
    assert not (condemned.shared / "unit").exists()


_AS_USER = """
import os
from tmpwarden.oskit.files.inplace import purge_in_place
from tmpwarden.oskit.files.doomed import own
os.makedirs("s/unit/a/b"); open("s/unit/a/b/c", "w").close()
for path in ("s/unit/a/b", "s/unit/a", "s/unit"):
    os.chmod(path, {mode})
fd = os.open("s", os.O_RDONLY)
print(purge_in_place(own(fd, "unit"), newest_ns=1 << 62), os.listdir("s"))
"""


@needs_root
@pytest.mark.parametrize("mode", ["0o500", "0o000"])
def test_read_only_directories_go_too(ordinary_user: OrdinaryUser, mode: str) -> None:
    source = _AS_USER.replace("{mode}", mode)
    result = ordinary_user.run([ordinary_user.python, "-c", source], cwd=ordinary_user.tmp)
    assert result.stderr == "" and result.stdout.endswith(", 4, (), 0) []\n")


def hard_linked(tmp_path: Path) -> Condemned:
    """As uv, pnpm and local clones make it: several names of one inode, in several directories."""
    shared = tmp_path / "linked"
    (shared / "unit" / "store").mkdir(parents=True)
    for number in range(20):
        (shared / "unit" / "store" / str(number)).write_text("x")
    for name in ("a", "b"):
        (shared / "unit" / name).mkdir()
        for number in range(20):
            os.link(shared / "unit" / "store" / str(number), shared / "unit" / name / str(number))
    os.link(shared / "unit" / "store" / "0", shared / "outside")
    return Condemned(shared)


def test_a_unit_with_hard_links_inside_goes_whole(tmp_path: Path) -> None:
    """Our own unlink dates the other names of an inode."""
    unit = hard_linked(tmp_path)
    done = unit.purge()
    assert (done.failed, done.left) == ((), 0)
    assert not (unit.shared / "unit").exists() and (unit.shared / "outside").read_text() == "x"


@pytest.mark.parametrize("touch", ["mode", "content", "link"])
def test_somebody_elses_change_of_a_linked_file_still_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, touch: str
) -> None:
    unit = hard_linked(tmp_path)
    left = [45]  # all forty-two of two directories, and three more

    def strike(here: str) -> None:
        left[0] -= here == "judged, not yet compared"
        if left[0] == 0:
            for path in (path for path in (unit.shared / "unit").rglob("*") if path.is_file()):
                if touch == "mode":
                    path.chmod(0o640)
                elif touch == "content":
                    path.write_text("precious")
                elif not (unit.shared / "new").exists():
                    os.link(path, unit.shared / "new")

    monkeypatch.setattr(mod, "_race_window", strike)
    done = unit.purge()
    if touch == "link":  # one name more of what was judged: nothing is lost, whatever goes
        assert (unit.shared / "new").read_text() == "x"
    else:
        assert done.left and [path for path in (unit.shared / "unit").rglob("*") if path.is_file()]
