"""The usage history: a line an hour, bounded, readable whatever happened to it; and what it says of times to come."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.command import data, tmpwarden
from support.litter import HOUR_NS, claude_session, cwd_markers, later
from support.mounts import mounted, needs_root
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.lifecycle import release, tick
from tmpwarden.lifecycle.teardown import teardown
from tmpwarden.oskit.files import places, space
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store import books, history
from tmpwarden.sweep.store.history import Growing, Level, Moment, Steady, TooFew, Usage
from tmpwarden.text import about

GB = 1 << 30
NOW_NS = 2_000_000 * HOUR_NS  # at the full hour


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


@pytest.fixture
def state(own_world: Path) -> str:
    return places.state_dir()


def full(used: int, *, of: int = 100 * GB, inodes: int = 0) -> Usage:
    return Usage(Level(used, of - used), Level(inodes, 1_000_000 - inodes))


def moments(*used: int, until_ns: int = NOW_NS) -> list[Moment]:
    """One an hour, the last an hour before `until_ns`."""
    return [
        Moment(until_ns - (len(used) - n) * HOUR_NS, "tick", {"/tmp": full(each)}, 0, 0) for n, each in enumerate(used)
    ]


def heading(*used: int, now: int) -> history.Trend:
    return history.trend(moments(*used), "/tmp", full(now), NOW_NS)


def test_a_clean_a_tick_and_the_end_of_a_session_each_leave_a_line(root: Path, state: str) -> None:
    clean(now_ns=later(0))
    assert tick.main([]) == 0
    scratch = open_scratch(str(root), "claude", "s", pid=4_000_000, start=1)
    release.release_scratches([scratch.lease])
    (first, *more) = history.read(state)
    assert (first.by, list(first.roots)) == ("clean", [str(root)])
    assert len(more) <= 1, "one an hour; the clock may have struck meanwhile"
    for hours, by, end in ((2, "session-end", teardown), (4, "clean", None)):
        if end is None:
            clean(now_ns=later(hours))
        else:
            end("s", wait=True, now_ns=later(hours))
        assert history.read(state)[-1].by == by


def test_a_tick_that_finds_nothing_due_leaves_its_line_all_the_same(own_world: Path, state: str) -> None:
    (own_world / "config" / "tmpwarden").mkdir()
    (own_world / "config" / "tmpwarden" / "config.toml").write_text("[periodic]\nenabled = false\n")
    assert tick.main([]) == 0
    assert [each.by for each in history.read(state)] == ["tick"]


def test_an_hour_has_one_line_for_each_root(root: Path, state: str, tmp_path: Path) -> None:
    os.makedirs(state, mode=0o700)
    for minute in (0, 5, 59):
        for name in ("/a", "/b"):
            history.note(state, Moment(NOW_NS + minute * 60 * 10**9, "clean", {name: full(1)}, 0, 0))
    history.note(state, Moment(NOW_NS + HOUR_NS, "clean", {"/a": full(2), "/b": full(3)}, 0, 0))
    assert [sorted(each.roots) for each in history.read(state)] == [["/a"], ["/b"], ["/a", "/b"]]


def test_many_sessions_that_end_at_once_leave_one_line_and_every_byte_is_counted(root: Path, state: str) -> None:
    code = (
        "import sys; from tmpwarden.sweep.compose import prepare; from tmpwarden.model.request import Request\n"
        "from tmpwarden.sweep.store import books\n"
        f"prepared = prepare(Request(), now_ns=lambda: {NOW_NS}); print('here', flush=True); sys.stdin.readline()\n"
        "books.close(prepared, 'session-end', 1000, 1)\n"
    )
    ends = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(6)
    ]
    for each in ends:
        assert each.stdout is not None and each.stdout.readline() == b"here\n"
    for each in ends:
        assert each.stdin is not None
        each.stdin.write(b"\n")
        each.stdin.flush()
    for each in ends:
        assert each.wait(timeout=60) == 0
        each.communicate()
    assert books.saved_so_far(state).bytes == 6000
    assert len(history.read(state)) == 1


def test_the_history_is_bounded(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    os.makedirs(state, mode=0o700)
    monkeypatch.setattr(history, "_ROTATE_BYTES", 10_000)
    for hour in range(500):
        assert history.note(state, Moment(NOW_NS + hour * HOUR_NS, "tick", {"/tmp": full(hour)}, hour, hour))
    sizes = [path.stat().st_size for path in Path(state).glob(f"{history.NAME}*")]
    assert len(sizes) == 3 and max(sizes) < 10_200
    kept = [each.roots["/tmp"].bytes.used for each in history.read(state)]
    assert kept == list(range(500 - len(kept), 500)), "oldest first, none lost in between"


def test_the_latest_lines_are_found_across_a_rotation(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    os.makedirs(state, mode=0o700)
    monkeypatch.setattr(history, "_ROTATE_BYTES", 3_000)
    for hour in range(100):
        history.note(state, Moment(NOW_NS + hour * HOUR_NS, "tick", {"/tmp": full(hour)}, 0, 0))
    assert len(history.read(state, lately=True)) >= 30


@given(st.lists(st.binary(max_size=60), max_size=5))
def test_alien_lines_are_passed_over(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    state = tmp_path_factory.mktemp("state")
    (state / history.NAME).write_bytes(b"".join(line + b"\n" for line in lines))
    assert history.note(str(state), Moment(NOW_NS, "tick", {"/tmp": full(7)}, 1, 2))
    assert history.read(str(state))[-1] == Moment(NOW_NS, "tick", {"/tmp": full(7)}, 1, 2)


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "[]",
        '{"at_s":true,"by":"x","roots":{},"freed":[0,0]}',
        '{"at_s":1,"by":"x","roots":{"/":{}},"freed":[0,0]}',
        '{"at_s":1,"by":"x","roots":{"/":{"bytes":[1,-1],"inodes":[0,0]}},"freed":[0,0]}',
        '{"at_s":1,"by":"x","roots":{"/":{"bytes":[1,2,3],"inodes":[0,0]}},"freed":[0,0]}',
        '{"at_s":1,"by":"x","roots":[],"freed":[0,0]}',
        '{"at_s":1e400,"by":"x","roots":{},"freed":[0,0]}',
        "[" * 5000,
    ],
)
def test_a_line_that_is_not_whole_is_no_moment(tmp_path: Path, line: str) -> None:
    (tmp_path / history.NAME).write_text(line + "\n")
    assert history.read(str(tmp_path)) == []


@given(st.text(min_size=1, max_size=20), st.integers(0, 1 << 60), st.integers(0, 1 << 60))
def test_what_is_noted_is_read(tmp_path_factory: pytest.TempPathFactory, name: str, used: int, free: int) -> None:
    state = str(tmp_path_factory.mktemp("state"))
    seen = Usage(Level(used, free), Level(free, used), Level(used, used))
    noted = Moment(NOW_NS, "clean", {name: seen}, used, free)
    assert history.note(state, noted)
    assert history.read(state) == [noted]


def test_a_full_disk_or_a_squatted_place_costs_a_line_and_nothing_else(root: Path, state: str) -> None:
    cwd_markers(root, 3)
    os.makedirs(f"{state}/{history.NAME}")
    os.makedirs(f"{state}/books.lock")
    assert clean(now_ns=later(1)).freed_entries == 3


def test_what_a_teardown_frees_counts_once_among_what_was_freed_so_far(root: Path, state: str) -> None:
    """An empty scratch is worth nothing to undo: it goes at once, for good."""
    open_scratch(str(root), "claude", "s", pid=4_000_000, start=1)
    result = teardown("s", wait=True)
    gone = [each for each in result.removed if not each.undoable]
    assert sum(each.entries for each in gone) >= 1, result
    told = books.saved_so_far(state)
    assert (told.bytes, told.entries) == (result.freed_bytes, sum(each.entries for each in gone))
    assert history.read(state)[-1].freed_entries == told.entries


def test_what_waits_in_quarantine_is_not_freed_until_it_goes(root: Path, state: str) -> None:
    unit = claude_session(root)
    assert teardown(unit.name, wait=True).removed
    assert books.saved_so_far(state).entries == 0
    clean(now_ns=later(30))
    assert books.saved_so_far(state).entries >= 5


def test_a_root_that_grows_by_five_of_its_last_25_gb_an_hour_is_full_in_five_hours() -> None:
    found = heading(*(GB * n for n in (50, 55, 60, 65, 70)), now=75 * GB)
    assert isinstance(found, Growing)
    assert (found.what, found.full_in_s) == ("bytes", pytest.approx(5 * 3600))
    assert history.sentence(found) == "grows by 5.0 GB an hour, full in about 5 h"


@pytest.mark.parametrize(
    ("used", "now", "expected"),
    [
        ((), 5, TooFew),
        ((5,), 50, TooFew),
        ((5, 5, 5, 5), 5, Steady),
        ((50, 40, 30), 20, Steady),
        ((5, 60, *[60] * 20), 60, Steady),  # one big build, a day ago
        ((10, 50, 10, 50, 10, 50, 10, 50, 10), 10, Steady),  # a clean takes what came
    ],
)
def test_one_step_is_no_direction(used: tuple[int, ...], now: int, expected: type) -> None:
    found = heading(*(GB * each for each in used), now=now * GB)
    assert isinstance(found, expected)


def test_what_began_two_hours_ago_is_seen_after_a_quiet_day() -> None:
    found = heading(*[5 * GB] * 20, 20 * GB, 35 * GB, now=50 * GB)
    assert isinstance(found, Growing) and found.full_in_s == pytest.approx(50 / 15 * 3600)


def test_inodes_run_out_before_bytes() -> None:
    seen = [Moment(NOW_NS - (3 - n) * HOUR_NS, "tick", {"/tmp": full(GB, inodes=300_000 * n)}, 0, 0) for n in range(3)]
    found = history.trend(seen, "/tmp", full(GB, inodes=900_000), NOW_NS)
    assert isinstance(found, Growing) and found.what == "inodes"
    assert history.sentence(found) == "grows by 300,000 inodes an hour, out of inodes in about 20 min"


@given(st.lists(st.integers(0, 1 << 50), max_size=30), st.integers(0, 1 << 50), st.integers(0, 1 << 50))
def test_a_forecast_never_lies_in_the_past_or_beyond_a_week(used: list[int], now: int, free: int) -> None:
    found = history.trend(moments(*used), "/tmp", Usage(Level(now, free), Level(0, 0)), NOW_NS)
    if isinstance(found, Growing) and found.full_in_s is not None:
        assert 0 <= found.full_in_s <= 7 * 86400


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 min"), (90 * 60, "90 min"), (9 * 3600 + 100, "9 h"), (47 * 3600, "47 h"), (3 * 86400, "3 days")],
)
def test_a_forecast_is_said_as_exactly_as_it_can_be(seconds: float, words: str) -> None:
    assert about(seconds) == words


@pytest.fixture
def filling(tmp_path: Path, state: str) -> Iterator[Path]:
    """A root of 1 MB with 400 KB in it, after three hours of 100 KB each."""
    with mounted(tmp_path / "filling", "-t", "tmpfs", "-o", "mode=1777,size=1m", "tmpfs") as point:
        (point / "mine").write_bytes(b"x" * 400 * 1024)
        seen = history.usage(space.space_of(str(point)))
        os.makedirs(state, mode=0o700)
        for hours in (3, 2, 1):
            step = hours * 100 * 1024
            before = Usage(Level(seen.bytes.used - step, seen.bytes.free + step), seen.inodes)
            history.note(state, Moment(time.time_ns() - hours * HOUR_NS + 10**10, "tick", {str(point): before}, 0, 0))
        yield point


@needs_root
def test_status_tells_when_a_root_is_full(filling: Path, root: Path) -> None:
    (told,) = data("status", "--root", str(filling))["roots"]
    assert told["trend"]["full_in_seconds"] == pytest.approx(6 * 3600, rel=0.1)
    assert tmpwarden("status", "--root", str(filling)).stdout.count("400.0 KB of 1.0 MB, full in about 6 h") == 1
    assert data("status", "--root", str(root))["roots"][0]["trend"] == {"state": "unknown"}


@needs_root
def test_doctor_warns_of_a_root_that_will_be_full_within_a_day(filling: Path) -> None:
    told = data("doctor", "--no-probe", "--root", str(filling))["diagnoses"]
    (found,) = [each for each in told if each["check"] == "forecast"]
    assert found["status"] == "warn" and "full in about 6 h" in found["summary"]
    assert found["detail"].startswith("at the rate of the last 3 h")


def test_doctor_says_what_was_given_back_so_far(root: Path) -> None:
    cwd_markers(root, 3)
    assert clean(now_ns=later(1)).freed_entries == 3
    told = data("doctor", "--no-probe")["diagnoses"]
    assert [each["summary"] for each in told if each["check"] == "forecast"] == [
        f"{root}: its growth is not known yet.",
        "tmpwarden has freed 12.0 KB, 3 entries so far.",
    ]
