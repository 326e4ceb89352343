"""A tree that was walked is looked at and removed by its roll: the same sums, and no change of it goes unseen."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.doomed import destroy
from support.trees import chain
from tmpwarden.model.sweep import Measure
from tmpwarden.oskit.files import emptier, walk
from tmpwarden.oskit.files import roll as mod
from tmpwarden.oskit.files.walk import JUST_NOW, measure


class Walked:
    """`a/unit`, walked, and then moved to `b/taken`."""

    def __init__(self, base: Path) -> None:
        self.roll: mod.Roll = []
        self.old, self.new = base / "a" / "unit", base / "b" / "taken"
        (self.old / "sub" / "deeper").mkdir(parents=True)
        (self.old / "empty").mkdir()
        for name in ("one", "sub/two", "sub/deeper/three", "sub/four"):
            (self.old / name).write_bytes(b"x" * 5000)
        (self.old / "sub" / "link").symlink_to("nowhere")
        self.new.parent.mkdir()
        self.from_fd = os.open(base / "a", os.O_RDONLY)
        self.fd = os.open(base / "b", os.O_RDONLY)

    def walk(self) -> Measure:
        seen = measure(self.from_fd, "unit", uid=os.geteuid(), count_atime=False, roll=self.roll)
        assert seen
        tick = self.new.parent / "tick"
        tick.write_text("")
        while os.lstat(tick).st_ctime_ns <= seen.newest_ns:  # until the kernel's clock has moved on
            os.utime(tick)
        return seen

    def move(self) -> None:
        os.rename(self.old, self.new)

    def call(self, **words: object) -> Measure | None:
        return mod.called(self.fd, "taken", self.roll, uid=os.geteuid(), **words)  # type: ignore[arg-type]

    def again(self) -> Measure | None:
        return measure(self.fd, "taken", uid=os.geteuid(), count_atime=False, was_moved=JUST_NOW)


@pytest.fixture
def walked(tmp_path: Path) -> Iterator[Walked]:
    made = Walked(tmp_path)
    yield made
    os.close(made.from_fd)
    os.close(made.fd)


def with_oddities(walked: Walked) -> None:
    os.link(walked.old / "one", walked.old / "sub" / "one again")
    here = os.getcwd()
    os.chdir(walked.old / "sub")
    socket.socket(socket.AF_UNIX).bind("socket")
    os.chdir(here)
    os.mkfifo(walked.old / "fifo")


@pytest.mark.parametrize("prepare", [lambda _: None, with_oddities], ids=["plain", "with oddities"])
def test_the_sums_are_those_of_a_walk(walked: Walked, prepare: Callable[[Walked], None]) -> None:
    prepare(walked)
    walked.walk()
    walked.move()
    assert walked.call() == walked.again() is not None


def test_a_lock_is_seen(walked: Walked) -> None:
    walked.walk()
    walked.move()
    status = os.lstat(walked.new / "sub" / "two")
    seen = walked.call(locked=frozenset({(status.st_dev, status.st_ino)}))
    assert seen and seen.locked == ("sub/two",)


def write(unit: Path) -> None:
    (unit / "sub" / "deeper" / "three").write_text("fresh")


def write_with_an_old_date(unit: Path) -> None:
    write(unit)
    os.utime(unit / "sub" / "deeper" / "three", ns=(1, 1))


def keeping_dates(folder: Path, change: Callable[[], object]) -> None:
    before = os.lstat(folder)
    change()
    os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))


def add(unit: Path) -> None:
    keeping_dates(unit / "sub", lambda: (unit / "sub" / "new").write_text("fresh"))


def add_to_the_root(unit: Path) -> None:
    keeping_dates(unit, lambda: (unit / "new").write_text("fresh"))


def fill_what_was_empty(unit: Path) -> None:
    keeping_dates(unit / "empty", lambda: (unit / "empty" / "new").write_text("fresh"))


def exchange_in_the_root(unit: Path) -> None:
    keeping_dates(unit, lambda: os.rename(unit / "one", unit / "another"))


def take_away(unit: Path) -> None:
    keeping_dates(unit / "sub", lambda: os.rename(unit / "sub" / "two", unit.parent.parent / "two"))


def a_directory_becomes_a_link(unit: Path) -> None:
    os.rename(unit / "sub", unit.parent.parent / "sub")
    os.symlink(unit.parent.parent / "sub", unit / "sub")


MOVES = [
    write,
    write_with_an_old_date,
    add,
    add_to_the_root,
    fill_what_was_empty,
    exchange_in_the_root,
    take_away,
    a_directory_becomes_a_link,
]


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
def test_no_change_goes_unseen(walked: Walked, move: Callable[[Path], None]) -> None:
    judged = walked.walk()
    move(walked.old)
    walked.move()
    seen = walked.call()
    assert seen is None or seen.newest_ns > judged.newest_ns


def test_it_goes_by_its_roll_without_being_listed(walked: Walked, monkeypatch: pytest.MonkeyPatch) -> None:
    walked.walk()
    walked.move()
    measured = walked.call()
    assert measured
    monkeypatch.setattr(emptier.os, "scandir", lambda fd: pytest.fail("listed"))
    done = destroy(walked.fd, "taken", measured=measured, roll=walked.roll)
    assert (done.entries, done.failed, done.left) == (measured.entries, (), 0)
    assert done.freed_bytes == measured.bytes and not walked.new.exists()


def test_what_is_in_the_way_goes_as_in_any_purge(walked: Walked) -> None:
    """It came after the call, from somebody who had a directory open: what is doomed by its name goes whole."""
    walked.walk()
    walked.move()
    measured = walked.call()
    (walked.new / "sub" / "late").write_text("x")
    done = destroy(walked.fd, "taken", measured=measured, roll=walked.roll)
    assert (done.failed, done.left) == ((), 0) and not walked.new.exists()


def test_a_tree_of_more_names_than_a_roll_holds_is_listed(walked: Walked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "MOST", 5)
    seen = walked.walk()
    assert walked.roll == [] and seen.entries == 9


def test_a_tree_that_is_too_deep_is_listed(walked: Walked) -> None:
    top = os.open(walked.old, os.O_RDONLY)
    chain(top, 200)
    os.close(top)
    assert walked.walk().entries > 200 and walked.roll == []


def test_a_directory_whose_date_went_back_is_walked(walked: Walked) -> None:
    """The clock was set back meanwhile: it is not newer, only another."""
    walked.walk()
    walked.move()
    walked.roll[:] = [(one[0], one[1] + 1, one[2]) if isinstance(one, tuple) else one for one in walked.roll]
    assert walked.call() is None
