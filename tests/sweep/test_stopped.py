"""Somebody stops a helper process of a clean (SIGSTOP): the clean comes to its end, says so, and the lock is free."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.litter import claude_session, later
from support.skips import needs_two_cores
from support.wrapped import eventually
from tmpwarden.model.request import Request
from tmpwarden.oskit.proc import grip as following
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.lock import clean_lock
from tmpwarden.sweep.take import purger

pytestmark = needs_two_cores


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def workers() -> list[int]:
    return [int(each) for each in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def test_a_clean_ends_without_a_helper_that_is_stopped(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    units = [claude_session(own_world / "tmp", files=10, recorded=False) for _ in range(4)]
    me, draw, others = os.getpid(), purger._draw, set(workers())  # servers that other tests have started

    def stopped(tickets: int) -> Iterator[int]:
        """The worker at its first ticket, which the clean leaves to it."""
        if os.getpid() == me:
            assert eventually(lambda: all(state_of(one) == "T" for one in set(workers()) - others))
            yield from draw(tickets)
            return
        for number in draw(tickets):
            os.kill(os.getpid(), signal.SIGSTOP)
            yield number

    monkeypatch.setattr(purger, "_draw", stopped)
    monkeypatch.setattr(purger, "_WORTH_A_FORK", 1)
    monkeypatch.setattr(following, "STOPPED_S", 0.5)
    result = clean(Request(quarantine=False), now_ns=later(100))
    assert not any(unit.exists() for unit in units) and result.failed == []
    assert any("was stopped by another process" in said for said in result.warnings)
    with clean_lock(str(own_world / "state" / "tmpwarden"), 0):
        pass


_HOLDER = """
import os, signal, sys
from tmpwarden.oskit.proc.forked import forked
from tmpwarden.sweep.lock import clean_lock
with clean_lock(sys.argv[1], 0):
    child = forked(lambda: os.kill(os.getpid(), signal.SIGSTOP))
    os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOWAIT)
    print(child, flush=True)
    sys.stdin.read()
"""


def test_a_stopped_helper_of_a_killed_clean_does_not_hold_the_lock(own_world: Path) -> None:
    state = str(own_world / "state" / "tmpwarden")
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout
        helper = int(holder.stdout.readline())
        try:
            holder.kill()
            holder.wait()
            assert state_of(helper) == "T"
            with clean_lock(state, 0):
                pass
        finally:
            os.kill(helper, signal.SIGKILL)
            eventually(lambda: not os.path.exists(f"/proc/{helper}") or "Z" in Path(f"/proc/{helper}/stat").read_text())
