"""What is written into a unit while it is walked, judged or taken is never purged with it: the unit goes back."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from support.litter import claude_session, cwd_markers, in_quarantine, later, snapshot
from support.mounts import needs_root, tmpfs
from support.windows import strike
from tmpwarden.model.request import Request
from tmpwarden.model.terms import Kind
from tmpwarden.oskit.files import roll as rolls
from tmpwarden.oskit.files import take as rename
from tmpwarden.oskit.files import walk
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.prepared import Plan
from tmpwarden.sweep.take import act, ending, recheck, taking

FOR_GOOD = Request(quarantine=False)
WINDOWS = [
    (act, "walked, not yet taken"),
    (taking, "judged, not yet pinned"),
    (rename, "judged, not yet taken"),
    (act, "taken, holders not yet looked for"),
    (ending, "taken, not yet walked again"),
]
Move = Callable[[Path], object]


def a_file_is_written_and_closed(unit: Path) -> None:
    (unit / "tasks" / "b00000000.output").write_text("fresh")


def an_old_file_is_moved_in(unit: Path) -> None:
    (unit.parent.parent / "old").write_text("fresh")
    os.utime(unit.parent.parent / "old", ns=(1, 1))
    os.rename(unit.parent.parent / "old", unit / "tasks" / "b00000001.output")


def a_file_is_added_with_an_old_date(unit: Path) -> None:
    (unit / "tasks" / "restored").write_text("fresh")
    os.utime(unit / "tasks" / "restored", ns=(1, 1))
    os.utime(unit / "tasks", ns=(1, 1))


def a_file_is_linked_in(unit: Path) -> None:
    (unit.parent.parent / "old").write_text("fresh")
    os.link(unit.parent.parent / "old", unit / "linked")
    (unit.parent.parent / "old").unlink()


MOVES: list[Move] = [
    a_file_is_written_and_closed,
    an_old_file_is_moved_in,
    a_file_is_added_with_an_old_date,
    a_file_is_linked_in,
]


class Cut(BaseException):
    """The run ends here, whatever it wanted to catch."""


def fresh_of(unit: Path) -> list[Path]:
    return [path for path in unit.rglob("*") if path.is_file() and path.read_text() == "fresh"]


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
@pytest.mark.parametrize(("module", "window"), WINDOWS, ids=lambda value: str(value)[:40])
def test_what_somebody_writes_meanwhile_sends_it_back(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, window: str, move: Move
) -> None:
    """After the rename he had a descriptor in it from before, and has closed it when the holders are looked for."""
    root = own_world / "tmp"
    unit = claude_session(root)
    struck = strike(monkeypatch, module, window, lambda: move(unit if unit.exists() else in_quarantine(root)[0]))
    result = clean(FOR_GOOD, now_ns=later(100))
    assert struck and len(fresh_of(unit)) == 1
    assert [receipt.reason.value for receipt in result.spared] == ["changed-since-judged"]
    assert in_quarantine(root) == []


def test_what_was_written_where_the_walk_had_passed_already_sends_it_back(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = claude_session(own_world / "tmp", files=3)
    measure, walked = walk.measure, []

    def slow_walk(*words: object, **more: object) -> object:
        seen = measure(*words, **more)  # type: ignore[arg-type]
        if not walked and words[1] == unit.name:
            walked.append(unit)
            a_file_is_written_and_closed(unit)
        return seen

    monkeypatch.setattr(walk, "measure", slow_walk)
    clean(FOR_GOOD, now_ns=later(100))
    assert walked and len(fresh_of(unit)) == 1


def test_part_of_it_that_somebody_took_away_sends_the_rest_back(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the dates as they were: then only the count tells."""
    unit = claude_session(own_world / "tmp")
    (unit / "notes").write_text("x")

    def take_away() -> None:
        dates = (os.lstat(unit).st_atime_ns, os.lstat(unit).st_mtime_ns)
        os.rename(unit / "tasks", own_world / "tasks")
        os.utime(unit, ns=dates)

    struck = strike(monkeypatch, taking, "judged, not yet pinned", take_away)
    clean(FOR_GOOD, now_ns=later(100))
    assert struck and (unit / "notes").exists()


def test_a_unit_that_nobody_touched_goes_and_is_walked_twice(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = claude_session(own_world / "tmp")
    measure, walked = walk.measure, []

    def counted(dir_fd: int, name: str, **words: object) -> object:
        walked.append(name)
        return measure(dir_fd, name, **words)  # type: ignore[arg-type]

    called, by_roll = rolls.called, []

    def counted_too(dir_fd: int, name: str, roll: rolls.Roll, **words: object) -> object:
        by_roll.append(name)
        return called(dir_fd, name, roll, **words)  # type: ignore[arg-type]

    monkeypatch.setattr(walk, "measure", counted)
    monkeypatch.setattr(rolls, "called", counted_too)
    clean(FOR_GOOD, now_ns=later(100))
    assert not unit.exists()
    assert len([name for name in walked if name == unit.name]) == 1
    assert len([name for name in by_roll if name.endswith(".u")]) == 2, "the unit, and the project that it emptied"
    assert [name for name in walked if name.endswith(".u")] == [], "what was called by its roll is not walked as well"


def answering(move: Callable[[], object]) -> None:
    """A person who is asked, while `move` happens."""

    def yes(plan: Plan) -> bool:
        move()
        return True

    clean(FOR_GOOD, confirm=yes, now_ns=later(100))


def test_what_came_while_a_person_was_asked_keeps_it(own_world: Path) -> None:
    unit = claude_session(own_world / "tmp")
    answering(lambda: a_file_is_written_and_closed(unit))
    assert len(fresh_of(unit)) == 1


def test_a_read_only_unit_that_nobody_touched_goes_although_its_mode_was_mended(own_world: Path) -> None:
    unit = claude_session(own_world / "tmp")
    unit.chmod(0o500)
    clean(FOR_GOOD, now_ns=later(100))
    assert not unit.exists()


def test_a_marker_that_is_written_after_its_take_goes_back(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    markers = cwd_markers(own_world / "tmp", 5)

    def write() -> None:
        in_quarantine(own_world / "tmp")[0].write_text("/home/me/fresh\n")

    struck = strike(monkeypatch, act, "taken, holders not yet looked for", write)
    clean(now_ns=later(100))
    assert struck and [path.read_text() for path in markers if path.exists()] == ["/home/me/fresh\n"]


def test_a_marker_that_cannot_be_looked_at_once_more_goes_back(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing disk says nothing of what was written to it."""
    (marker,) = cwd_markers(own_world / "tmp", 1)

    def look(token: str, **more: object) -> os.stat_result:
        raise OSError(errno.EIO, os.strerror(errno.EIO), token)

    strike(
        monkeypatch, act, "taken, holders not yet looked for", lambda: monkeypatch.setattr(recheck.os, "lstat", look)
    )
    result = clean(Request(), now_ns=later(1))
    monkeypatch.undo()
    assert marker.exists() and result.removed == []


@needs_root
def test_quarantine_that_pressure_empties_at_once_is_looked_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was put there by the very same run, so nobody had the time to miss it."""
    with tmpfs(tmp_path / "t", size="4m") as root:
        units = [claude_session(root, files=1, slug=f"-{number}") for number in range(7)]
        for unit in units:
            (unit / "big").write_bytes(b"x" * (512 << 10))
        pin, struck = rename.pin, []

        def late_pin(dir_fd: int, name: str) -> int:
            for unit in units:
                if unit.name == name:
                    struck.append(name)
                    a_file_is_written_and_closed(unit)
            return pin(dir_fd, name)

        monkeypatch.setattr(rename, "pin", late_pin)
        result = clean(Request(roots=(str(root),)), now_ns=later(100))
        left = [unit for unit in units if unit.exists()] + in_quarantine(root)
        assert len(struck) == 7 and sum(len(fresh_of(unit)) for unit in left) == 7
        assert [each.reason.value for each in result.spared if each.finding.kind is Kind.DIR]
        assert not [each for each in result.removed if not each.undoable and each.entries > 1]


def test_a_killed_judging_of_an_unchanged_unit_is_finished_by_the_next_run(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut() -> None:
        raise Cut

    unit = claude_session(own_world / "tmp")
    strike(monkeypatch, ending, "taken, not yet walked again", cut)
    with pytest.raises(Cut):
        clean(FOR_GOOD, now_ns=later(100))
    assert [path.suffix for path in in_quarantine(own_world / "tmp")] == [".u"]
    clean(Request(rows=("claude.cwd-marker",)), now_ns=later(100))
    assert not unit.exists() and in_quarantine(own_world / "tmp") == []


def test_a_killed_judging_of_a_changed_unit_is_put_back_by_the_next_run(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_and_cut() -> None:
        a_file_is_written_and_closed(in_quarantine(own_world / "tmp")[0])
        raise Cut

    unit = claude_session(own_world / "tmp")
    strike(monkeypatch, ending, "taken, not yet walked again", write_and_cut)
    with pytest.raises(Cut):
        clean(FOR_GOOD, now_ns=later(100))
    clean(Request(rows=("claude.cwd-marker",)), now_ns=later(100))
    assert len(fresh_of(unit)) == 1 and len(snapshot(unit)) == 5
