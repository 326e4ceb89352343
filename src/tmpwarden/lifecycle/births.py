"""Note what appeared in a temp root while a tool call ran. A background job of hooks: it looks, and changes nothing."""

from __future__ import annotations

import os
import re

from ..lazy_dataclass import dataclass
from ..leases import births, claims
from ..model.belongings import Birth
from ..oskit.files import places, walk
from ..oskit.files.dated import dated
from ..oskit.files.opening import closing
from ..redaction import first_words

_SHORTEST = 3  # a shorter name stands in every text: only its whole path counts


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A tool call of a session, and the time in which what it made was born."""

    agent: str
    session: str
    command: str
    output: str
    since_ns: int
    until_ns: int
    window: tuple[int, int] | None = None  # the call's own times, if it ended well
    others: frozenset[str] = frozenset()  # paths that were there before it, and not the session's


def note(state: str, root: str, call: FinishedCall) -> list[Birth]:
    """Entries of ours that were born while it ran; those that the session's own words name are owned."""
    try:
        fd = walk.open_dir(root)
    except OSError:
        return []
    first = first_words(call.command)
    known = births.read(state)
    new_births = []
    with closing(fd):
        for entry in os.scandir(fd):
            status = _status(entry)
            if status is None or status.st_uid != places.uid() or status.st_ctime_ns < call.since_ns:
                continue
            seen = dated(entry.name, fd)
            if seen is None or seen.born_ns is None or not call.since_ns <= seen.born_ns <= call.until_ns:
                continue
            path = f"{root.rstrip('/')}/{entry.name}"
            if not births.is_same(known.get(path), seen):
                is_in_time = call.window is not None and call.window[0] <= seen.born_ns <= call.window[1]
                is_free = is_in_time and path not in call.others and not seen.is_linked
                owned = is_free and (
                    is_named(root, entry.name, call.command) or is_named(root, entry.name, call.output, "whole")
                )
                new_births.append(
                    Birth(
                        path=path,
                        device=seen.device,
                        inode=seen.inode,
                        born_ns=seen.born_ns,
                        agent=call.agent,
                        session=call.session,
                        command=first,
                        owned=owned,
                    )
                )
    if call.window is not None and any(birth.owned for birth in new_births):
        claims.note_call(state, call.session, call.window)
    births.note(state, new_births)
    return new_births


def is_named(root: str, name: str, text: str, how: str = "") -> bool:
    """Whether the entry stands in a text as a name of its own: `out.txt`, `/tmp/out.txt`; not within `layout.txt`.
    "whole": its whole path, because what a command prints may be a listing of what others made."""
    wanted = name if len(name) >= _SHORTEST and not how else f"{root.rstrip('/')}/{name}"
    return wanted in text and re.search(rf"(?<![\w.-]){re.escape(wanted)}(?![\w-]|\.\w)", text) is not None


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None
