"""A hundred thousand receipts in little memory: what is packed is what was put in, and adds up to the same."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.litter import claude_session, later
from tmpwarden.lazy_dataclass import replace
from tmpwarden.model.sweep import Finding, Litter, Receipt
from tmpwarden.model.terms import Kind, Outcome, OwnerRule, Reason, Tier, Worth
from tmpwarden.oskit.files import places
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.packed import Packed
from tmpwarden.sweep.prepared import Receipts
from tmpwarden.sweep.store import undo as undoing
from tmpwarden.sweep.store.journal import restorable
from tmpwarden.sweep.store.undo import undo

ROW = Litter("claude", "session", "{tmp}", ".+", Kind.DIR, Tier.AUTO, Worth.SOME, OwnerRule.SESSION)
OUTCOMES = (Outcome.QUARANTINED, Outcome.REMOVED, Outcome.KEPT, Outcome.FAILED)


def receipts(count: int) -> Iterator[Receipt]:
    for number in range(count):
        finding = Finding(ROW, "/tmp", "/tmp/claude-0", f"unit-{number}\udcff", Kind.DIR, 1, number)
        # most of a batch has one outcome, and few have others
        outcome = OUTCOMES[0] if number % 700 else OUTCOMES[number // 700 % 4]
        yield Receipt(finding, outcome, Reason.OUTLIVED, f"{number:016x}.k", 4096, 3, number % 5)


@pytest.mark.parametrize("count", [0, 1, 511, 512, 513, 3000])
def test_what_is_packed_is_what_was_put_in(count: int) -> None:
    plain, packed = list(receipts(count)), Receipts(receipts(count))
    assert len(packed) == count and list(packed) == plain == packed
    assert packed[count // 2 :] == plain[count // 2 :]
    for outcome in OUTCOMES:
        chosen = [each for each in plain if each.outcome is outcome]
        assert packed.where(outcome) == chosen and len(packed.where(outcome)) == len(chosen)
        assert bool(packed.where(outcome)) is bool(chosen)
    assert packed.sums.freed_bytes == sum(each.freed_bytes for each in plain)
    assert packed.sums.quarantined_bytes == 4096 * len(packed.where(Outcome.QUARANTINED))
    if count:
        assert packed[0] == plain[0] and packed[-1] == plain[-1]
    with pytest.raises(IndexError):
        packed[count]


def test_what_changed_since_is_told_as_it_is_now() -> None:
    packed = Receipts(receipts(2000))
    gone = f"{1234:016x}.k"
    before = packed.sums.quarantined_bytes
    counted = len(packed.where(Outcome.REMOVED))
    changed = packed.change(
        gone, Outcome.REMOVED, lambda each: replace(each, outcome=Outcome.REMOVED, freed_bytes=4096)
    )
    assert changed and len(packed.where(Outcome.REMOVED)) == len(list(packed.where(Outcome.REMOVED))) == counted + 1
    assert not packed.change(f"{5000:016x}.k", Outcome.KEPT, lambda each: each)
    assert [each.id for each in packed.where(Outcome.REMOVED) if each.freed_bytes == 4096] == [gone]
    assert packed.sums.quarantined_bytes == before - 4096


def test_what_came_after_the_first_change_can_change_too() -> None:
    packed = Receipts(receipts(2))
    assert packed.change(f"{1:016x}.k", Outcome.KEPT, lambda each: replace(each, outcome=Outcome.KEPT))
    packed.extend(list(receipts(4))[3:])
    assert packed.change(f"{3:016x}.k", Outcome.KEPT, lambda each: replace(each, outcome=Outcome.KEPT))
    assert len(packed.where(Outcome.KEPT)) == 2 == len(list(packed.where(Outcome.KEPT)))


def test_ten_times_as_many_changes_are_ten_times_the_work() -> None:
    """Counted in calls: a clock would measure the machine."""

    def calls(count: int) -> int:
        packed, made = Receipts(receipts(count)), list[str]()
        sys.setprofile(lambda frame, event, argument: made.append(event))
        try:
            for number in range(count):
                packed.change(f"{number:016x}.k", Outcome.REMOVED, lambda each: each)
                len(packed.where(Outcome.REMOVED))
        finally:
            sys.setprofile(None)
        return len(made)

    assert 2_000 < calls(2_000) <= 10 * calls(200)


def test_packed_takes_less_than_a_tenth_of_the_memory() -> None:
    packed = Packed(receipts(5120))
    assert sum(len(text) for _, text in packed._batches) < 5120 * 40


def test_what_waits_is_read_where_it_is_written(own_world: Path) -> None:
    units = [claude_session(own_world / "tmp", slug=f"-{number}") for number in range(5)]
    clean(now_ns=later(100))
    waiting = restorable(places.state_dir())
    assert {entry["path"] for entry in waiting.values()} == {str(unit) for unit in units}
    assert [entry["id"] for entry in waiting.newest_first()] == list(waiting)[::-1]
    Path(places.state_dir(), "journal.jsonl").rename(own_world / "rotated")
    assert {entry["path"] for entry in waiting.values()} == {str(unit) for unit in units}


def test_an_undo_that_is_told_of_together_tells_of_all(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undoing, "_TOGETHER", 2)
    units = [claude_session(own_world / "tmp", slug=f"-{number}") for number in range(5)]
    clean(now_ns=later(100))
    assert {each.path for each in undo()} == {str(unit) for unit in units}
    assert all(unit.exists() for unit in units) and len(restorable(places.state_dir())) == 0
