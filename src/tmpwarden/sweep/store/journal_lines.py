"""The lines of the journal: what stands in one, and whether one that was read is whole."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...lazy_dataclass import dataclass
from ...model.sweep import Receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True)
class Intent:
    """A take that was begun. Without a receipt, the next run settles it."""

    id: str  # the token in quarantine; for work in place, a token that names nothing there
    path: str
    root: str
    row: str
    quarantine: str  # directory; "" for work in place
    worth: str
    mode: int  # of the unit's root before we touched it
    device: int
    inode: int
    count: int = 1  # members of a swarm
    newest_ns: int = 0  # the unit's newest date when it was judged: what is younger came later; 0: not judged yet
    entries: int = 0  # of the unit when it was judged
    links: str = ""  # of work in place: what the files with several names in it were (oskit/files/link_marks)
    born_ns: int = 0  # of work in place: the unit's birth; 0: not known


@dataclass(frozen=True, slots=True)
class Comeback:
    """An undo that had to change a mode for its move, and was begun."""

    id: str
    path: str  # where it goes
    quarantine: str
    mode: int
    device: int
    inode: int


_NUMBERS = ("mode", "device", "inode", "count", "newest_ns", "entries", "born_ns")
_INTENT = {name: int if name in _NUMBERS else str for name in Intent.__slots__}
COMEBACK = {name: _INTENT[name] for name in Comeback.__slots__}
RESTORABLE = {"id": str, "run": str, "path": str, "root": str, "bytes": int, "entries": int}


def intent_fields(intent: Intent) -> dict[str, object]:
    fields = {name: getattr(intent, name) for name in Intent.__slots__}
    return {name: value for name, value in fields.items() if value or name not in ("links", "born_ns")}


def receipt_fields(receipt: Receipt) -> dict[str, object]:
    finding = receipt.finding
    return {
        "id": receipt.id,
        "path": finding.path,
        "row": finding.litter.key,
        "agent": finding.litter.agent,
        "root": finding.root,
        "outcome": receipt.outcome.value,
        "reason": receipt.reason.value,
        "bytes": receipt.bytes,
        "entries": receipt.entries,
        "freed": receipt.freed_bytes,
        "count": len(finding.members) or 1,
        "undoable": receipt.undoable,
        **({"detail": receipt.detail} if receipt.detail else {}),
    }


def decoded(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def decoded_intent(entry: dict[str, Any]) -> Intent | None:
    fields = {name: entry[name] for name in Intent.__slots__ if name in entry}
    return (
        Intent(**fields)
        if is_whole({"count": 1, "newest_ns": 0, "entries": 0, "links": "", "born_ns": 0} | fields, _INTENT)
        else None
    )


def is_whole(entry: dict[str, Any], kinds: Mapping[str, type]) -> bool:
    """Every field is there and what it should be: a line that somebody edited must stop no later run."""
    return all(isinstance(entry.get(name), kind) for name, kind in kinds.items())
