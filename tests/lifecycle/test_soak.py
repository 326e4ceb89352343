"""The ten days of a server under a quota, in a small form; `make soak` is the whole one."""

import shutil

import pytest
from bench import soak

from support.mounts import needs_root

SMALL = {"limit_bytes": 8 << 20, "step_hours": 6}


@needs_root
def test_without_us_writes_fail_about_day_ten() -> None:
    result = soak.replay("nothing", **SMALL)
    assert result.first_failure_hour is not None
    assert 8.5 <= result.first_failure_hour / 24 <= 10.5


@needs_root
@pytest.mark.skipif(shutil.which("mkfs.btrfs") is None, reason="needs the program mkfs.btrfs")
@pytest.mark.long
def test_a_true_quota_bites_in_the_same_way() -> None:
    result = soak.replay("nothing", "btrfs with a quota", limit_bytes=32 << 20, step_hours=6)
    assert result.failed_writes


@needs_root
@pytest.mark.parametrize(("mode", "days", "step_hours"), [("hourly", 4, 3), ("hooks", 5, 4)])
def test_with_us_it_stays_bounded_and_no_live_session_loses_a_file(mode: str, days: int, step_hours: int) -> None:
    """The promises of `make soak`, to the day on which a resumable session first goes: no later one is fuller."""
    result = soak.replay(mode, days=days, limit_bytes=SMALL["limit_bytes"], step_hours=step_hours)
    assert soak.is_as_promised(result), (result.highest, result.failed_writes, result.lost)


@needs_root
def test_one_session_that_left_more_than_all_others_goes_by_itself_in_time() -> None:
    result = soak.replay("hourly", days=4, limit_bytes=SMALL["limit_bytes"], step_hours=3, is_dominated=True)
    assert soak.is_as_promised(result), (result.dominant_gone_hour, result.highest, result.lost)


@pytest.mark.parametrize(("gone_hour", "is_kept"), [(80, True), (97, False), (None, False)])
def test_the_promise_about_a_dominant_session_can_be_broken(gone_hour: int | None, is_kept: bool) -> None:
    result = soak.Result("hourly", "tmpfs", [60.0], is_dominated=True, dominant_gone_hour=gone_hour)
    assert soak.is_as_promised(result) == is_kept


@pytest.mark.parametrize(
    ("mode", "percent", "lost", "is_kept"),
    [
        ("hourly", 59.9, [], True),
        ("hourly", 60.0, [], False),
        ("hooks", 80.0, [], False),
        ("hooks", 20.0, ["x"], False),
    ],
)
def test_the_promise_can_be_broken(mode: str, percent: float, lost: list[str], is_kept: bool) -> None:
    assert soak.is_as_promised(soak.Result(mode, "tmpfs", [10.0, percent], lost=lost)) == is_kept
