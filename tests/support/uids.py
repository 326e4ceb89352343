"""User numbers that no other run of tests on this machine has: another run's processes could carry any session, a doubt
that keeps what a test wants gone. Each test process claims its own, which are free again however it ends."""

import os
import signal
import socket
import time
from pathlib import Path

_ALL = range(40_000, 60_000)  # no distribution gives these to anybody by itself
_EACH = 8


def _claimed() -> tuple[socket.socket | None, int]:
    """(what holds the claim, the first of the numbers). A killed run may have left programs behind under its own."""
    in_use = _in_use()
    for first in _ALL[::_EACH]:
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0tmpwarden-tests-{first}")  # an abstract name goes with its process
        except OSError:
            claim.close()
        else:
            if in_use.isdisjoint(range(first, first + _EACH)):
                return claim, first
            claim.close()
    return None, _ALL[0]  # macOS has no such names; nobody becomes another user in its tests


def _in_use() -> set[int]:
    """As whom anything runs."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            found.add(int(status.read_text(errors="replace").partition("\nUid:")[2].split(None, 1)[0]))
        except OSError:
            continue  # it has ended
    return found


def end_all_of(uid: int) -> None:
    """What a test that was ended early has left behind under a number of ours."""
    until = time.monotonic() + 10
    while uid in _in_use() and time.monotonic() < until:
        child = os.fork()
        if child == 0:
            try:
                os.setresuid(uid, uid, uid)
                os.kill(-1, signal.SIGKILL)  # the kernel lets this user end his own and nobody else
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.01)


_claim, _first = _claimed()
ORDINARY, HIDING, ALICE, BOB, WEB = range(_first, _first + 5)
