"""The journal: an intent before each deed, a receipt after it, one JSON line each, in the state directory."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping

from ...later import json
from ...lazy_dataclass import dataclass, field
from ...model.sweep import Receipt
from ...model.terms import Outcome
from ...oskit.files import atomic, own_dirs, rotate
from ...small_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ROTATE_BYTES, _GENERATIONS = 10 << 20, 5
NAME = "journal.jsonl"
_RESERVE_BYTES = 256 << 10
_LATELY_BYTES = 64 << 10


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


@dataclass(frozen=True, slots=True)
class Comeback:
    """An undo that had to change a mode for its move, and was begun."""

    id: str
    path: str  # where it goes
    quarantine: str
    mode: int
    device: int
    inode: int


_NUMBERS = ("mode", "device", "inode", "count", "newest_ns", "entries")
_INTENT = {name: int if name in _NUMBERS else str for name in Intent.__slots__}
_COMEBACK = {name: _INTENT[name] for name in Comeback.__slots__}
_RESTORABLE = {"id": str, "run": str, "path": str, "root": str, "bytes": int, "entries": int}


@dataclass(slots=True)
class Journal:
    """Appends to `<state>/journal.jsonl`. `is_open` is False while not even a line can be written."""

    state: str
    run: str = field(default_factory=lambda: os.urandom(4).hex())
    is_open: bool = False
    _reserve: atomic.Reserve | None = None

    @property
    def path(self) -> str:
        return f"{self.state}/{NAME}"

    def open(self) -> bool:
        """Make the state directory and its reserve; True if lines can be written. Cheap to try again."""
        if self.is_open:
            return True
        try:
            own_dirs.make_private_dir(self.state)
            self._reserve = atomic.Reserve(f"{self.state}/reserve", _RESERVE_BYTES)
            _rotate(self.path)
            self.is_open = self._append({"t": "run", "pid": os.getpid()})
        except OSError:
            self.is_open = False
        if self.is_open and self._reserve:
            self._reserve.refill()
        return self.is_open

    def intend(self, intent: Intent) -> bool:
        """Write what is about to be done; False if that cannot be written."""
        return self._append({"t": "intent", **_intent_fields(intent)})

    def begin(self, comeback: Comeback) -> bool:
        return self.note("undoing", **{name: getattr(comeback, name) for name in Comeback.__slots__})

    def record(self, receipt: Receipt) -> bool:
        return self._append({"t": "receipt", **_receipt_fields(receipt)})

    def note(self, kind: str, **fields: object) -> bool:
        """A line of another kind: "undone", "settled", "observed"."""
        return self._append({"t": kind, **fields})

    def _append(self, fields: dict[str, object]) -> bool:
        line = dumps({"time": _stamp(), "run": self.run, **fields}, compact=True)
        for _ in range(2):
            try:
                atomic.append_line(self.path, line)
                return True
            except OSError:
                if self._reserve is None or not self._reserve.give_up():
                    break
        self.is_open = False
        return False


def entries(state: str, *, must_read: bool = False) -> Iterator[dict[str, Any]]:
    """Every readable line, oldest first; a torn or alien line is passed over.

    `must_read`: raises OSError where a journal is there and cannot be read. What it tells is not known then."""
    for name in rotate.names(f"{state}/{NAME}", keep=_GENERATIONS):
        try:
            with open(name, encoding="utf-8", errors="surrogateescape", opener=atomic.at_once) as lines:
                yield from filter(None, map(_decoded, lines))
        except FileNotFoundError:
            continue
        except OSError:
            if must_read:
                raise


def open_intents(state: str) -> list[Intent]:
    """Intents that no receipt, undo or settlement answers."""
    if ended_well(state):
        return []
    return list(_pending(entries(state)).values())


def open_comebacks(state: str) -> list[Comeback]:
    """Undos that changed a mode, and of which nothing tells how they ended."""
    if ended_well(state):
        return []
    begun: dict[str, Comeback] = {}
    for entry in entries(state):
        if entry.get("t") == "undoing" and _is_whole(entry, _COMEBACK):
            begun[entry["id"]] = Comeback(**{name: entry[name] for name in Comeback.__slots__})
        elif entry.get("t") in ("undone", "settled", "expired"):
            begun.pop(str(entry.get("id")), None)
    return list(begun.values())


def _pending(lines: Iterable[dict[str, Any]]) -> dict[str, Intent]:
    pending: dict[str, Intent] = {}
    for entry in lines:
        if entry.get("t") == "intent":
            intent = _decoded_intent(entry)
            if intent:
                pending[intent.id] = intent
        elif entry.get("t") in ("receipt", "undone", "settled"):
            pending.pop(str(entry.get("id")), None)
    return pending


def restorable(state: str, *, must_read: bool = False) -> dict[str, dict[str, Any]]:
    """Receipts of what went into quarantine and was neither brought back nor purged, by id."""
    kept: dict[str, dict[str, Any]] = {}
    for entry in entries(state, must_read=must_read):
        token = str(entry.get("id", ""))
        if entry.get("t") == "receipt" and entry.get("outcome") == Outcome.QUARANTINED.value:
            if _is_whole(entry, _RESTORABLE):
                kept[token] = entry
        elif entry.get("t") in ("undone", "expired", "pinned", "receipt"):
            kept.pop(token, None)
    return kept


def ended_well(state: str) -> bool:
    """The last line says that its run came to its end, and none was under way beside it: no need to read them all."""
    try:
        with open(f"{state}/{NAME}", "rb", opener=atomic.at_once) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LATELY_BYTES))
            lines = file.read().decode(errors="surrogateescape").splitlines()
    except OSError:
        return False
    lately = list(filter(None, map(_decoded, lines)))
    while lately and lately[-1].get("t") == "run":  # begun, and nothing done: most likely by who asks
        lately.pop()
    is_undoing = any(entry.get("t") in ("undoing", "staging") for entry in lately)
    return bool(lately) and lately[-1].get("t") == "end" and not (_pending(lately) or is_undoing)


def _intent_fields(intent: Intent) -> dict[str, object]:
    fields = {name: getattr(intent, name) for name in Intent.__slots__}
    return fields if intent.links else {name: value for name, value in fields.items() if name != "links"}


def _receipt_fields(receipt: Receipt) -> dict[str, object]:
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


def _decoded(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _decoded_intent(entry: dict[str, Any]) -> Intent | None:
    fields = {name: entry[name] for name in Intent.__slots__ if name in entry}
    return (
        Intent(**fields)
        if _is_whole({"count": 1, "newest_ns": 0, "entries": 0, "links": ""} | fields, _INTENT)
        else None
    )


def _is_whole(entry: dict[str, Any], kinds: Mapping[str, type]) -> bool:
    """Every field is there and what it should be: a line that somebody edited must stop no later run."""
    return all(isinstance(entry.get(name), kind) for name, kind in kinds.items())


def _rotate(path: str) -> None:
    try:
        if os.stat(path).st_size >= _ROTATE_BYTES:
            rotate.rotate(path, keep=_GENERATIONS)
    except FileNotFoundError:
        return


def _stamp() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
