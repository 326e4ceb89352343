"""A clean by the clock inside a server: it starts at once, never throws, never overlaps, stops at once."""

import threading
from pathlib import Path

import pytest

import tmpwarden
from support.litter import cwd_markers
from tmpwarden.lifecycle import periodic
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


def test_it_never_throws(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **words: object) -> CleanResult:
        raise RuntimeError("broken")

    monkeypatch.setattr(periodic, "clean", broken)
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
