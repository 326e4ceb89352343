"""One ENOSPC or EDQUOT proves no full disk: only where there really is no room may a unit go in place."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support.litter import claude_session, in_quarantine, later, snapshot
from support.mounts import fill_bytes, fill_inodes, needs_root, tmpfs
from tmpwarden.oskit.files import own_dirs, take
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store.quarantine import Quarantines
from tmpwarden.sweep.store.undo import undo

REFUSALS = [errno.ENOSPC, errno.EDQUOT]


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


@pytest.mark.parametrize("times", [1, 10**6], ids=["once", "each time"])
@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda code: errno.errorcode[code])
def test_a_move_that_is_refused_for_want_of_room_destroys_nothing_where_there_is_room(
    root: Path, monkeypatch: pytest.MonkeyPatch, refusal: int, times: int
) -> None:
    unit = claude_session(root)
    before, rename, left = snapshot(unit), take._rename, [times]

    def refused(*words: object) -> int:
        left[0] -= 1
        return refusal if left[0] >= 0 else rename(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(take, "_rename", refused)
    result = clean(now_ns=later(100))
    assert [(each.finding.path, each.detail) for each in result.failed] == [
        (str(unit), "moving it failed with ENOSPC although there is space")
    ]
    assert snapshot(unit) == before and in_quarantine(root) == []
    monkeypatch.undo()
    clean(now_ns=later(100))
    assert not unit.exists()
    undo()
    assert snapshot(unit) == before


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda code: errno.errorcode[code])
def test_a_quarantine_that_could_not_be_made_once_is_tried_again(
    root: Path, monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    unit = claude_session(root)
    before, mkdir, left = snapshot(unit), os.mkdir, [1]

    def refused(name: str, *words: object, **more: object) -> None:
        if name == "q" and left:
            left.pop()
            raise OSError(refusal, os.strerror(refusal))
        mkdir(name, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(own_dirs.os, "mkdir", refused)
    clean(now_ns=later(100))
    assert not unit.exists() and not left
    undo()
    assert snapshot(unit) == before


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda code: errno.errorcode[code])
def test_where_there_is_room_nothing_goes_for_good_because_no_quarantine_can_be_made(
    root: Path, monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    unit = claude_session(root)
    before, mkdir = snapshot(unit), os.mkdir

    def refused(name: str, *words: object, **more: object) -> None:
        if name == "q":
            raise OSError(refusal, os.strerror(refusal))
        mkdir(name, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(own_dirs.os, "mkdir", refused)
    result = clean(now_ns=later(100))
    assert snapshot(unit) == before
    (failed,) = result.failed
    assert failed.finding.path == str(unit)
    assert failed.detail.endswith(f"cannot be opened: {os.strerror(refusal)}, although there is room")


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda code: errno.errorcode[code])
def test_a_run_opens_its_quarantine_though_it_was_refused_once(
    root: Path, monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    mkdir, left = os.mkdir, [1]

    def refused(name: str, *words: object, **more: object) -> None:
        if name == "q" and left:
            left.pop()
            raise OSError(refusal, os.strerror(refusal))
        mkdir(name, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(own_dirs.os, "mkdir", refused)
    quarantines = Quarantines(str(root.parent / "state" / "tmpwarden"))
    assert quarantines.open(str(root)) is not None and not left
    quarantines.close()


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda code: errno.errorcode[code])
def test_a_second_refusal_is_believed_as_a_quota_gives_it(
    root: Path, monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    """The numbers of the file system say nothing of a quota: neither a move nor anything new is let in."""
    unit = claude_session(root)
    (root / f"tmpwarden-{os.geteuid()}").mkdir(0o700)
    (root / f"tmpwarden-{os.geteuid()}" / "q").mkdir(0o700)
    opened = os.open

    def refused(path: str, flags: int, *words: object, **more: object) -> int:
        if flags & os.O_EXCL and path.endswith(".x"):
            raise OSError(refusal, os.strerror(refusal))
        return opened(path, flags, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(take, "_rename", lambda *words: refusal)
    monkeypatch.setattr(take.os, "open", refused)
    clean(now_ns=later(100))
    assert not unit.exists() and in_quarantine(root) == []


@needs_root
@pytest.mark.parametrize("fill", [fill_bytes, fill_inodes], ids=lambda fill: fill.__name__)
def test_a_file_system_that_says_it_is_full_is_believed(tmp_path: Path, fill: Callable[[Path], object]) -> None:
    """Without a byte left an empty file can still be made, and a rename fails where its directory has to grow."""
    with tmpfs(tmp_path / "t", size="1m", inodes=300) as root:
        fd = os.open(root, os.O_RDONLY)
        try:
            assert not take.is_full(fd)
            fill(root)
            assert take.is_full(fd)
        finally:
            os.close(fd)


def test_a_second_try_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "q").mkdir()
    fd = os.open(tmp_path / "q", os.O_RDONLY)
    try:
        assert not take.is_full(fd)
    finally:
        os.close(fd)
    assert list((tmp_path / "q").iterdir()) == []
