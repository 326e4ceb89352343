"""Whether this system's word about processes has been proven: it has none."""

from __future__ import annotations

BLIND = "on this system tmpwarden cannot see which processes use an item"
IS_UNATTENDED = False


def doubt(state: str) -> str:
    """Why nobody may be believed to be gone, in words."""
    return BLIND


def test(state: str) -> str:
    """The same after trying it out: there is nothing to try."""
    return BLIND
