"""What this system tells of processes, and how far it may be believed: asked before anything is promised or removed."""

from __future__ import annotations

from .. import system
from ..files import places


def doubt() -> str:
    """Why nobody may be believed to be gone, in words; "" where the system tells of everybody."""
    return system.proof.doubt(places.state_dir())


def tested() -> str:
    """The same before something is removed: what was never tried on this build of the system is tried now."""
    return system.proof.test(places.state_dir())
