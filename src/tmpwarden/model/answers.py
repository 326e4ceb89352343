"""Whether anybody uses a thing: somebody does, nobody does, or it could not be measured. None of them is a yes or no.

A caller spells all three cases (mypy finds the one that was forgotten), because law 1 hangs on it: what was not
measured never reads as nobody. Plain classes: oskit answers with them on the hot path too.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from .sweep import Witness


class _Answer:
    """Frozen, compared by value, and never true or false."""

    __slots__: tuple[str, ...] = ()
    __match_args__: tuple[str, ...] = ()

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self!r} is neither true nor false: match Held, Nobody and NotMeasured")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values() == [getattr(other, name) for name in self.__slots__]

    def __hash__(self) -> int:
        return hash((type(self), *self._values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._values()))})"

    def _values(self) -> list[object]:
        return [getattr(self, name) for name in self.__slots__]


class Held(_Answer):
    """Somebody uses it: at least one witness, the best known first."""

    __slots__ = ("by",)
    __match_args__ = ("by",)
    by: tuple[Witness, ...]

    def __init__(self, by: tuple[Witness, ...]) -> None:
        object.__setattr__(self, "by", by)


class Nobody(_Answer):
    """Everybody who could use it was looked at, and does not."""

    __slots__ = ()


class NotMeasured(_Answer):
    """It could not be told, and why."""

    __slots__ = ("askable", "is_about_names", "why")
    __match_args__ = ("why",)
    why: str
    askable: bool  # no more is in doubt than what the kernel can be asked about: who has a file open
    is_about_names: bool  # no more is in doubt than who names it in a variable: all that is open was seen

    def __init__(self, why: str, *, askable: bool = False, is_about_names: bool = False) -> None:
        object.__setattr__(self, "why", why)
        object.__setattr__(self, "askable", askable)
        object.__setattr__(self, "is_about_names", is_about_names)


Users = Held | Nobody | NotMeasured

# What tells which of two came first: Process.start, which orders the processes of a boot, and seconds since the epoch.
Beginning = tuple[int, float]
