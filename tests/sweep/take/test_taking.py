"""Between the judging and the take: whatever stands there now and is not what was checked stays where it is."""

import errno
import fcntl
import os
import time
from pathlib import Path

import pytest

from support.litter import HOUR_NS, claude_session, cwd_markers, in_quarantine, later, snapshot
from tmpwarden.model.answers import Nobody
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Finding, Receipt, Remove
from tmpwarden.model.terms import Outcome, Reason
from tmpwarden.oskit.files import take
from tmpwarden.sweep.compose import prepare
from tmpwarden.sweep.prepared import Prepared
from tmpwarden.sweep.store.journal import Journal
from tmpwarden.sweep.store.quarantine import Quarantines
from tmpwarden.sweep.take.act import Actor
from tmpwarden.sweep.take.purger import Purger
from tmpwarden.sweep.take.taking import remove_in_place

HOURS = 100


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


class Judged:
    """One unit, or one swarm, that has been judged and may go: the moment before it is taken."""

    def __init__(self) -> None:
        self.prepared: Prepared = prepare(Request(), now_ns=later(HOURS))
        self.journal = Journal(self.prepared.state)
        assert self.journal.open()
        quarantines = Quarantines(self.prepared.state, self.prepared.home_roots)
        self.actor = Actor(self.prepared.weigher, self.journal, quarantines, Purger())
        (self.verdict,) = (verdict for verdict in self.prepared.verdicts() if isinstance(verdict, Remove))

    def taken(self) -> list[Receipt]:
        taken = (*self.actor.take(self.verdict, is_fresh=True), *self.actor.finish())
        return [*taken, *self.actor.remaining()]


def replaced(unit: Path) -> Path:
    """Somebody has put a directory of the same name there; what was judged lives on, and so does its inode."""
    unit.rename(unit.with_name("moved"))
    unit.mkdir()
    (unit / "precious").write_text("x")
    return unit / "precious"


def test_a_successor_of_the_judged_unit_is_not_taken(root: Path) -> None:
    unit = claude_session(root)
    judged = Judged()
    precious = replaced(unit)
    assert [(one.outcome, one.reason) for one in judged.taken()] == [(Outcome.KEPT, Reason.CHANGED)]
    assert precious.exists()


def test_a_successor_of_the_judged_unit_is_not_removed_in_its_place(root: Path) -> None:
    unit = claude_session(root)
    judged = Judged()
    precious = replaced(unit)
    os.utime(precious, (0, 0))
    parent = os.open(unit.parent, os.O_RDONLY)
    try:
        receipt = remove_in_place(
            judged.verdict, parent, judged.journal, judged.prepared.weigher.member_may_go, Nobody()
        )
    finally:
        os.close(parent)
    assert (receipt.outcome, receipt.reason) == (Outcome.KEPT, Reason.CHANGED)
    assert precious.exists()


def test_a_member_that_was_exchanged_after_it_was_looked_at_is_not_removed_in_place(root: Path) -> None:
    _, second = cwd_markers(root, 2)
    judged = Judged()

    def exchanged(finding: Finding, name: str, status: os.stat_result) -> bool:
        """It may go, and somebody puts a file of his there."""
        if name == second.name:
            second.rename(root / "elsewhere")
            second.write_text("precious")
        return judged.prepared.weigher.member_may_go(finding, name, status)

    parent = os.open(root, os.O_RDONLY)
    try:
        receipt = remove_in_place(judged.verdict, parent, judged.journal, exchanged, Nobody())
    finally:
        os.close(parent)
    assert (receipt.outcome, receipt.reason) == (Outcome.KEPT, Reason.CHANGED)
    assert second.read_text() == "precious"


def test_a_directory_that_somebody_has_locked_meanwhile_is_not_taken(root: Path) -> None:
    unit = claude_session(root)
    judged = Judged()
    fd = os.open(unit, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        assert [(one.outcome, one.reason) for one in judged.taken()] == [(Outcome.KEPT, Reason.LOCK)]
    finally:
        os.close(fd)
    assert unit.exists()


def test_what_is_worth_something_is_not_taken_when_its_intent_cannot_be_written(root: Path) -> None:
    unit = claude_session(root)
    before = snapshot(unit)
    judged = Judged()
    Path(judged.journal.path).unlink()
    Path(judged.journal.path).mkdir()  # as good as a full disk: no line can be written
    assert [(one.outcome, one.reason) for one in judged.taken()] == [(Outcome.FAILED, Reason.NO_JOURNAL)]
    assert snapshot(unit) == before


def test_a_member_of_a_swarm_that_was_written_meanwhile_stays(root: Path) -> None:
    first, second, third = cwd_markers(root, 3)
    judged = Judged()
    now_s = time.time() + HOURS * HOUR_NS / 1e9
    os.utime(second, (now_s, now_s))
    judged.taken()
    assert [path.exists() for path in (first, second, third)] == [False, True, False]


def test_a_member_of_a_swarm_that_was_marked_to_stay_meanwhile_stays(root: Path) -> None:
    """None of its dates tells, so that no later look would."""
    first, second = cwd_markers(root, 2)
    judged = Judged()
    second.chmod(0o1600)
    judged.taken()
    assert [path.exists() for path in (first, second)] == [False, True]


def test_a_member_of_a_swarm_that_became_something_else_stays(root: Path) -> None:
    first, second = cwd_markers(root, 2)
    judged = Judged()
    precious = root.parent / "home" / "precious"
    precious.write_text("x")
    second.unlink()
    second.symlink_to(precious)
    judged.taken()
    assert not first.exists()
    assert second.is_symlink() and precious.exists()


@pytest.fixture(params=[3, 1], ids=["one of three", "the only one"])
def markers(root: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The last of them cannot be opened: there is no descriptor left."""
    made, real = cwd_markers(root, request.param), take.pin

    def starved(dir_fd: int, name: str) -> int:
        if name == made[-1].name:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return real(dir_fd, name)

    monkeypatch.setattr(take, "pin", starved)
    return made


def test_a_member_of_a_swarm_that_cannot_be_opened_is_told_as_failed(markers: list[Path]) -> None:
    (told,) = [one for one in Judged().taken() if one.outcome is Outcome.FAILED]
    assert (told.finding.members, told.reason) == ((markers[-1].name,), Reason.NOT_MEASURED)
    assert "Too many open files" in told.detail
    assert [path.exists() for path in markers] == [False] * (len(markers) - 1) + [True]


def test_what_cannot_be_opened_to_be_removed_in_place_is_told_as_failed(root: Path, markers: list[Path]) -> None:
    judged = Judged()
    parent = os.open(root, os.O_RDONLY)
    try:
        told = remove_in_place(judged.verdict, parent, judged.journal, judged.prepared.weigher.member_may_go, Nobody())
    finally:
        os.close(parent)
    assert told.outcome is Outcome.FAILED and "Too many open files" in told.detail
    assert [path.exists() for path in markers] == [False] * (len(markers) - 1) + [True]


def test_what_came_in_the_place_of_a_member_and_cannot_go_back_is_never_purged(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is taken a third time meanwhile: both are somebody's."""
    cwd_markers(root, 3)
    judged = Judged()
    member = root / judged.verdict.finding.members[0]
    struck: list[str] = []

    def strike(here: str) -> None:
        if here == "judged, not yet taken" and not struck:
            struck.append(here)
            member.rename(root / "elsewhere")
            member.write_text("second")
        elif here == "found wrong, not yet put back":
            member.write_text("third")

    monkeypatch.setattr(take, "_race_window", strike)
    judged.taken()
    inside = in_quarantine(root)
    assert [(path.suffix, path.read_text()) for path in inside] == [(".p", "second")]
    assert member.read_text() == "third"


def test_where_the_quarantine_is_squatted_nothing_that_undo_was_promised_for_goes(root: Path) -> None:
    unit = claude_session(root)
    before = snapshot(unit)
    (root / f"tmpwarden-{os.geteuid()}").symlink_to(root.parent / "home")
    assert [(one.outcome, one.reason) for one in Judged().taken()] == [(Outcome.FAILED, Reason.NO_QUARANTINE)]
    assert snapshot(unit) == before
