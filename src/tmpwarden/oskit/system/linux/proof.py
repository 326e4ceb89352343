"""Whether this system's word about processes has been proven on this very machine. /proc is its own proof: it is there
or it is not."""

from __future__ import annotations

import os

BLIND = "this system has no /proc that lists every process"
IS_UNATTENDED = True  # what is proven here is enough for runs that nobody watches


def doubt(state: str) -> str:
    """Why nobody may be believed to be gone, in words; "" where the system tells of everybody."""
    return "" if os.path.exists("/proc/self/mountinfo") and os.path.exists("/proc/self/ns/mnt") else BLIND


def test(state: str) -> str:
    """The same after trying it out; `state`: where a result may be kept."""
    return doubt(state)
