"""For each witness of life: a real process that uses a dead owner's scratch in that way and no other keeps it."""

import contextlib
import os
from pathlib import Path

import pytest

from support import users
from support.hearing import why
from support.holding import process
from support.litter import claude_session, in_quarantine, later
from support.users import Uses
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Keep, Verdict
from tmpwarden.model.terms import Outcome, OwnerState, Reason
from tmpwarden.oskit.files import take
from tmpwarden.sweep.compose import clean, scan
from tmpwarden.sweep.take import act

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount and to change the root directory")

WITNESSES = [
    (users.opens_a_file, Reason.OPEN_FILE),
    (users.opens_a_directory, Reason.OPEN_FILE),
    (users.works_in_it, Reason.WORKING_DIRECTORY),
    pytest.param(users.is_rooted_in_it, Reason.ROOT_DIRECTORY, marks=needs_root),
    (users.runs_a_program_in_it, Reason.EXECUTABLE),
    (users.maps_a_file, Reason.MAPPED_FILE),
    (users.has_its_tmpdir_in_it, Reason.TMPDIR),
    (users.carries_the_session, Reason.SESSION),
    (users.locks_a_file, Reason.LOCK),
    (users.listens_in_it, Reason.SOCKET),
    pytest.param(users.has_something_mounted_in_it, Reason.MOUNT, marks=needs_root),
    pytest.param(users.has_a_part_mounted_elsewhere, Reason.MOUNT_SOURCE, marks=needs_root),
    pytest.param(users.opens_it_under_another_name, Reason.OPEN_FILE, marks=needs_root),
    (users.opens_it_in_a_grandchild, Reason.OPEN_FILE),
]
IDS = [getattr(row, "values", row)[0].__name__ for row in WITNESSES]
hours_later = later(2)


@pytest.fixture
def unit(own_world: Path) -> Path:
    return users.leased_scratch(own_world / "tmp")


def verdict_on(unit: Path) -> Verdict:
    (verdict,) = [verdict for verdict in scan(now_ns=hours_later) if verdict.finding.path == str(unit)]
    return verdict


def test_a_dead_owners_scratch_that_nobody_uses_goes(unit: Path) -> None:
    result = clean(now_ns=hours_later)
    assert [receipt.reason for receipt in result.removed if receipt.finding.path == str(unit)] == [Reason.OWNER_DEAD]
    assert not unit.exists()


def test_a_session_that_nothing_but_an_environment_names_is_kept(own_world: Path) -> None:
    unit, other = (claude_session(own_world / "tmp", recorded=False) for _ in range(2))
    with process("", env={"CLAUDE_CODE_SESSION_ID": unit.name}):
        verdict = verdict_on(unit)
        assert (verdict.reason, verdict.evidence.owner.state) == (Reason.SESSION, OwnerState.ALIVE)
        clean(now_ns=later(200))
    assert (unit.exists(), other.exists()) == (True, False)


@pytest.mark.parametrize(("uses", "reason"), WITNESSES, ids=IDS)
def test_a_unit_in_use_is_kept_for_that_reason_and_goes_when_the_process_has_ended(
    unit: Path, uses: Uses, reason: Reason
) -> None:
    with uses(unit):
        verdict = verdict_on(unit)
        assert isinstance(verdict, Keep)
        assert verdict.reason is reason
        explained = why(str(unit), now_ns=hours_later)
        assert isinstance(explained.verdict, Keep)
        clean(now_ns=hours_later)
        assert (unit / "deep" / "file").exists()
    clean(now_ns=later(4))
    assert not unit.exists()


STARTS_LATE = [row for row in WITNESSES if getattr(row, "values", row)[0] is not users.opens_it_in_a_grandchild]


@pytest.mark.parametrize("window", ["judged, not yet taken", "taken, holders not yet looked for"])
@pytest.mark.parametrize(("uses", "reason"), STARTS_LATE, ids=IDS[:-1])
def test_a_unit_that_somebody_begins_to_use_after_it_was_judged_goes_back(
    unit: Path, uses: Uses, reason: Reason, window: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.ExitStack() as stack:
        struck = []

        def strike(name: str) -> None:
            if name == window and not struck:
                struck.append(name)
                place = unit
                if not unit.exists():  # a process that had the directory open all the time works in it at its new place
                    (place,) = in_quarantine(unit.parent.parent)
                stack.enter_context(uses(place))

        monkeypatch.setattr(take, "_race_window", strike)
        monkeypatch.setattr(act, "_race_window", strike)
        result = clean(Request(rows=("tmpwarden.scratch",)), now_ns=hours_later)
        assert struck
        assert unit.exists()
        assert (unit / "deep" / "file").exists()
        assert [(receipt.outcome, receipt.reason) for receipt in result.receipts] == [(Outcome.KEPT, reason)]
