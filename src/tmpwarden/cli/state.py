"""`scan --state`: what agents keep in the home on purpose. Shown with what is lost when it goes; never removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..catalogue import state_rows
from ..oskit.files import places
from ..sweep.find.kept_state import KeptState, kept_state
from ..text import duration, shown, size
from . import documents
from .call import Answer, Call
from .table import Row, draw

_COLUMNS = (">SIZE", ">FILES", ">OLDEST", ">LAST WEEK", "AGENT", "WHAT IT IS", "REMOVED BY")


def answer(call: Call, agents: Sequence[str]) -> Answer:
    now_ns = call.now_ns()
    stores = look(now_ns, agents)
    return Answer({"state": [document(each, now_ns) for each in stores]}, lambda: _lines(call, stores, now_ns))


def look(now_ns: int, agents: Sequence[str] = ()) -> Sequence[KeptState]:
    rows = [row for row in state_rows.rows() if not agents or row.agent in agents]
    return kept_state(rows, places.home(), now_ns)


def document(each: KeptState, now_ns: int) -> documents.Document:
    return documents.of(each.row, "agent", "id", "keeps", "lost", "pruned", "command") | {
        "directory": each.directory,
        "bytes": each.bytes,
        "files": each.files,
        "oldest_seconds": _age_s(each, now_ns),
        "week_bytes": each.week_bytes,
    }


def _age_s(each: KeptState, now_ns: int) -> int:
    return max(0, (now_ns - each.oldest_ns) // 10**9)


def _lines(call: Call, stores: Sequence[KeptState], now_ns: int) -> Iterator[str]:
    if not stores:
        yield "No agent keeps anything in your home."
        return
    yield from draw(_COLUMNS, _rows(stores, now_ns), for_a_person=call.for_a_person, path_title="WHERE")
    total = sum(each.bytes for each in stores)
    yield ""
    yield f"{size(total)} in all. tmpwarden never removes any of it. What you lose by deleting it, and how to limit it:"
    for each in stores:
        how = f" Limit: {each.row.command}." if each.row.command else ""
        yield f"  {each.row.key}: {each.row.lost}.{how}"


def _rows(stores: Iterable[KeptState], now_ns: int) -> list[Row]:
    return [
        Row(
            (
                size(each.bytes),
                f"{each.files:,}",
                duration(_age_s(each, now_ns)),
                f"+{size(each.week_bytes)}" if each.week_bytes else "",
                each.row.agent,
                each.row.keeps,
                each.row.pruned,
            ),
            shown(each.directory),
        )
        for each in stores
    ]
