"""All that `tmpwarden report` shows besides the scan: history, sessions, quarantine, orphans, worktrees, state."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from ..catalogue.load import load
from ..catalogue.settings import load_settings
from ..errors import TmpwardenError
from ..lifecycle.living import living
from ..oskit.files import places
from ..processes.find import look as look_at_processes
from ..repos.rescue import store
from ..repos.worktrees.compose import TreesWanted, looking
from ..setup import apply, timer
from ..sweep.store import books, history, journal
from ..sweep.store.history import Moment
from ..sweep.store.labels import lying
from ..text import plural, shown
from . import documents, forecasts, worktrees_told
from .call import Call
from .commands.orphans import document as orphan_document
from .commands.rescue import document as rescue_document
from .progress import Progress
from .seen import Seen

_MOST_ROWS = 500
_MOST_POINTS = 1500
_WORKTREES_S = 20.0  # git is asked about each; who wants all of them asks `tmpwarden worktrees`
Document = dict[str, Any]


def besides(call: Call, seen: Seen) -> Document:
    """Each part by itself: what cannot be looked at is told, and the rest is drawn."""
    moments = history.read(places.state_dir())
    with Progress(wanted=not call.json) as progress:
        progress.tell("Looking at processes and worktrees ...")
        return {
            "host": shown(socket.gethostname()),
            "user": shown(places.own_name()),
            "trends": [forecasts.document(each) for each in history.trends(moments, seen.roots, seen.now_ns)],
            "history": history_document(moments, [root.path for root in seen.roots]),
            "saved": _saved(),
            "sessions": _tried(call, "sessions", lambda: _sessions(seen)),
            "quarantine": _tried(call, "the quarantine", lambda: list(_quarantine(call))),
            "orphans": _tried(call, "processes", lambda: _orphans(call)),
            "worktrees": _tried(call, "worktrees", lambda: _worktrees(call)),
            "rescued": _tried(call, "what was rescued", _rescued),
            "state": _tried(call, "the agents' settings", lambda: list(_state(call))),
            "timer": _tried(call, "the timer", timer.state),
        }


def _tried(call: Call, what: str, look: Any) -> Any:
    try:
        return look()
    except (TmpwardenError, OSError) as error:
        call.warn(f"{what} could not be looked at: {error}")
        return None


def history_document(moments: Sequence[Moment], roots: Sequence[str]) -> Document:
    """Each root's line as [seconds, used, free] of bytes and of inodes; and what was freed in all, up to then."""
    return {
        "roots": {
            shown(root): [
                [each.at_ns // 10**9, *_levels(each, root)]
                for each in _thinned([m for m in moments if root in m.roots])
            ]
            for root in roots
        },
        "freed": [[each.at_ns // 10**9, each.freed_bytes] for each in _thinned(moments)],
    }


def _levels(moment: Moment, root: str) -> tuple[int, int, int, int]:
    seen = moment.roots[root]
    return seen.bytes.used, seen.bytes.free, seen.inodes.used, seen.inodes.free


def _thinned(moments: Sequence[Moment]) -> Sequence[Moment]:
    """The newest always; of a long history every n-th."""
    step = -(-len(moments) // _MOST_POINTS) or 1
    return list(reversed(moments[::-1][::step]))


def _saved() -> Document:
    return documents.of(books.saved_so_far(places.state_dir()), "bytes", "entries", "runs")


def _sessions(seen: Seen) -> list[Document]:
    found = living(load(), tuple(root.path for root in seen.roots))
    return [_shown(documents.session(each)) for each in found[:_MOST_ROWS]]


def _quarantine(call: Call) -> Iterator[Document]:
    """What `undo` can bring back, newest first, and until when."""
    keep_s = load_settings(call.config_file).quarantine_s
    state = places.state_dir()
    for entry in islice(lying(journal.restorable(state).newest_first(), state), _MOST_ROWS):
        fields = {name: entry.get(name) for name in ("id", "path", "row", "bytes", "entries", "reason", "time")}
        yield _shown(fields) | {"keep_seconds": keep_s}


def _orphans(call: Call) -> list[Document]:
    found = look_at_processes(call.roots, config_file=call.config_file)
    return [_shown(orphan_document(each)) for each in found[:_MOST_ROWS]]


def _worktrees(call: Call) -> list[Document]:
    told, until = [], time.monotonic() + _WORKTREES_S
    with looking(TreesWanted((), call.roots, call.config_file), now_ns=call.now_ns) as (surveyor, candidates, _):
        for tree in surveyor.look(candidates):
            document = worktrees_told.document(tree)
            told.append(_shown({name: value for name, value in document.items() if name not in ("items", "held_by")}))
            if time.monotonic() > until or len(told) == _MOST_ROWS:
                call.warn("not every worktree was looked at; `tmpwarden worktrees` looks at all of them")
                break
    return sorted(told, key=lambda each: -(each["bytes"] or 0))


def _rescued() -> list[Document]:
    """As `rescue list --json` has it, newest first, in numbers."""
    told = [(each, rescue_document(each)) for each in store.everything()[::-1][:_MOST_ROWS]]
    return [
        _shown({name: document[name] for name in ("id", "path", "created", "bytes")})
        | {"repositories": len(each.repositories), "files": len(each.files)}
        for each, document in told
    ]


def _state(call: Call) -> Iterator[Document]:
    """How each agent found here is set up, as `install --json` has it, and what people said must stay."""
    for seen in apply.table():
        state = f"{seen.state}, guard" if seen.guard else seen.state
        yield _shown({"what": seen.name, "state": state, "where": seen.settings})
    yield _shown({"what": "timer", "state": timer.state(), "where": ""})
    kept = load_settings(call.config_file).keep_paths
    yield _shown({"what": "kept by name", "state": plural(len(kept), "path"), "where": ", ".join(kept[:3])})


def _shown(document: Document) -> Document:
    return {name: shown(value) if isinstance(value, str) else value for name, value in document.items()}
