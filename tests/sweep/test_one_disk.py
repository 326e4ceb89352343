"""One disk for everything, full to the last byte or inode: one clean frees it, whatever it meets there.

The small form is in `make test`; all combinations, and a kill at every system call, are for `make test-long`.
"""

import itertools
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.bases import base_for_all
from support.command import LATER
from support.litter import in_quarantine, later
from support.mounts import needs_root, tmpfs
from support.one_disk import DISKS, FULL, RAN, OneDisk, command, dead_session, one_disk
from support.strikes import MUTATING, Blow, Call, Sought, record, strike, why_not
from support.terminal import on_a_terminal
from support.user import UID
from tmpwarden.lazy_dataclass import replace
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Owner, Remove
from tmpwarden.model.terms import OwnerState, Tier
from tmpwarden.sweep.compose import clean, scan
from tmpwarden.sweep.prepared import Plan
from tmpwarden.sweep.store.journal import entries
from tmpwarden.sweep.take.without_room import may_go_for_good

pytestmark = needs_root
WHO = {"root": 0, "user": UID}
QUARANTINES, JOURNALS = ("absent", "there", "squatted"), ("missing", "whole", "torn")
BESIDE = ((), ("markers",), ("live",), ("git",), ("big",))
SOME_WORLDS = (  # each word of each column at least once
    ("ext4-4096", "bytes", "never", "absent", "missing", ("markers", "live")),
    ("ext4-4096", "inodes", "before", "there", "missing", ("git",)),
    ("ext4-1024", "bytes", "never", "there", "whole", ("big",)),
    ("ext4-1024", "inodes", "never", "squatted", "missing", ("live",)),
    ("tmpfs", "bytes", "before", "squatted", "torn", ("git",)),
    ("tmpfs", "inodes", "never", "absent", "whole", ("markers",)),
    ("ext4-1024", "bytes", "never", "squatted", "missing", ()),
    ("ext4-1024", "bytes", "never", "there", "missing", ("markers",)),
    ("tmpfs", "inodes", "never", "there", "torn", ("live",)),
    ("xfs", "bytes", "never", "there", "missing", ("live",)),
    ("xfs", "bytes", "before", "there", "whole", ("markers", "git")),
    ("xfs", "bytes", "never", "absent", "missing", ("markers",)),  # 64 to 200 KB are free, and no directory is made
    ("xfs", "bytes", "never", "squatted", "missing", ("markers",)),
    ("btrfs", "bytes", "never", "squatted", "missing", ("live",)),
    ("btrfs", "bytes", "before", "there", "torn", ("markers",)),
)
SOME_PAIRS = (  # of disks; the home of the first two is full of what is the user's own, and stays so
    ("two", "ext4-4096", "bytes", "absent", "missing", ()),
    ("two", "xfs", "bytes", "absent", "missing", ("live",)),
    ("two", "xfs", "bytes", "absent", "whole", ("markers",)),  # the journal's last block ends in a receipt
    ("two", "tmpfs", "inodes", "there", "missing", ("live",)),
    ("only home", "ext4-1024", "bytes", "absent", "missing", ("git",)),
    ("only /tmp", "tmpfs", "bytes", "absent", "missing", ("live",)),
    ("two", "tmpfs", "bytes", "absent", "missing", ("markers",)),
    ("two", "tmpfs", "inodes", "there", "whole", ("markers",)),
    ("only home", "tmpfs", "bytes", "squatted", "missing", ("markers",)),
)
PARTS = 8


@dataclass(frozen=True)
class Killed:
    """A world in which a clean is killed."""

    disks: str
    uid: int
    beside: tuple[str, ...]


KILLED = (
    Killed("one", 0, ("live",)),
    Killed("one", UID, ("markers",)),
    Killed("two", 0, ("live",)),
    Killed("two", UID, ("markers",)),
)


@pytest.fixture
def base() -> Iterator[Path]:
    with base_for_all() as base:
        yield base


@pytest.mark.parametrize(
    ("kind", "what", "who"),
    [
        pytest.param(kind, what, who, marks=() if (at + at // 2) % 2 == (who == "user") else pytest.mark.long)
        for at, (kind, what) in enumerate(FULL)
        for who in WHO
    ],
)
def test_the_first_clean_on_a_full_disk_makes_it_work_again(base: Path, kind: str, what: str, who: str) -> None:
    with one_disk(base, kind, what, WHO[who]) as world:
        assert not world.can_write()
        status, answer = world.tmpwarden("clean", "--yes", "--json")
        assert status == 0, answer
        assert world.went() == world.dead
        assert_works(world)


@pytest.mark.parametrize(("kind", "what", "ran", "quarantine", "journal", "beside"), SOME_WORLDS)
def test_one_clean_is_enough(
    base: Path, kind: str, what: str, ran: str, quarantine: str, journal: str, beside: tuple[str, ...]
) -> None:
    with one_disk(base, kind, what, 0, *beside, quarantine=quarantine, journal=journal, ran=ran) as world:
        assert_one_clean_is_enough(world, quarantine)


@pytest.mark.parametrize(("disks", "kind", "what", "quarantine", "journal", "beside"), SOME_PAIRS)
def test_one_clean_is_enough_on_two_disks(
    base: Path, disks: str, kind: str, what: str, quarantine: str, journal: str, beside: tuple[str, ...]
) -> None:
    """Where not even our state can be written, what went is told by names on the disk where it lay, and by the journal
    as soon as somebody has made room for one."""
    with one_disk(base, kind, what, 0, *beside, quarantine=quarantine, journal=journal, disks=disks) as world:
        assert_one_clean_is_enough(world, quarantine)


def test_what_another_user_holds_goes_back_although_no_line_tells_where_it_was(base: Path) -> None:
    """An ordinary user cannot see root's open file. The kernel can, when quarantine is given up; the label says where
    it lay, as no journal could be written."""
    with one_disk(base, "tmpfs", "bytes", UID, "live") as world:
        assert_one_clean_is_enough(world, "absent")


@pytest.mark.long
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("ran", RAN)
@pytest.mark.parametrize(("kind", "what"), FULL)
def test_one_clean_is_enough_in_every_world(base: Path, kind: str, what: str, ran: str, who: str) -> None:
    complaints = []
    for disks, quarantine, journal, beside in itertools.product(DISKS, QUARANTINES, JOURNALS, BESIDE):
        with one_disk(
            base, kind, what, WHO[who], *beside, quarantine=quarantine, journal=journal, disks=disks, ran=ran
        ) as world:
            try:
                assert_one_clean_is_enough(world, quarantine)
            except AssertionError as error:
                complaints.append(f"{disks}, quarantine {quarantine}, journal {journal}, {beside}: {error}")
    assert not complaints, "\n".join([str(len(complaints)), *complaints])


@pytest.mark.parametrize("state", [OwnerState.UNKNOWN, OwnerState.NONE])
def test_what_has_no_proven_end_never_goes_for_good_without_a_word(own_world: Path, state: OwnerState) -> None:
    dead_session(own_world / "tmp")
    (verdict,) = scan(Request(), now_ns=later(100))
    assert isinstance(verdict, Remove)
    assert may_go_for_good(verdict)
    others = replace(verdict.evidence, owner=Owner(state))
    assert not may_go_for_good(replace(verdict, evidence=others))
    assert not may_go_for_good(replace(verdict, evidence=replace(verdict.evidence, git_losses=("a commit",))))
    asked = replace(verdict.finding, litter=replace(verdict.finding.litter, tier=Tier.ASK))
    assert not may_go_for_good(replace(verdict, finding=asked))


@pytest.mark.parametrize(("answer", "outcome"), [("y", "deleted"), ("q", "waiting"), ("n", "kept")])
def test_a_person_is_told_that_quarantine_frees_nothing_there(tmp_path: Path, answer: str, outcome: str) -> None:
    """`y` deletes for good, `q` moves to quarantine and no pressure takes it out again, Enter keeps all."""
    with tmpfs(tmp_path / "t", size="2100k") as root:
        units = [dead_session(root) for _ in range(4)]
        argv = [sys.executable, str(LATER), "clean"]
        env = {**os.environ, "TMPWARDEN_ROOTS": str(root), "LATER_S": "400000", "NO_COLOR": "1", "TERM": "xterm"}
        _, said = on_a_terminal(argv, answer=answer, env=env, prompt="[y/N/q]")
        assert "so moving them there frees nothing" in said
        assert "Delete 4 items" in said and "permanently? [y/N/q]" in said
        assert [unit.exists() for unit in units] == [outcome == "kept"] * 4
        place = root / f"tmpwarden-{os.geteuid()}" / "q"
        assert len(in_quarantine(root) if place.exists() else []) == (4 if outcome == "waiting" else 0)


def test_where_there_is_room_the_question_is_the_ordinary_one(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="16m") as root:
        dead_session(root)
        plans: list[Plan] = []
        clean(Request(roots=(str(root),)), confirm=lambda plan: bool(plans.append(plan)), now_ns=later(100))
        assert [plan.frees_nothing for plan in plans] == [False]


def assert_one_clean_is_enough(world: OneDisk, quarantine: str) -> None:
    status, answer = world.tmpwarden("clean", "--yes", "--json")
    assert status == 0 or quarantine == "squatted", answer
    if quarantine == "squatted" and world.disks == "only home":  # where they lie is room: nothing goes without undo
        assert status == 2 and not set(world.dead) & set(world.went()), answer
        world.markers.clear()  # worthless, and no directory of ours is left in which a name could tell of them
        assert_works(world, "squatted")
        return
    assert world.went(), answer
    assert quarantine == "squatted" or set(world.dead) <= set(world.went())
    if quarantine == "squatted" and world.home_stays_full:
        world.markers.clear()  # as above
    assert_works(world, quarantine)


def assert_works(world: OneDisk, quarantine: str = "") -> None:
    assert world.can_write()
    world.assert_all_that_went_is_told()
    if world.home_stays_full:
        world.find_room_in_the_home()
        status, answer = world.tmpwarden("clean", "--yes", "--json")
        assert status == 0 or quarantine == "squatted", answer
        written = {entry["path"] for entry in entries(str(world.state), "receipt")}
        assert written >= {str(path) for path in world.dead if path in world.went()}
        world.assert_all_that_went_is_told()
    world.assert_nothing_live_was_touched()
    assert world.carried() == [], "nothing is in the middle"


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
@pytest.mark.parametrize(
    ("kind", "what", "killed"),
    [
        ("ext4-4096", "bytes", Killed("one", 0, ("live",))),
        ("tmpfs", "inodes", Killed("one", 0, ("live",))),
        ("tmpfs", "bytes", Killed("two", UID, ("markers",))),
    ],
)
def test_a_few_kills_leave_the_story(base: Path, tmp_path: Path, kind: str, what: str, killed: Killed) -> None:
    calls = calls_of(base, tmp_path, kind, what, killed)
    strike_all(base, tmp_path, kind, what, killed, calls[2 :: max(1, len(calls) // 2)])


@pytest.mark.long
@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("killed", KILLED, ids=lambda killed: f"{killed.disks}-{'user' if killed.uid else 'root'}")
@pytest.mark.parametrize(("kind", "what"), FULL)
def test_a_kill_at_any_call_leaves_the_story(
    base: Path, tmp_path: Path, kind: str, what: str, killed: Killed, part: int
) -> None:
    calls = calls_of(base, tmp_path, kind, what, killed)[part::PARTS]
    strike_all(base, tmp_path, kind, what, killed, calls)


def cleaning(world: OneDisk) -> int:
    world.become()
    return command("clean", "--yes", "--json")[0]


def calls_of(base: Path, place: Path, kind: str, what: str, killed: Killed) -> list[Call]:
    with one_disk(base, kind, what, killed.uid, *killed.beside, sessions=2, disks=killed.disks) as world:
        (calls,) = record(lambda: cleaning(world), place, Sought(MUTATING, str(world.disk)))
    assert len(calls) > 20
    return calls


def strike_all(base: Path, place: Path, kind: str, what: str, killed: Killed, calls: Sequence[Call]) -> None:
    complaints = []
    for call in calls:
        with one_disk(base, kind, what, killed.uid, *killed.beside, sessions=2, disks=killed.disks) as world:
            ended = strike(lambda world=world: cleaning(world), place, Blow(call))
            try:
                world.assert_nothing_live_was_touched()
                status, answer = world.tmpwarden("clean", "--yes", "--json")
                assert status == 0, answer
                assert set(world.dead) <= set(world.went())
                world.markers.clear()  # worthless: of those the killed run took only it knew
                assert_works(world)
            except AssertionError as error:
                complaints.append(f"{call}: {error}\n  {ended.hit}\n {os.listdir(world.home)}")
    assert not complaints, "\n".join([f"{len(complaints)} of {len(calls)}", *complaints])
