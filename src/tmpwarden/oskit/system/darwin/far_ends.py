"""macOS: libproc tells of the other end of a pipe, but nobody has seen that on a Mac yet: nothing is proven by it."""

from __future__ import annotations

from ....model.answers import NotMeasured
from ...proc.far_ends import FarEnd, NoFarEnd


def far_end(pid: int, fd: int) -> NoFarEnd | FarEnd | NotMeasured:
    return NotMeasured("the other end of a pipe is not asked about on macOS")
