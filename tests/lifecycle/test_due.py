"""Whoever cleans, a person, a timer, a server or a hook: the others know, and do not clean again at once."""

import os
from pathlib import Path

import pytest

import tmpwarden
from support.command import answer
from support.command import tmpwarden as tmpwarden_command
from support.litter import cwd_markers
from support.planted import DAYS
from tmpwarden.cli import all_users
from tmpwarden.lifecycle import tick
from tmpwarden.lifecycle.users import User
from tmpwarden.oskit.files import places
from tmpwarden.sweep.weigh import consent


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def _skipped() -> object:
    status, envelope = answer("clean", "--if-due", "1h", "--yes")
    assert status == 0
    return envelope["data"].get("skipped")


def _by_a_timer() -> None:
    assert tick.main([]) == 0


def _by_a_server() -> None:
    server = tmpwarden.Periodic(every="1h")
    server._once()
    assert server.runs == 1


def _by_a_person() -> None:
    assert answer("clean", "--yes")[0] == 0


@pytest.mark.parametrize("cleaned", [_by_a_timer, _by_a_server, _by_a_person])
def test_a_clean_that_is_not_due_is_skipped_whoever_did_the_last_one(cleaned: object, root: Path) -> None:
    assert callable(cleaned)
    cleaned()
    assert _skipped() == "not-due"
    _an_hour_passes()
    assert _skipped() is None
    assert _skipped() == "not-due"


def test_a_server_leaves_the_work_to_the_timer_that_did_it() -> None:
    server = tmpwarden.Periodic(every="1h")
    server._once()  # the one at the start
    _an_hour_passes()
    _by_a_timer()
    server._once()
    assert (server.runs, server.skipped) == (1, 1)
    _an_hour_passes()
    server._once()
    assert (server.runs, server.skipped) == (2, 1)


@pytest.mark.parametrize("cleaned", [_by_a_timer, _by_a_person])
def test_a_timer_leaves_the_work_to_whoever_has_just_done_it(cleaned: object, root: Path) -> None:
    assert callable(cleaned)
    cleaned()
    last = consent.last_clean_ns(places.state_dir())
    _by_a_timer()
    assert consent.last_clean_ns(places.state_dir()) == last
    _an_hour_passes()
    _by_a_timer()
    assert consent.last_clean_ns(places.state_dir()) != last


def test_a_server_that_starts_cleans_whatever_the_timer_did(root: Path) -> None:
    _by_a_timer()
    _by_a_server()


def test_a_job_for_one_row_is_no_clean(root: Path) -> None:
    cwd_markers(root, 2)
    assert answer("clean", "--yes", "--agent", "claude")[0] == 0
    assert consent.last_clean_ns(places.state_dir()) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to ask for all users")
def test_for_all_users_it_is_asked_for_each(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One user, who stays who we are: the real ones have real homes."""
    me = User(os.geteuid(), os.getegid(), "me", str(own_world / "home"))
    monkeypatch.setattr(all_users, "users_of", lambda roots: [me])
    found = [answer("clean", "--all-users", "--if-due", "1h", "--yes")[1]["data"]["users"] for _ in range(2)]
    assert [users[0]["data"].get("skipped") for users in found] == [None, "not-due"]


def _an_hour_passes() -> None:
    stamp = Path(places.state_dir()) / "last-clean"
    then = stamp.stat().st_mtime - 3600
    os.utime(stamp, (then, then))


def test_periodic_switched_off_also_stops_the_line_of_cron_which_says_so(root: Path) -> None:
    config = Path(places.config_dir()) / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[periodic]\nenabled = false\n")
    markers = cwd_markers(root, 2)
    line = ("clean", "--if-due", "1h", "--yes")
    assert _skipped() == "disabled"
    told = tmpwarden_command(*line, later_s=DAYS)
    assert (told.returncode, told.stdout) == (0, "Not cleaned: `[periodic] enabled = false` is set in config.toml.\n")
    assert all(marker.exists() for marker in markers)
    assert tmpwarden_command("clean", "--yes", later_s=DAYS).returncode == 0
    assert not any(marker.exists() for marker in markers), "what a person calls is not by the clock"
