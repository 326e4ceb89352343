"""A teardown's word replaces grace and freshness, nothing else: who still uses a unit keeps it."""

import contextlib
from pathlib import Path

import pytest

from support import users
from support.holding import process
from support.litter import in_quarantine
from support.users import SESSION, Uses
from tmpwarden.lifecycle.teardown import teardown
from tmpwarden.model.terms import Outcome, Reason
from tmpwarden.oskit.files import take
from tmpwarden.oskit.proc import procs
from tmpwarden.sweep.take import by_name

STILL_USED = [
    (users.opens_a_file, Reason.OPEN_FILE),
    (users.works_in_it, Reason.WORKING_DIRECTORY),
    (users.maps_a_file, Reason.MAPPED_FILE),
    (users.has_its_tmpdir_in_it, Reason.TMPDIR),
    (users.carries_the_session, Reason.SESSION),
    (users.locks_a_file, Reason.LOCK),
    (users.listens_in_it, Reason.SOCKET),
]
IDS = [uses.__name__ for uses, _ in STILL_USED]


def kept_unit(result_unit: Path) -> bool:
    return (result_unit / "deep" / "file").exists()


@pytest.mark.parametrize(("uses", "reason"), STILL_USED, ids=IDS)
def test_a_unit_in_use_survives_the_teardown_of_its_session(own_world: Path, uses: Uses, reason: Reason) -> None:
    unit = users.leased_scratch(own_world / "tmp")
    with uses(unit):
        result = teardown(SESSION, wait=True)
        assert result.error is None
        assert kept_unit(unit), reason
    assert teardown(SESSION, wait=True).error is None
    assert not unit.exists()


@pytest.mark.parametrize(("uses", "reason"), STILL_USED, ids=IDS)
def test_a_unit_that_somebody_begins_to_use_during_the_teardown_goes_back(
    own_world: Path, uses: Uses, reason: Reason, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = users.leased_scratch(own_world / "tmp")
    with contextlib.ExitStack() as stack:

        def strike(name: str) -> None:
            (place,) = in_quarantine(unit.parent.parent)
            stack.enter_context(uses(place))

        monkeypatch.setattr(by_name, "_race_window", strike)
        result = teardown(SESSION, wait=True)
        assert kept_unit(unit), result
        assert [(receipt.outcome, receipt.reason) for receipt in result.receipts] == [(Outcome.KEPT, reason)]


@pytest.mark.parametrize("how", ["used", "owned by the living"])
def test_a_unit_in_use_is_not_moved_even_for_a_moment(
    own_world: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever opens a file in it by name would find it gone."""
    moved: list[str] = []
    monkeypatch.setattr(take, "_race_window", moved.append)
    with process("") as agent:
        start = procs.start_ticks(agent.pid)
        assert start is not None
        unit = users.leased_scratch(own_world / "tmp", owner=(agent.pid, start))
        if how == "used":
            agent.kill()
            agent.wait()
            with users.opens_a_file(unit):
                teardown(SESSION, wait=True)
        else:
            teardown(SESSION, wait=True)
    assert kept_unit(unit)
    assert moved == []
