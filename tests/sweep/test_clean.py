"""scan and clean on real litter, through the same door that the command uses."""

import os
import stat
from pathlib import Path

import pytest

from support.hearing import why
from support.litter import claude_session, cwd_markers, in_quarantine, later, snapshot
from tmpwarden.errors import LockHeld, NameTaken, NotFound, UnknownAgent
from tmpwarden.lazy_dataclass import replace
from tmpwarden.model.request import Request, Thresholds
from tmpwarden.model.sweep import Keep, Remove
from tmpwarden.model.terms import Outcome, Reason
from tmpwarden.sweep.compose import clean, prepare, scan
from tmpwarden.sweep.lock import clean_lock
from tmpwarden.sweep.store.undo import undo


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def test_fifteen_stale_markers_of_twenty_five_go(root: Path) -> None:
    cwd_markers(root, 15)
    stale = later(0.05)()
    fresh = cwd_markers(root, 10, first=100)
    for path in fresh:
        os.utime(path, ns=(stale, stale))
    result = clean(now_ns=lambda: stale)
    assert sorted(p.name for p in root.glob("claude-*-cwd")) == sorted(p.name for p in fresh)
    assert sum(len(r.finding.members) or 1 for r in result.removed) == 15
    assert result.freed_entries == 15


def test_a_marker_whose_content_is_no_path_is_no_litter(root: Path) -> None:
    (root / "claude-1a2b-cwd").write_text("my notes, several words\nand lines\n")
    assert list(scan(now_ns=later(100))) == []
    clean(now_ns=later(100))
    assert (root / "claude-1a2b-cwd").exists()


def test_a_swarm_is_told_a_thousand_at_a_time_and_judged_one_by_one(root: Path) -> None:
    cwd_markers(root, 1200)
    with (root / "claude-0005-cwd").open():
        verdicts = list(scan(now_ns=later(1)))
        removals = [v for v in verdicts if isinstance(v, Remove)]
        assert sum(len(v.finding.members) for v in removals) in (1199, 1200)  # our own descriptor may not count
        assert max(len(v.finding.members) for v in removals) <= 1000
    clean(now_ns=later(1))
    assert list(root.glob("claude-*-cwd")) == []


def test_a_home_and_what_lies_above_it_is_protected(root: Path) -> None:
    claude_session(root)
    prepared = prepare(Request(), now_ns=later(100))
    (verdict,) = prepared.verdicts()
    home = Path(os.environ["HOME"])
    for path in (home, home.parent, home.parent.parent):
        there = replace(verdict.finding, parent=str(path.parent), name=path.name)
        assert prepared.weigher.standing_of(there, verdict.evidence).is_protected
        assert prepared.weigher.judge(there, verdict.evidence).reason is Reason.PROTECTED
    assert not prepared.weigher.standing_of(verdict.finding, verdict.evidence).is_protected


def test_a_session_nobody_carries_is_quarantined_and_comes_back_bit_for_bit(root: Path) -> None:
    unit = claude_session(root)
    (unit / "scratchpad").mkdir(mode=0o500)
    (unit / "link").symlink_to("/etc/passwd")
    (unit / "tasks").chmod(0o750)
    before = snapshot(unit)
    result = clean(now_ns=later(100))
    assert not unit.exists()
    assert next(r.outcome for r in result.removed) is Outcome.QUARANTINED
    assert result.quarantined_bytes > 0
    assert not unit.parent.exists(), "the emptied project directory goes too"
    undo()
    assert snapshot(unit) == before


def test_a_read_only_unit_can_go_and_come_back_with_its_mode(root: Path) -> None:
    unit = claude_session(root)
    unit.chmod(0o500)
    clean(now_ns=later(100))
    assert not unit.exists()
    undo()
    assert stat.S_IMODE(unit.stat().st_mode) == 0o500


def test_undo_never_overwrites(root: Path) -> None:
    unit = claude_session(root)
    clean(now_ns=later(100))
    unit.mkdir(parents=True)
    with pytest.raises(NameTaken):
        undo()
    assert list(unit.iterdir()) == []


def test_undo_to_another_directory(root: Path, tmp_path: Path) -> None:
    unit = claude_session(root)
    before = snapshot(unit)
    receipt = clean(now_ns=later(100)).removed[0]
    (tmp_path / "back").mkdir()
    restored = undo(receipt.id, to=str(tmp_path / "back"))
    assert snapshot(Path(restored[0].path)) == before
    with pytest.raises(NotFound):
        undo(receipt.id)


def test_a_dry_run_says_what_the_deed_then_does(root: Path) -> None:
    for _ in range(3):
        claude_session(root)
    cwd_markers(root, 5)
    planned = clean(dry_run=True, now_ns=later(100)).planned
    assert len(list(root.rglob("*.output"))) == 9
    done = clean(now_ns=later(100)).removed
    assert {v.finding.path for v in planned} <= {r.finding.path for r in done}


def test_a_no_leaves_everything(root: Path) -> None:
    unit = claude_session(root)
    asked = []
    result = clean(confirm=lambda plan: bool(asked.append(plan)), now_ns=later(100))
    assert len(asked) == 1
    assert not result.confirmed
    assert result.receipts == []
    assert unit.exists()


def test_what_changes_while_the_question_is_open_is_judged_again(root: Path) -> None:
    unit = claude_session(root)
    clock = later(100)

    def answer(plan: object) -> bool:
        os.utime(unit / "tasks" / "b00000000.output", ns=(clock(), clock()))
        return True

    result = clean(confirm=answer, now_ns=clock)
    assert unit.exists()
    assert [r.reason for r in result.spared] == [Reason.TOO_YOUNG]


def test_a_swapped_unit_is_not_the_one_that_was_listed(root: Path, tmp_path: Path) -> None:
    unit = claude_session(root)

    def answer(plan: object) -> bool:
        unit.rename(tmp_path / "away")
        unit.symlink_to(tmp_path / "away")
        return True

    clean(confirm=answer, now_ns=later(100))
    assert (tmp_path / "away" / "tasks" / "b00000000.output").exists()
    assert unit.is_symlink()


def test_a_young_session_stays_and_says_why(root: Path) -> None:
    claude_session(root)
    (verdict,) = (v for v in scan() if v.finding.litter.id == "session")
    assert isinstance(verdict, Keep)
    assert verdict.reason in (Reason.TOO_YOUNG, Reason.RESUMABLE)


def test_min_age_holds_everything_back(root: Path) -> None:
    claude_session(root)
    cwd_markers(root, 3)
    result = clean(Request(thresholds=Thresholds(min_age_s=1000 * 3600)), now_ns=later(100))
    assert result.receipts == []


def test_another_agents_litter_is_not_looked_at(root: Path) -> None:
    cwd_markers(root, 2)
    assert list(scan(Request(agents=("moat",)), now_ns=later(100))) == []
    with pytest.raises(UnknownAgent):
        scan(Request(agents=("nobody",)))


def test_without_quarantine_it_is_gone_for_good(root: Path) -> None:
    unit = claude_session(root)
    result = clean(Request(quarantine=False), now_ns=later(100))
    assert not unit.exists()
    assert result.freed_bytes > 0
    with pytest.raises(NotFound):
        undo()


def test_quarantine_expires_after_a_day(root: Path) -> None:
    claude_session(root)
    clean(now_ns=later(100))
    waiting = root / f"tmpwarden-{os.geteuid()}" / "q"
    assert len(in_quarantine(root)) == 1
    assert clean(now_ns=later(0.1)).freed_bytes == 0
    assert clean(now_ns=later(25)).freed_bytes > 0
    assert list(waiting.iterdir()) == []


def test_one_clean_at_a_time(root: Path, own_world: Path) -> None:
    with clean_lock(str(own_world / "state" / "tmpwarden"), 0):
        result = clean(Request(unattended=True))
    assert (result.stopped, result.removed) == ("lock-held", [])
    assert result.error == f"LockHeld: {LockHeld()}"


def test_why_names_the_unit_of_a_file_deep_inside(root: Path) -> None:
    unit = claude_session(root)
    told = why(str(unit / "tasks" / "b00000000.output"))
    assert told.verdict is not None
    assert told.verdict.finding.path == str(unit)
    assert told.would_lose


def test_why_answers_for_a_path_that_no_row_matches(root: Path) -> None:
    (root / "mine.txt").write_text("x")
    assert why(str(root / "mine.txt")).verdict is None
    with pytest.raises(NotFound):
        why(str(root / "nothing"))


def test_an_unattended_run_leaves_what_is_older_than_us_until_somebody_consents(root: Path) -> None:
    unit = claude_session(root)
    held = clean(Request(unattended=True), now_ns=later(100))
    assert unit.exists()
    assert [v.reason for v in held.kept if isinstance(v, Keep)] == [Reason.BACKLOG]
    clean(Request(agents=("moat",)), now_ns=later(100))  # a person's clean, even of nothing
    claude_session(root)
    claude_session(root)
    clean(Request(unattended=True), now_ns=later(100))
    assert len(list(root.rglob("tasks"))) >= 2, "at most half in one run"


@pytest.mark.parametrize("name", ["new\nline", "esc\x1b[31m", "x" * 200, b"bad\xff\xfeutf8"])
def test_odd_names_inside_a_unit_are_handled_exactly(root: Path, name: str | bytes) -> None:
    unit = claude_session(root)
    odd = os.path.join(os.fsencode(unit), os.fsencode(name))
    Path(os.fsdecode(odd)).write_text("x")
    before = snapshot(unit)
    clean(now_ns=later(100))
    assert not unit.exists()
    undo()
    assert snapshot(unit) == before


def test_looking_leaves_no_trace(root: Path, own_world: Path) -> None:
    unit = claude_session(root)
    before = sorted(str(path) for path in own_world.rglob("*"))
    list(scan(now_ns=later(100)))
    why(str(unit), now_ns=later(100))
    clean(dry_run=True, now_ns=later(100))
    assert sorted(str(path) for path in own_world.rglob("*")) == before
