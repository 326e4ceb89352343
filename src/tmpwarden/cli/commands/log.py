"""`tmpwarden log`: what was removed, when, why, and what can still come back."""

from __future__ import annotations

import calendar
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import click

from ...catalogue.load import load
from ...lazy_dataclass import dataclass
from ...model.terms import Reason
from ...oskit.files import places
from ...sweep.store import history as observations
from ...sweep.store import journal
from ...sweep.store.labels import restorable, still_there, unrecorded
from ...text import plural, shown, size
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import age, agent_option, at_least
from ..table import Row, draw
from ..wording import sentence

_COLUMNS = ("TIME", "", ">SIZE", "KIND", "UNDO", "WHY")
_FIELDS = ("time", "t", "id", "path", "row", "agent", "outcome", "reason", "bytes", "entries", "count", "detail")


@click.command()
@click.option(
    "-n", "count", type=at_least(1), metavar="COUNT", default=20, show_default=True, help="How many (the newest)."
)
@click.option("--since", metavar="DURATION", type=age, help="Only the last DURATION, such as 24h or 7d.")
@agent_option
@click.option("--observed", is_flag=True, help="What hooks would have removed (`setup --observe`).")
@pass_call
def command(call: Call, count: int, since: int | None, wanted: tuple[str, ...], observed: bool) -> Answer:
    """Show what was removed and brought back, when and why, oldest first. `tmpwarden undo ID` brings one item back."""
    state = places.state_dir()
    for agent in wanted:
        load().agent(agent)
    wish = _Wish(wanted, None if since is None else call.now_ns() / 1e9 - since)
    if observed:
        return _observed(state, count, wish)
    everything = chain(journal.entries(state), unrecorded(state))
    shown_entries = (entry for each in everything if (entry := _shown_entry(each)) and wish.fits(entry))
    # a journal may hold 100,000 lines: only those that are shown are kept in memory
    entries = list(deque(shown_entries, maxlen=count))
    came_back = frozenset(str(each.get("id")) for each in entries if each["t"] == "undone")
    restorable_entries = restorable(state)
    # only of what is shown: whether an entry still lies in quarantine costs a look at the disk
    shown_ids = dict.fromkeys(str(each.get("id", "")) for each in entries)
    can_return = frozenset(
        str(each["id"])
        for each in still_there((restorable_entries[i] for i in shown_ids if i in restorable_entries), state)
    )
    return Answer(
        {"entries": [_document(each, can_return) for each in entries]},
        lambda: _lines(entries, can_return, came_back, call.for_a_person, wish),
    )


@dataclass(frozen=True, slots=True)
class _Wish:
    """Which entries somebody wants to see."""

    agents: tuple[str, ...] = ()
    since_s: float | None = None

    def fits(self, entry: dict[str, Any]) -> bool:
        if self.agents and str(entry.get("agent") or entry.get("row", "")).partition(".")[0] not in self.agents:
            return False
        when_s = _when_s(entry)
        return self.since_s is None or (when_s is not None and when_s >= self.since_s)


def _shown_entry(entry: dict[str, Any]) -> dict[str, Any] | None:
    """A removal as it stands; a process that was ended, and what came back, in the same words."""
    if entry.get("t") == "process":
        reason = f"process {entry.get('pid')}: {entry.get('reason')}"
        return entry | {"path": entry.get("command"), "row": f"{entry.get('agent')} process", "detail": reason}
    if entry.get("t") == "undone":
        return entry | {"outcome": "restored", "detail": entry.get("detail") or "brought back by undo"}
    return entry if entry.get("t") == "receipt" else None


def _observed(state: str, count: int, wish: _Wish) -> Answer:
    """Beside each thing whether somebody has used it since: that removal would have been a mistake."""
    entries = [each for each in observations.distinct(journal.entries(state)) if wish.fits(each)]
    used = [observations.was_used_since(each) for each in entries]
    observed_entries = list(zip(entries, used, strict=True))[-count:]
    documents = [_document(each, frozenset()) | {"used_since": since} for each, since in observed_entries]
    data = {"entries": documents, "observed": len(entries), "would_have_been_wrong": used.count(True)}
    return Answer(data, lambda: _observed_lines(observed_entries, len(entries), used.count(True)))


def _document(entry: dict[str, Any], can_return: frozenset[str]) -> dict[str, object]:
    document: dict[str, object] = {name: entry[name] for name in _FIELDS if name in entry and name != "t"}
    return document | {"undoable": entry.get("id") in can_return}


def _lines(
    entries: Sequence[dict[str, Any]],
    can_return: frozenset[str],
    came_back: frozenset[str],
    for_a_person: bool,
    wish: _Wish,
) -> Iterable[str]:
    if not entries:
        return ["Nothing was removed yet." if wish == _Wish() else "Nothing that matches was removed."]
    rows = [
        Row(
            (
                _time(entry, for_a_person),
                str(entry.get("outcome", "?")),
                size(int(entry.get("bytes", 0))),
                shown(str(entry.get("row", "?"))),
                _undo(entry, can_return, came_back),
                _reason(entry),
            ),
            _path(entry),
        )
        for entry in entries
    ]
    return draw(_COLUMNS, rows, for_a_person=for_a_person)


def _undo(entry: dict[str, Any], can_return: frozenset[str], came_back: frozenset[str]) -> str:
    if entry.get("id") in can_return:
        return str(entry["id"])[:8]
    return "undone" if entry["t"] == "receipt" and entry.get("id") in came_back else ""


def _time(entry: dict[str, Any], for_a_person: bool) -> str:
    """The journal writes UTC; a person reads the clock on the wall."""
    logged_time, when_s = str(entry.get("time", "?")), _when_s(entry)
    if when_s is None or not for_a_person:
        return shown(logged_time)
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(when_s))


def _when_s(entry: dict[str, Any]) -> float | None:
    try:
        return calendar.timegm(time.strptime(str(entry.get("time", "?")), "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return None


def _path(entry: dict[str, Any]) -> str:
    path, count = shown(str(entry.get("path", "?"))), int(entry.get("count", 1))
    return path if count == 1 else f"{path}/ ({plural(count, 'file')})"


def _reason(entry: dict[str, Any]) -> str:
    if entry.get("detail"):
        return shown(str(entry["detail"]))
    try:
        return sentence(Reason(entry.get("reason")))
    except ValueError:
        return shown(str(entry.get("reason", "?")))


def _observed_lines(
    observed_entries: Sequence[tuple[dict[str, Any], bool | None]], total: int, wrong: int
) -> Iterator[str]:
    for entry, since in observed_entries:
        names: Sequence[object] = entry.get("names") or []
        path = f"{shown(str(entry.get('path')))}/{shown(str(names[0]))}" if len(names) == 1 else _path(entry)
        suffix = "; used again since" if since else "; later use could not be checked" if since is None else ""
        yield f"{shown(str(entry.get('time', '?')))}  would have removed {path}: {_reason(entry)}{suffix}"
    if total:
        yield f"Used again afterwards: {wrong} of {total}."
    else:
        yield "Nothing was logged yet. With `tmpwarden setup --observe`, hooks only log what they would have removed."
