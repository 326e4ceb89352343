"""How often which rule spoke, and what was asked about and then done: what a user needs to tune the rules."""

from __future__ import annotations

from collections.abc import Iterable

from ...lazy_dataclass import dataclass
from .history import Entry

_OFTEN = 5  # asked this often and always done: the question is a habit


@dataclass(slots=True)
class Spoken:
    """One rule (or none) with one word."""

    rule: str
    said: str
    times: int = 0
    done: int = 0  # of what was asked about: seen to run afterwards
    last: str = ""  # when
    example: str = ""

    @property
    def is_habit(self) -> bool:
        """Asked often, and always done all the same."""
        return self.said == "ask" and self.times >= _OFTEN and self.done == self.times


def counted(entries: Iterable[Entry]) -> list[Spoken]:
    """Those that hold something back first, then by how often they spoke."""
    found: dict[tuple[str, str], Spoken] = {}
    for entry in entries:
        rule, said = str(entry.get("rule") or ""), str(entry.get("decision"))
        one = found.setdefault((rule, said), Spoken(rule, said))
        one.times += 1
        one.done += said == "ask" and entry.get("ran") is not None
        one.last = str(entry.get("time") or "")
        one.example = str(entry.get("before") or "")
    order = {"deny": 0, "ask": 1}
    return sorted(found.values(), key=lambda one: (order.get(one.said, 2), -one.times, one.rule))
