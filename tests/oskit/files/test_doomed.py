"""Nothing is destroyed without a Doomed, which only four makers build, and each of them asks for its proof."""

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.mounts import needs_root
from support.trees import opened
from tmpwarden.lazy_dataclass import replace
from tmpwarden.model.answers import Held, Nobody, NotMeasured, Users
from tmpwarden.model.processes import Hole
from tmpwarden.model.sweep import Evidence, Finding, Owner, Remove, Witness
from tmpwarden.model.terms import Kind, OwnerState, Reason, WitnessKind
from tmpwarden.oskit.files import doomed as mod
from tmpwarden.oskit.files import emptier
from tmpwarden.oskit.files.dated import born_ns
from tmpwarden.oskit.files.doomed import Bound, Doomed, expired, judged, own, resumed
from tmpwarden.oskit.files.inplace import purge_in_place
from tmpwarden.oskit.files.own_files import remove_file, remove_tree
from tmpwarden.oskit.files.punch import punch
from tmpwarden.oskit.files.purge import Unlinked, purge, purge_own, unlink_same
from tmpwarden.repos.worktrees.survey import LITTER

TOKEN = "0123456789abcdef.x"
UNKNOWN: list[Users] = [NotMeasured("hidden", askable=True), Held((Witness(WitnessKind.OPEN_FILE, "f"),))]


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    with opened(tmp_path / "ours") as found:
        (found[0] / TOKEN).mkdir()
        (found[0] / TOKEN / "file").write_text("x")
        yield found


def verdict_on(path: Path, *, doubt: str = "", members: tuple[str, ...] = ()) -> Remove:
    status = path.lstat()
    kind = Kind.DIR if path.is_dir() else Kind.FILE
    finding = Finding(LITTER, str(path.parent), str(path.parent), path.name, kind, status.st_dev, status.st_ino)
    evidence = Evidence(Owner(OwnerState.DEAD), Nobody(), None)
    return Remove(replace(finding, members=members), evidence, Reason.TORN_DOWN, doubt)


def make_judged(path: Path, fd: int) -> Doomed:
    return judged(fd, path.name, verdict_on(path), Nobody())


def make_expired(path: Path, fd: int) -> Doomed:
    return expired(Bound(fd, path.name), fd, path.name, Nobody())


def make_resumed(path: Path, fd: int) -> Doomed:
    return resumed(fd, path.name)


def make_own(path: Path, fd: int) -> Doomed:
    return own(fd, path.name)


MAKERS = [make_judged, make_expired, make_resumed, make_own]
Maker = Callable[[Path, int], Doomed]


def test_nobody_else_can_build_one(ours: tuple[Path, int]) -> None:
    path, fd = ours
    for key in (None, object(), "own"):
        with pytest.raises(TypeError), Bound(fd, TOKEN) as bound:
            Doomed(key, "own", bound, fd, TOKEN)
    with own(fd, TOKEN) as doomed, pytest.raises(AttributeError):
        doomed.name = "another"
    assert (path / TOKEN / "file").exists()


def by_purge(doomed: Doomed) -> None:
    assert purge(doomed).trouble


def by_unlink_same(doomed: Doomed) -> None:
    assert unlink_same(doomed) == Unlinked.CHANGED


def by_purge_in_place(doomed: Doomed) -> None:
    assert purge_in_place(doomed, newest_ns=1 << 62).trouble


def by_path(doomed: Doomed) -> None:
    assert not remove_tree(doomed)


@pytest.mark.parametrize("way", [by_purge, by_unlink_same, by_purge_in_place, by_path], ids=lambda way: way.__name__)
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_what_took_its_name_meanwhile_is_left_alone(
    ours: tuple[Path, int], maker: Maker, way: Callable[[Doomed], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, fd = ours
    monkeypatch.chdir(path)  # for the way by path
    with maker(path / TOKEN, fd) as doomed:
        (path / TOKEN).rename(path / "moved")
        (path / TOKEN).mkdir()
        (path / TOKEN / "precious").write_text("x")
        way(doomed)
    assert (path / TOKEN / "precious").exists() and (path / "moved" / "file").exists()


def test_a_small_file_of_ours_that_was_exchanged_stays(ours: tuple[Path, int], monkeypatch: pytest.MonkeyPatch) -> None:
    path, fd = ours
    (path / "lease").write_text("x")

    def exchanged(*words: object) -> Doomed:
        found = own(fd, "lease")
        (path / "lease").rename(path / "moved")
        (path / "lease").write_text("precious")
        return found

    monkeypatch.setattr(mod, "own", exchanged)
    assert not remove_file("lease", fd)
    assert (path / "lease").read_text() == "precious"


def test_an_exchange_after_the_last_look_is_noticed_when_it_is_opened(
    ours: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, fd = ours
    enter = emptier.enter

    def exchanged(name: str, dir_fd: int) -> int:
        if dir_fd == fd and not (path / "moved").exists():
            (path / TOKEN).rename(path / "moved")
            (path / TOKEN).mkdir()
            (path / TOKEN / "precious").write_text("x")
        return enter(name, dir_fd)

    monkeypatch.setattr(emptier, "enter", exchanged)
    with own(fd, TOKEN) as doomed:
        assert purge(doomed).left
    assert (path / TOKEN / "precious").exists()


@pytest.mark.parametrize("users", UNKNOWN, ids=repr)
def test_what_is_not_proven_to_be_unused_is_neither_judged_nor_expired(ours: tuple[Path, int], users: Users) -> None:
    path, fd = ours
    with pytest.raises(PermissionError):
        judged(fd, TOKEN, verdict_on(path / TOKEN), users)
    with Bound(fd, TOKEN) as bound, pytest.raises(PermissionError):
        expired(bound, fd, TOKEN, users)


def test_only_the_very_unit_that_was_judged_is(ours: tuple[Path, int]) -> None:
    path, fd = ours
    (path / "other").mkdir()
    with pytest.raises(OSError, match="not what was checked"):
        judged(fd, "other", verdict_on(path / TOKEN), Nobody())


def test_an_inode_number_that_was_given_again_is_another_unit(ours: tuple[Path, int]) -> None:
    path, fd = ours
    born = born_ns(fd, TOKEN)
    if born is None:
        pytest.skip("this file system writes no births down")
    verdict = verdict_on(path / TOKEN)
    judged(fd, TOKEN, verdict, Nobody(), born_ns=born).bound.close()
    with pytest.raises(OSError, match="not what was checked"):
        judged(fd, TOKEN, verdict, Nobody(), born_ns=born - 1)
    status = (path / TOKEN).stat()
    with pytest.raises(OSError, match="not what was checked"):
        resumed(fd, TOKEN, identity=(status.st_dev, status.st_ino, born - 1))


@pytest.mark.parametrize("maker", MAKERS[:3], ids=lambda maker: maker.__name__)
def test_what_has_another_birth_is_left_alone_whatever_its_inode_number(ours: tuple[Path, int], maker: Maker) -> None:
    """Where no descriptor holds it, the number is given out again at once."""
    path, fd = ours
    with maker(path / TOKEN, fd) as doomed:
        born = doomed.bound.born_ns or born_ns(fd, TOKEN)
        if born is None:
            pytest.skip("this file system writes no births down")
        doomed.bound.born_ns = born - 1
        with pytest.raises(OSError, match="not what was checked"):
            doomed.look()
        assert purge(doomed).left and (path / TOKEN / "file").exists()


def test_a_directory_that_somebody_may_work_in_unseen_only_waits(ours: tuple[Path, int]) -> None:
    path, fd = ours
    with pytest.raises(PermissionError, match="somebody hides"):
        judged(fd, TOKEN, verdict_on(path / TOKEN, doubt="somebody hides"), Nobody())


def test_a_member_of_a_swarm_is_a_file_of_ours(ours: tuple[Path, int]) -> None:
    path, fd = ours
    with pytest.raises(OSError, match="not what was checked"):
        judged(fd, TOKEN, verdict_on(path, members=("a",)), Nobody())


@pytest.mark.parametrize("name", ["0123456789abcdef.k", "0123456789abcdef.u", "file.x", "0123456789abcdeg.x"])
def test_only_a_name_that_says_so_is_resumed(ours: tuple[Path, int], name: str) -> None:
    path, fd = ours
    (path / name).write_text("x")
    with pytest.raises(PermissionError):
        resumed(fd, name)


def test_only_what_the_intent_tells_is_resumed(ours: tuple[Path, int]) -> None:
    path, fd = ours
    status = (path / TOKEN).stat()
    with pytest.raises(OSError, match="not what was checked"):
        resumed(fd, TOKEN, identity=(status.st_dev, status.st_ino + 1, None))


@needs_root
def test_what_is_not_ours_is_not_our_own(ours: tuple[Path, int]) -> None:
    path, fd = ours
    os.chown(path / TOKEN, 12345, 12345)
    with pytest.raises(PermissionError):
        own(fd, TOKEN)
    assert purge_own(fd, TOKEN).left == 1 and (path / TOKEN / "file").exists()


def test_a_refusal_leaves_no_descriptor(ours: tuple[Path, int]) -> None:
    path, fd = ours
    (path / "other").mkdir()
    before = os.listdir("/proc/self/fd")
    for refused in (
        lambda: judged(fd, TOKEN, verdict_on(path / TOKEN), UNKNOWN[0]),
        lambda: judged(fd, "other", verdict_on(path / TOKEN), Nobody()),
        lambda: resumed(fd, TOKEN, identity=(0, 0, None)),
    ):
        try:
            refused()
        except OSError as error:
            assert error.errno in (errno.EPERM, errno.ESTALE)
        else:
            pytest.fail("it was not refused")
    with own(fd, TOKEN) as doomed:
        purge(doomed)
    assert os.listdir("/proc/self/fd") == before


# A hole in an open file, which may have no name


def hole_in(fd: int, *, inode: int | None = None) -> Hole:
    status = os.fstat(fd)
    return Hole(fd, status.st_dev, status.st_ino if inode is None else inode)


@pytest.mark.parametrize(
    ("users", "why"),
    [(UNKNOWN[0], r"\] it could not be checked whether it is in use$"), (UNKNOWN[1], r"\] it is in use$")],
    ids=["not measured", "held"],
)
def test_nothing_is_punched_that_somebody_else_may_use(tmp_path: Path, users: Users, why: str) -> None:
    with (tmp_path / "log").open("ab") as file, pytest.raises(OSError, match=why):
        judged(None, "", hole_in(file.fileno()), users)


def test_another_file_than_the_judged_one_is_not_punched(tmp_path: Path) -> None:
    with (tmp_path / "log").open("ab") as file, pytest.raises(OSError, match="not what was checked"):
        judged(None, "", hole_in(file.fileno(), inode=1), Nobody())


def test_a_hole_is_made_in_the_open_file_that_was_judged_also_when_its_name_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * (1 << 20))
    with path.open("ab") as file:
        path.unlink()
        with judged(None, "", hole_in(file.fileno()), Nobody()) as doomed:
            assert punch(doomed, keep_last_bytes=4096) == (1 << 20) - 4096
        with open(f"/proc/self/fd/{file.fileno()}", "rb") as left:
            assert left.read() == bytes((1 << 20) - 4096) + b"x" * 4096
