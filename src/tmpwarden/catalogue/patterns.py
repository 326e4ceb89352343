"""What a row may say about names and places: how names start, paths of components. Pure."""

from __future__ import annotations

from ..lazy_dataclass import dataclass

BASES = (
    "tmp",
    "home",
    "xdg_cache",
    "xdg_config",
    "xdg_data",
    "xdg_state",
    "project",
    "mac_folders",
    "darwin_temp",
    "darwin_cache",
    "library",
)
FLAGS = 0x110  # re.ASCII | re.DOTALL, said without importing re


def name_pattern(pattern: str, uid: int) -> str:
    """`{uid}` is no quantifier, so it can stand for the number inside a pattern."""
    return pattern.replace("{uid}", str(uid))


class Hint:
    """What every name of a pattern has. Only a name that fits can be one of its names; what fits need not be."""

    __slots__ = ("ends", "least", "most", "starts")

    def __init__(self, starts: tuple[str, ...], ends: tuple[str, ...], least: int, most: int) -> None:
        self.starts, self.ends, self.least, self.most = starts, ends, least, most

    def fits(self, name: str) -> bool:
        return self.least <= len(name) <= self.most and name.startswith(self.starts) and name.endswith(self.ends)

    @property
    def plain(self) -> tuple[tuple[str, ...], tuple[str, ...], int, int]:
        return self.starts, self.ends, self.least, self.most


@dataclass(frozen=True, slots=True)
class Component:
    """One step of a row's place: a name, or a name with `*` in it."""

    text: str
    glob: tuple[str, ...] | None  # what stands between the stars

    def matches(self, name: str) -> bool:
        if self.glob is None:
            return self.text == name
        first, *middle, last = self.glob
        if not name.startswith(first) or len(name) < len(first) + len(last):
            return False
        at, end = len(first), len(name) - len(last)
        for part in middle:
            at = name.find(part, at, end) + len(part)
            if at < len(part):
                return False
        return name.endswith(last)


def split_place(place: str) -> tuple[str, tuple[str, ...]]:
    """`{tmp}/claude-{uid}/*` -> ("tmp", ("claude-{uid}", "*")). Raises ValueError with a sentence."""
    base, *rest = place.split("/")
    if base[1:-1] not in BASES or base != f"{{{base[1:-1]}}}":
        raise ValueError("must start with one of " + " ".join(f"{{{name}}}" for name in BASES))
    for part in rest:
        if part in ("", ".", "..") or "**" in part:
            raise ValueError("is a path of plain names; `*` stands for anything within one of them")
        if not {"{", "}"}.isdisjoint(part.replace("{uid}", "")):
            raise ValueError("knows only {uid} after the first name")
    return base[1:-1], tuple(rest)


def component(text: str, uid: int) -> Component:
    pattern = text.replace("{uid}", str(uid))
    if "*" not in pattern:
        return Component(pattern, None)
    return Component(pattern, tuple(pattern.split("*")))
