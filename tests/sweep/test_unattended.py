"""Runs without a person: held to a share of what is only guessed to be left behind, and always a step further."""

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.holding import process
from support.litter import claude_session, in_quarantine, later
from support.mounts import fill_bytes, needs_root, tmpfs
from tmpwarden.model.answers import Nobody
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Evidence, Finding, Keep, Litter, Measure, Owner, Remove
from tmpwarden.model.terms import Kind, OwnerRule, OwnerState, Reason, Tier, Worth
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.take import act
from tmpwarden.sweep.weigh.consent import Share

UNATTENDED = Request(unattended=True)


@pytest.fixture
def root(own_world: Path) -> Path:
    """A machine on which somebody once said yes: the backlog is spoken for."""
    clean(Request(agents=("moat",)))
    return own_world / "tmp"


def session(root: Path, size: int = 4096) -> Path:
    """One of a process that nobody can name any more. The first to be made is the oldest: ctime cannot be set."""
    unit = claude_session(root, files=1, recorded=False)
    (unit / "big").write_bytes(b"x" * size)
    return unit


def test_one_session_that_is_all_there_is_goes(root: Path) -> None:
    """QuadWork's outage: one dead session of 8 days filled /tmp, and no timer ever took it."""
    unit = session(root, size=1 << 20)
    clean(UNATTENDED, now_ns=later(100))
    assert not unit.exists()


@pytest.mark.parametrize(
    "text",
    [
        "[periodic]\nenabled = no\n",
        '[periodic]\nenabled = "no"\n',
        "[automatic]\nmax = 5\n",
        '[pressure]\nhihg = "99%"\n',
    ],
)
def test_a_limit_that_cannot_be_understood_lets_nothing_go_without_a_person(root: Path, text: str) -> None:
    unit = session(root)
    config = root.parent / "config" / "tmpwarden"
    config.mkdir()
    (config / "config.toml").write_text(text)
    (kept,) = clean(UNATTENDED, now_ns=later(100)).kept
    assert unit.exists() and "config.toml:2 cannot be read, and may keep it" in kept.detail
    clean(now_ns=later(100))
    assert not unit.exists()


def test_what_is_held_back_goes_on_in_the_next_runs_until_it_is_done(root: Path) -> None:
    units = [session(root, size=1 << 16) for _ in range(8)]
    left = [8]
    while left[-1]:
        clean(UNATTENDED, now_ns=later(100))
        left.append(sum(unit.exists() for unit in units))
        assert left[-1] < left[-2], "every run is a step further"
    assert left == [8, 4, 2, 1, 0]


def test_the_dominant_one_goes_first_if_it_is_the_oldest_and_the_small_ones_wait(root: Path) -> None:
    """Small new ones that fit into the share every hour must not keep it for ever."""
    big = session(root, size=4 << 20)
    small = [session(root) for _ in range(3)]
    result = clean(UNATTENDED, now_ns=later(100))
    assert not big.exists()
    assert all(unit.exists() for unit in small)
    assert {v.reason for v in result.kept if isinstance(v, Keep)} == {Reason.RUN_LIMIT}


def test_an_oldest_one_that_stays_after_all_does_not_stand_in_the_way(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody begins to use it each time between the judging and the last look."""
    oldest, next_one = session(root, size=1 << 20), session(root, size=1 << 20)
    device, inode = os.stat(oldest).st_dev, os.stat(oldest).st_ino
    with contextlib.ExitStack() as workers:

        def enter(_: str) -> None:
            for entry in in_quarantine(root):
                if (entry.stat().st_dev, entry.stat().st_ino) == (device, inode):
                    workers.enter_context(process("", cwd=entry))

        monkeypatch.setattr(act, "_race_window", enter)
        clean(UNATTENDED, now_ns=later(100))
    assert oldest.exists()
    assert not next_one.exists()


@needs_root
def test_on_a_full_file_system_too_the_oldest_goes(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="4m") as root:
        request = Request(roots=(str(root),), unattended=True)
        clean(Request(roots=(str(root),), agents=("moat",)))
        unit = session(root, size=3 << 20)
        fill_bytes(root)
        clean(request, now_ns=later(100))
        assert not unit.exists()


LITTER = Litter("a", "b", "{tmp}", "x.*", Kind.DIR, Tier.AUTO, Worth.SOME, OwnerRule.SESSION)
unit_sizes = st.lists(st.tuples(st.sampled_from(["/r", "/s"]), st.integers(0, 1 << 40), st.integers(1, 10**6)))


def removal(number: int, root: str, size: int, entries: int, state: OwnerState = OwnerState.ABSENT) -> Remove:
    finding = Finding(LITTER, root, root, f"x{number}", Kind.DIR, 1, number)
    measure = Measure(newest_ns=number, oldest_ns=number, bytes=size, entries=entries)
    return Remove(finding, Evidence(Owner(state), Nobody(), measure), Reason.OWNER_ABSENT)


def admitted(found: list[Remove], percent: int) -> list[Remove]:
    share = Share(percent)
    assert [share.holds_back(each) for each in found] == [True] * len(found)
    return [each for each in share.limited() if isinstance(each, Remove)]


@given(unit_sizes, st.integers(1, 100))
def test_of_each_root_the_oldest_goes_and_all_others_together_only_within_the_share(
    sizes: list[tuple[str, int, int]], percent: int
) -> None:
    found = [removal(number, *size) for number, size in enumerate(sizes)]
    going = admitted(found[::-1], percent)
    for root in {root for root, _, _ in sizes}:
        here = [each for each in found if each.finding.root == root]
        taken = [each for each in going if each.finding.root == root]
        assert taken[:1] == here[:1]
        for measured in ("bytes", "entries"):
            whole = sum(getattr(each.evidence.measure, measured) for each in here)
            part = sum(getattr(each.evidence.measure, measured) for each in taken)
            assert len(taken) == 1 or part * 100 <= whole * percent


@given(unit_sizes, st.integers(1, 100))
def test_enough_runs_take_everything(sizes: list[tuple[str, int, int]], percent: int) -> None:
    left = [removal(number, *size) for number, size in enumerate(sizes)]
    for _ in range(len(sizes)):
        going = admitted(left, percent)
        left = [each for each in left if each not in going]
    assert left == []


def test_proven_deaths_are_not_held_to_the_share() -> None:
    share = Share(1)
    assert not any(share.holds_back(removal(number, "/r", 100, 1, OwnerState.DEAD)) for number in range(9))
