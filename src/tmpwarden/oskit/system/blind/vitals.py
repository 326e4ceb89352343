"""What a process is and costs: not told."""

from __future__ import annotations

from ...proc.vitals import PartlyUnread, ProcessGone, Vitals
from .no_answer import WHY


def look_at(pid: int) -> Vitals | ProcessGone | PartlyUnread:
    """It may be there."""
    return PartlyUnread(pid, None, WHY)


def proportional_bytes(pid: int) -> int | None:
    """None: not told."""
    return None
