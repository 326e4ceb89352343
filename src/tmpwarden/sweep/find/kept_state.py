"""How much agents keep in the user's home, by kind: sizes, ages, what the last week added. Looks only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ...catalogue.state_rows import Sorter, StateRow
from ...lazy_dataclass import dataclass
from ...oskit.proc.reach import Reach

WEEK_NS = 7 * 86400 * 10**9


@dataclass(slots=True)
class KeptState:
    """One kind of thing that one agent keeps."""

    row: StateRow
    directory: str
    bytes: int = 0
    files: int = 0
    oldest_ns: int = 0
    week_bytes: int = 0  # of files that were written in the last seven days

    def add(self, status: os.stat_result, week_ago_ns: int) -> None:
        size = status.st_blocks * 512
        self.bytes += size
        self.files += 1
        self.oldest_ns = min(self.oldest_ns or status.st_mtime_ns, status.st_mtime_ns)
        self.week_bytes += size if status.st_mtime_ns >= week_ago_ns else 0


def kept_state(rows: Iterable[StateRow], home: str, now_ns: int) -> tuple[KeptState, ...]:
    """What is there, biggest first. A file with two names counts once; links are not followed, mounts not entered."""
    by_directory: dict[str, list[StateRow]] = {}
    for row in rows:
        by_directory.setdefault(row.directory(home), []).append(row)
    stores: dict[str, KeptState] = {}
    seen: set[tuple[int, int]] = set()
    reach = Reach.now()
    for directory, here in by_directory.items():
        if reach.frozen(directory) is not None:
            continue
        sorter = Sorter(here)
        for path, status in _files(directory, sorter, reach):
            kind = sorter.row_of(path)
            if kind is None or (status.st_dev, status.st_ino) in seen:
                continue
            if status.st_nlink > 1:
                seen.add((status.st_dev, status.st_ino))
            stores.setdefault(kind.key, KeptState(kind, directory)).add(status, now_ns - WEEK_NS)
    return tuple(sorted(stores.values(), key=lambda each: (-each.bytes, each.row.key)))


def _files(directory: str, sorter: Sorter, reach: Reach) -> Iterator[tuple[str, os.stat_result]]:
    """Every file below, with its path relative to `directory`."""
    top = os.path.realpath(directory)
    may_hang = frozenset(reach.inside(top))  # when no more than the mount point is looked at
    try:
        device = os.lstat(directory).st_dev
    except OSError:
        return
    todo = [""]
    while todo:
        relative = todo.pop()
        try:
            entries = sorted(os.scandir(f"{directory}/{relative}" if relative else directory), key=lambda e: e.name)
        except OSError:
            continue
        for entry in entries:
            path = f"{relative}/{entry.name}" if relative else entry.name
            if (not relative and not sorter.is_wanted(entry.name)) or f"{top}/{path}" in may_hang:
                continue
            if reach.is_frozen_at(f"{directory}/{path}"):  # a stat of it would wait for ever
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if entry.is_dir(follow_symlinks=False):
                todo += [path] if status.st_dev == device else []
            else:
                yield path, status
