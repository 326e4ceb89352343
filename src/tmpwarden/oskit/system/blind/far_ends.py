"""The other end of a pipe or socket pair: not told."""

from __future__ import annotations

from ....model.answers import NotMeasured
from ...proc.connections import FarEnd, NoFarEnd
from .no_answer import WHY


def far_end(pid: int, fd: int) -> NoFarEnd | FarEnd | NotMeasured:
    """Not measured."""
    return NotMeasured(WHY)
