"""Note what appeared in a temp root while a tool call ran. A background job of hooks: it looks, and changes nothing."""

from __future__ import annotations

import os
import re

from ..leases import births
from ..model.belongings import Birth
from ..oskit.files import birth, places, walk
from ..oskit.files.descriptors import closing

_FIRST_WORDS = 80
_SHORTEST = 3  # a shorter name stands in every text: only its whole path counts


def note(
    state: str,
    root: str,
    *,
    agent: str,
    session: str,
    command: str,
    output: str,
    since_ns: int,
    until_ns: int,
    others: frozenset[str] = frozenset(),
) -> list[Birth]:
    """Entries of ours that were born between the two times; those that the session's own words name are owned.

    `others`: names that were there before the call, and not the session's.
    """
    try:
        fd = walk.open_dir(root)
    except OSError:
        return []
    first, text = " ".join(command.split())[:_FIRST_WORDS], f"{command}\n{output}"
    known = births.read(state)
    found = []
    with closing(fd):
        for entry in os.scandir(fd):
            status = _status(entry)
            if status is None or status.st_uid != places.uid() or status.st_ctime_ns < since_ns:
                continue
            born_ns = birth.born_ns(fd, entry.name)
            if born_ns is None or not since_ns <= born_ns <= until_ns:
                continue
            path = f"{root.rstrip('/')}/{entry.name}"
            if not births.is_same(known.get(path), status):
                is_free = path not in others and not births.is_linked(status)
                owned = is_free and is_named(root, entry.name, text)
                found.append(Birth(path, status.st_dev, status.st_ino, born_ns, agent, session, first, owned))
    births.note(state, found)
    return found


def is_named(root: str, name: str, text: str) -> bool:
    """Whether the entry stands in a text as a name of its own: `out.txt`, `/tmp/out.txt`; not within `layout.txt`."""
    wanted = name if len(name) >= _SHORTEST else f"{root.rstrip('/')}/{name}"
    return wanted in text and re.search(rf"(?<![\w.-]){re.escape(wanted)}(?![\w-]|\.\w)", text) is not None


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None
