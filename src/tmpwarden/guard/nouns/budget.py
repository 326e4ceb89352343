"""How much work one decision is worth. Steps, not time: a busy machine gives the same answer."""

from __future__ import annotations

from ..shell.syntax import Unreadable

MAX_STEPS = 70_000  # some 0.2 s; a line that people write takes less than 2,000


class Budget:
    """Lives for one decision and goes through all of it."""

    __slots__ = ("left",)

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise Unreadable("too much to follow")
