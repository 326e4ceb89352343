"""Under pressure the dead are hurried, oldest first, until it is enough; the living never are."""

import os
import time
from pathlib import Path

import pytest

from support.holding import process
from support.litter import claude_session, later
from support.mounts import fill_bytes, needs_root, tmpfs
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Keep, Remove
from tmpwarden.model.terms import OwnerState, Reason
from tmpwarden.sweep.compose import clean, scan

HALF_A_MEGABYTE = 512 << 10


def session(root: Path, age_s: int) -> Path:
    """A session whose dates lie `age_s` back, as far as they can be set."""
    unit = claude_session(root, files=1)
    (unit / "big").write_bytes(b"x" * HALF_A_MEGABYTE)
    for path in (unit / "big", unit / "tasks", unit):
        os.utime(path, (time.time() - age_s,) * 2)
    return unit


@needs_root
def test_above_high_the_absent_go_early_and_for_good_until_low(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="4m") as root:
        units = [session(root, 600) for _ in range(7)]
        request = Request(roots=(str(root),))
        verdicts = list(scan(request, now_ns=later(0.5)))
        assert {v.reason for v in verdicts if isinstance(v, Remove)} == {Reason.PRESSURE}
        result = clean(request, now_ns=later(0.5))
        left = [unit for unit in units if unit.exists()]
        assert 0 < len(left) < 7, "it stops when it is enough"
        assert result.freed_bytes >= 2 * HALF_A_MEGABYTE
        assert result.quarantined_bytes == 0


@needs_root
def test_below_high_nothing_is_hurried(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="16m") as root:
        session(root, 600)
        (verdict,) = scan(Request(roots=(str(root),)), now_ns=later(0.5))
        assert isinstance(verdict, Keep)


@needs_root
def test_quarantine_goes_first(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="4m") as root:
        request = Request(roots=(str(root),))
        for _ in range(5):
            session(root, 600)
        clean(request, now_ns=later(100))
        waiting = root / f"tmpwarden-{os.geteuid()}" / "q"
        young = session(root, 0)
        (root / "mine").write_bytes(b"x" * HALF_A_MEGABYTE)
        clean(request, now_ns=later(0.5))
        assert len(list(waiting.iterdir())) < 5
        assert young.exists()
        assert (root / "mine").exists()


@needs_root
def test_what_this_run_put_aside_and_gave_up_again_is_not_promised_to_undo(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="4m") as root:
        unit = session(root, 600)
        fill_bytes(root)
        result = clean(Request(roots=(str(root),)), now_ns=later(100))
        assert not unit.exists()
        assert result.freed_entries == sum(receipt.entries for receipt in result.removed) >= 2
        assert result.freed_bytes >= HALF_A_MEGABYTE
        assert result.quarantined_bytes == 0
        assert not any(receipt.undoable for receipt in result.receipts)


@needs_root
def test_what_is_in_use_stays_and_the_run_says_that_it_was_not_enough(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="4m") as root:
        unit = session(root, 600)
        fill_bytes(root)
        with process("import sys; f = open(sys.argv[1])", str(unit / "big")):
            result = clean(Request(roots=(str(root),)), now_ns=later(0.5))
            assert unit.exists()
            (said,) = (warning for warning in result.warnings if "nothing else can be removed" in warning)
            assert said == (
                f"{root} is still 100% full (goal: 60%), and nothing else can be removed (516.0 KB in use): "
                "`tmpwarden doctor` says who uses the rest"
            )


@pytest.mark.parametrize(("budget", "left"), [(HALF_A_MEGABYTE * 2, 1), (0, 0), (1 << 30, 4)])
def test_a_budget_is_pressure_that_was_asked_for(own_world: Path, budget: int, left: int) -> None:
    root = own_world / "tmp"
    units = [session(root, 600) for _ in range(4)]
    clean(Request(budget_bytes=budget), now_ns=later(0.5))
    assert sum(unit.exists() for unit in units) == left


@needs_root
def test_an_unattended_run_keeps_to_its_share_under_pressure_too(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="4m") as root:
        request = Request(roots=(str(root),))
        clean(request)  # somebody consented
        units = []
        for _ in range(7):
            units.append(claude_session(root, files=1, recorded=False))
            (units[-1] / "big").write_bytes(b"x" * HALF_A_MEGABYTE)
        owners = {v.evidence.owner.state for v in scan(request, now_ns=later(0.5))}
        if owners != {OwnerState.ABSENT}:
            pytest.skip("this machine runs an agent of the same kind, so nobody is provably absent")
        clean(Request(roots=(str(root),), unattended=True), now_ns=later(0.5))
        assert sum(unit.exists() for unit in units) >= 4, "a guess never takes more than half"


@needs_root
def test_an_edited_line_of_the_journal_stops_no_relief(tmp_path: Path, own_world: Path) -> None:
    """Before something is given up the journal is asked what is known of it."""
    with tmpfs(tmp_path / "t", size="4m") as root:
        unit = session(root, 600)
        clean(Request(roots=(str(root),)), now_ns=later(100))
        assert not unit.exists()
        with (own_world / "state" / "tmpwarden" / "journal.jsonl").open("a") as journal:
            journal.write('{"t":"intent","id":["x"],"path":"/a","root":"/"}\n')
        fill_bytes(root)
        clean(Request(roots=(str(root),)), now_ns=later(0.1))
        assert os.statvfs(root).f_bavail > 0
