"""What was marked, by identity: a mark is for the very thing that was on the screen, not for its name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from ...lazy_dataclass import dataclass, replace
from ...model.sweep import Remove, Verdict

Identity = tuple[int, int, int]  # device, inode, ctime: a successor with the same number has another ctime


@dataclass(frozen=True, slots=True)
class Pin:
    """One marked unit; of a swarm, each of its files by itself."""

    path: str
    litter: str
    names: tuple[str, ...]  # "" for a single unit
    identities: tuple[Identity, ...]

    def document(self) -> dict[str, object]:
        return {"path": self.path, "litter": self.litter, "names": self.names, "identities": self.identities}


def of_document(document: dict[str, object]) -> Pin:
    names, identities = document["names"], document["identities"]
    assert isinstance(names, list) and isinstance(identities, list)
    return Pin(str(document["path"]), str(document["litter"]), tuple(names), tuple(tuple(each) for each in identities))


def pinned(verdicts: Sequence[Verdict]) -> Pin:
    """Of one unit as it is now."""
    first = verdicts[0].finding
    names = [name for each in verdicts for name in each.finding.members] or [""]
    there = [(name, identity) for name in names if (identity := _identity(first.path, name)) is not None]
    return Pin(first.path, first.litter.key, tuple(name for name, _ in there), tuple(each for _, each in there))


def _identity(path: str, name: str) -> Identity | None:
    try:
        status = os.lstat(os.path.join(path, name) if name else path)
    except OSError:
        return None  # gone: then nothing is marked, and nothing will go
    return status.st_dev, status.st_ino, status.st_ctime_ns


def still_marked(removals: Iterable[Remove], pins: Iterable[Pin]) -> list[Remove]:
    """Of what may go by a new judgement, what is still the very thing that was marked."""
    known = {(pin.path, pin.litter, name): identity for pin in pins for name, identity in _pairs(pin)}
    kept = []
    for removal in removals:
        finding = removal.finding
        names = finding.members or ("",)
        same = tuple(name for name in names if _is_same(known, finding.path, finding.litter.key, name))
        if same and finding.members:
            kept.append(replace(removal, finding=replace(finding, members=same)))
        elif same:
            kept.append(removal)
    return kept


def _pairs(pin: Pin) -> Iterable[tuple[str, Identity]]:
    return zip(pin.names, pin.identities, strict=True)


def _is_same(known: dict[tuple[str, str, str], Identity], path: str, litter: str, name: str) -> bool:
    marked = known.get((path, litter, name))
    return marked is not None and _identity(path, name) == marked
