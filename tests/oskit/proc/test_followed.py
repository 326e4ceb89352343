"""A child is waited for while it gets on: what is stopped or hangs is ended, and only time that was waited counts."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tmpwarden.oskit.proc import grip as following
from tmpwarden.oskit.proc.forked import forked
from tmpwarden.oskit.proc.grip import Followed
from tmpwarden.oskit.system.linux import ending


@contextmanager
def child(work: Callable[[], object]) -> Iterator[tuple[Followed, int]]:
    """It, and the pipe that it never writes to."""
    reading, writing = os.pipe()
    followed = Followed(forked(work))
    os.close(writing)
    try:
        yield followed, reading
    finally:
        followed.end()
        followed.close()
        os.close(reading)


def stop_oneself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def until_stopped(followed: Followed) -> None:
    while not (followed.is_stuck(0.0) or followed.is_stopped):
        pass


def test_one_that_is_stopped_is_found_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "STOPPED_S", 0.4)
    with child(stop_oneself) as (followed, pipe):
        assert not followed.speaks(pipe) and followed.is_stopped
        assert followed._still_s < following.STILL_S / 2, "it had its own deadline"
        assert followed.end()
        assert not os.path.exists(f"/proc/{followed.pid}")


def test_one_that_goes_on_again_begins_anew() -> None:
    with child(lambda: (stop_oneself(), stop_oneself())) as (followed, _):
        until_stopped(followed)
        while not followed.is_stuck(0.5) and followed._still_s < following.STOPPED_S - 1:
            pass
        os.kill(followed.pid, signal.SIGCONT)
        assert not followed.is_stuck(0.5) or followed._still_s == 0.0
        until_stopped(followed)
        assert followed._still_s <= 1.0


def test_hours_in_which_nobody_waited_do_not_count() -> None:
    """Ctrl-Z stops both; whoever comes back first must not find that the other has been stopped for hours."""
    with child(stop_oneself) as (followed, _):
        until_stopped(followed)
        assert not followed.is_stuck(7200.0)


def test_one_that_works_or_wakes_gets_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "STILL_S", 0.6)

    def work() -> None:
        until = time.monotonic() + 2
        while time.monotonic() < until:
            pass

    def wake() -> None:
        for _ in range(40):
            time.sleep(0.05)

    for each in (work, wake):
        with child(each) as (followed, pipe):
            assert followed.speaks(pipe), "it came to its end"
            assert os.read(pipe, 1) == b""


def test_what_cannot_be_measured_ends_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "progress", lambda pid: (False, ()))
    with child(stop_oneself) as (followed, _):
        assert not any(followed.is_stuck(0.5) for _ in range(1000))


def test_a_host_that_reaps_every_child_is_not_disturbed() -> None:
    with ExitStack() as after:
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        after.callback(signal.signal, signal.SIGCHLD, before)
        with child(stop_oneself) as (followed, _):
            assert followed.end()
