"""What an observing hook would have removed, and whether anybody has used it since: would it have been wrong?"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ...model.sweep import Remove
from ...oskit.files import places, walk
from ...oskit.files.opening import closing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KIND = "observed"  # in the journal
_NAMED = 50  # of a swarm: hooks may see the same one every minute


def fields(verdict: Remove) -> dict[str, object]:
    """One line for `Journal.note`."""
    finding, measure = verdict.finding, verdict.evidence.measure
    said: dict[str, object] = {"path": finding.path, "row": finding.litter.key, "reason": verdict.reason.value}
    if finding.members:
        said |= {"count": len(finding.members), "names": list(finding.members[:_NAMED])}
    return said | ({"newest_ns": measure.newest_ns} if measure is not None else {})


def distinct(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each thing as it was first seen; hooks see it again until it is gone."""
    found: dict[tuple[object, ...], dict[str, Any]] = {}
    for entry in entries:
        if entry.get("t") == KIND:
            found.setdefault((entry.get("path"), entry.get("row"), *(entry.get("names") or ())), entry)
    return list(found.values())


def was_used_since(entry: dict[str, Any]) -> bool | None:
    """Whether anything of it has been written or read since; None: not measured. What is gone is not in use."""
    then_ns = entry.get("newest_ns")
    if not isinstance(then_ns, int):
        return None
    return any(newest_ns > then_ns for newest_ns in _newest(str(entry.get("path")), entry.get("names") or ()))


def _newest(path: str, names: Iterable[object]) -> Iterator[int]:
    parent, named = (path, [str(name) for name in names]) if names else os.path.split(path.rstrip("/"))
    try:
        directory = walk.open_dir(parent)
    except OSError:
        return
    with closing(directory):
        for name in [named] if isinstance(named, str) else named:
            measured = walk.measure(directory, name, uid=places.uid(), count_atime=True)
            if measured is not None:
                yield measured.newest_ns
