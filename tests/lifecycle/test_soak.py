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
@pytest.mark.skipif(shutil.which("mkfs.btrfs") is None, reason="btrfs-progs are not here")
@pytest.mark.long
def test_a_true_quota_bites_in_the_same_way() -> None:
    result = soak.replay("nothing", "btrfs with a quota", limit_bytes=32 << 20, step_hours=6)
    assert result.failed_writes


@needs_root
@pytest.mark.parametrize(("mode", "most"), [("hourly", 60), ("hooks", 80)])
def test_with_us_it_stays_bounded_and_no_live_session_loses_a_file(mode: str, most: int) -> None:
    """Steps of six hours: less often than hourly, so a little more is there than the 50 % of `make soak`."""
    result = soak.replay(mode, days=7, **SMALL)
    assert result.highest < most
    assert result.failed_writes == 0
    assert result.lost == []
