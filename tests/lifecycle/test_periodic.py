"""A clean by the clock inside a server: it starts at once, never throws, never overlaps, stops at once."""

import os
import threading
from pathlib import Path

import pytest

import tmpwarden
from support.litter import claude_session, cwd_markers
from support.wrapped import eventually
from tmpwarden.lifecycle import periodic
from tmpwarden.sweep import cleaning
from tmpwarden.sweep.lock import clean_lock
from tmpwarden.sweep.prepared import CleanResult


def test_it_cleans_once_at_the_start() -> None:
    ran = threading.Event()
    with tmpwarden.Periodic(every="1h", on_result=lambda result: ran.set()) as server:
        assert ran.wait(60)
        assert server.runs == 1
    server.stop(wait_s=30)
    assert not any(thread.name == "tmpwarden-periodic" for thread in threading.enumerate())


def test_it_skips_while_another_process_cleans(own_world: Path) -> None:
    server = tmpwarden.Periodic(every="1h")
    with clean_lock(str(own_world / "state" / "tmpwarden"), 0):
        server._once()
    assert (server.runs, server.skipped, server.last_error) == (0, 1, None)


def test_a_worker_that_the_server_forks_meanwhile_does_not_keep_the_lock(own_world: Path) -> None:
    state = str(own_world / "state" / "tmpwarden")
    reading, writing = os.pipe()
    with clean_lock(state, 0):
        worker = os.fork()
        if worker == 0:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
    os.close(reading)
    try:
        with clean_lock(state, 0):
            pass
    finally:
        os.close(writing)
        os.waitpid(worker, 0)


def test_it_never_throws(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **words: object) -> CleanResult:
        raise RuntimeError("broken")

    monkeypatch.setattr(periodic, "cleaned", broken)
    server = tmpwarden.Periodic(every="30m")
    assert server._once() == 1800
    assert server.last_error == "RuntimeError: broken"


def test_one_key_switches_it_off(own_world: Path) -> None:
    (own_world / "config" / "tmpwarden").mkdir()
    (own_world / "config" / "tmpwarden" / "config.toml").write_text('[periodic]\nenabled = false\nevery = "2h"\n')
    server = tmpwarden.Periodic()
    assert server._once() == 7200
    assert server.runs == 0


def test_stopping_does_not_wait_for_the_clock(own_world: Path) -> None:
    cwd_markers(own_world / "tmp", 3)
    server = tmpwarden.Periodic(every="1d").start()
    server.stop(wait_s=60)
    assert server._thread is not None
    assert not server._thread.is_alive()


def test_it_keeps_time_with_a_little_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth earlier or later, so that many hosts do not sweep in the same second."""
    pauses: list[float] = []

    class Stopping(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout or 0)
            if len(pauses) == 50:
                self.set()
            return self.is_set()

    server = tmpwarden.Periodic(every="1h")
    stopping = Stopping()
    monkeypatch.setattr(server, "_once", lambda stopping: 3600.0)
    server._loop(stopping)
    assert all(3240 <= pause <= 3960 for pause in pauses)
    assert len(set(pauses)) > 40


def test_it_stops_in_the_middle_of_a_clean(own_world: Path) -> None:
    """After the unit it is at: the others are still there."""
    for number in range(5):
        claude_session(own_world / "tmp", slug=f"-project-{number}")
    results: list[CleanResult] = []
    server = tmpwarden.Periodic(every="1h", on_result=results.append)
    server._stopping.set()
    server._once()
    assert [result.stopped for result in results] == ["interrupted"]
    assert len(list((own_world / "tmp").glob("claude-*/*/*"))) == 5


@pytest.mark.parametrize(
    "text",
    ["[periodic\n", '[periodic]\nevery = "soon"\n', "[periodic]\nenabled = 7\n", "\xff", '[rows."x.y"]\nmax_age=1\n'],
)
def test_a_broken_config_throws_nothing_and_the_next_hour_comes(own_world: Path, text: str) -> None:
    (own_world / "config" / "tmpwarden").mkdir()
    (own_world / "config" / "tmpwarden" / "config.toml").write_bytes(text.encode("latin-1"))
    server = tmpwarden.Periodic()
    assert server._once() == 3600


def test_two_servers_and_a_second_start_never_overlap(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running, most, guard = 0, 0, threading.Lock()
    inside = cleaning.Cleaning.clean

    def counted(self: cleaning.Cleaning, confirm: object) -> CleanResult:
        nonlocal running, most
        with guard:
            running += 1
            most = max(most, running)
        try:
            threading.Event().wait(0.05)
            return inside(self, None)
        finally:
            with guard:
                running -= 1

    monkeypatch.setattr(cleaning.Cleaning, "clean", counted)
    servers = [tmpwarden.Periodic(every="1h") for _ in range(4)]
    for server in servers:
        server.start().start()
    assert eventually(lambda: all(server.runs + server.skipped == 1 for server in servers))
    for server in servers:
        server.stop(wait_s=60)
    assert most == 1
    assert sum(server.runs + server.skipped for server in servers) == 4


def test_a_callback_that_raises_is_its_own_affair(own_world: Path) -> None:
    def broken(result: CleanResult) -> None:
        raise ValueError("in the callback")

    server = tmpwarden.Periodic(every="1h", on_result=broken)
    assert server._once() == 3600
    assert server.last_error == "ValueError: in the callback"


def test_one_that_is_started_again_while_it_stops_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reload of the server: the old thread is still in its clean."""
    cleaning_now, go_on, again = threading.Event(), threading.Event(), threading.Event()

    def slow(*args: object, **words: object) -> CleanResult:
        if cleaning_now.is_set():
            again.set()
        cleaning_now.set()
        assert go_on.wait(60)
        return CleanResult()

    monkeypatch.setattr(periodic, "cleaned", slow)
    monkeypatch.setattr(periodic.Periodic, "_is_due", lambda self, pause_s: True)
    server = tmpwarden.Periodic(every="1h").start()
    assert cleaning_now.wait(60)
    server.stop()
    server.start()
    go_on.set()
    try:
        assert again.wait(60)
    finally:
        server.stop(wait_s=60)
