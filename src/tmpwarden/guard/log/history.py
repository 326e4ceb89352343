"""Reading the audit back: every generation, oldest first, and how often which rule spoke."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime

from ...lazy_dataclass import dataclass
from ...oskit.files.own_files import generations
from ..rules.patterns import matches
from .audit import KEEP, log_path

Entry = dict[str, object]


def entries(state_dir: str) -> Iterator[Entry]:
    for path in generations(log_path(state_dir), keep=KEEP):
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                if isinstance(entry, dict):
                    yield entry


def folded(log: Iterable[Entry]) -> Iterator[Entry]:
    """Each decision with `ran`: the text that ran, None where it did not or was not seen to; what tells so is taken in.

    What was passed or allowed ran as it was told, unless a line says that the agent ran its own text.
    """
    entries = list(log)
    open_asks: dict[tuple[object, object], Entry] = {}
    latest: dict[tuple[object, object], Entry] = {}
    kept = []
    for entry in entries:
        decision, session, text = entry.get("decision"), entry.get("session"), entry.get("before")
        if decision == "done":
            if (asked := open_asks.pop((session, text), None)) is not None:
                asked["ran"] = text
            continue
        after = entry.get("after") or text
        entry["ran"] = after if decision in ("allow", "pass") else text if decision == "mismatch" else None
        if decision == "ask":
            open_asks[session, after] = entry
        elif decision == "mismatch" and (session, text) in latest:
            latest[session, text]["ran"] = text
        latest[session, text] = entry
        kept.append(entry)
    yield from kept


def is_wanted(entry: Entry, *, fields: dict[str, str], words: str = "", since_s: float = 0.0) -> bool:
    """`fields` are globs, all must match; `words` is looked for in the input before and after."""
    if any(not matches(glob, str(entry.get(key) or "")) for key, glob in fields.items()):
        return False
    if words and not any(words in str(entry.get(key) or "") for key in ("before", "after")):
        return False
    return since_s <= 0 or _seconds(entry) >= since_s


def _seconds(entry: Entry) -> float:
    try:
        return datetime.fromisoformat(str(entry.get("time"))).timestamp()
    except ValueError:
        return 0.0


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
    counts: dict[tuple[str, str], Spoken] = {}
    for entry in entries:
        rule, answer = str(entry.get("rule") or ""), str(entry.get("decision"))
        one = counts.setdefault((rule, answer), Spoken(rule, answer))
        one.times += 1
        one.done += answer == "ask" and entry.get("ran") is not None
        one.last = str(entry.get("time") or "")
        one.example = str(entry.get("before") or "")
    order = {"deny": 0, "ask": 1}
    return sorted(counts.values(), key=lambda one: (order.get(one.said, 2), -one.times, one.rule))
