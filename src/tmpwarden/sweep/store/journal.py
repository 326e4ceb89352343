"""The journal: an intent before each deed, a receipt after it, one JSON line each, in the state directory."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ...lazy_dataclass import dataclass, field
from ...model.sweep import Receipt
from ...model.terms import Outcome
from ...oskit.files import atomic, own_dirs, own_files
from ...small_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO


# The lines of the journal: what stands in one, and whether one that was read is whole.


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


# What waits in quarantine and can come back: ids in memory, the rest where the journal has it.

_ENDED = ("undone", "expired", "pinned", "receipt")
_KIND = re.compile(rb'\{"time":"[^"\\]*","run":"[^"\\]*","t":"([a-z-]+)"')  # as we write it: no need to decode
_BITS = 40  # of a place: the offset in its file


def lines_of(file: BinaryIO, *kinds: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Where each readable line begins, and the line. `kinds`: those that plainly are of others are passed over unread,
    the rest is for who asks."""
    offset, wanted = 0, {kind.encode() for kind in kinds}
    for raw in file:
        here, offset = offset, offset + len(raw)
        plain = _KIND.match(raw) if wanted else None
        if plain is not None and plain[1] not in wanted:
            continue
        entry = decoded(raw.decode("utf-8", "surrogateescape"))
        if entry is not None:
            yield here, entry


class Waiting(Mapping[str, "dict[str, Any]"]):
    """Receipts of what went into quarantine and was neither brought back nor purged, by id, in their order."""

    def __init__(self, paths: Iterable[str], *, must_read: bool = False) -> None:
        self._files: list[BinaryIO] = []
        self._places: dict[str, int] = {}
        self._without_line: list[dict[str, Any]] = []  # what no journal tells of
        for path in paths:
            try:
                self._read(open(path, "rb", opener=atomic.at_once))  # noqa: SIM115
            except FileNotFoundError:
                continue
            except OSError:
                if must_read:
                    raise

    def _read(self, file: BinaryIO) -> None:
        number = len(self._files)
        self._files.append(file)  # open as long as we live: it may be rotated away meanwhile
        for offset, entry in lines_of(file, *_ENDED):
            token = str(entry.get("id", ""))
            if entry.get("t") == "receipt" and entry.get("outcome") == Outcome.QUARANTINED.value:
                if is_whole(entry, RESTORABLE):
                    self._places[token] = number << _BITS | offset
            elif entry.get("t") in _ENDED:
                self._places.pop(token, None)

    def add(self, receipts: Iterable[dict[str, Any]]) -> None:
        """What lies in quarantine although the journals do not tell of it."""
        for each in receipts:
            self._without_line.append(each)
            self._places[str(each["id"])] = -len(self._without_line)

    def __getitem__(self, token: str) -> dict[str, Any]:
        return self._at(self._places[token])

    def _at(self, place: int) -> dict[str, Any]:
        if place < 0:
            return self._without_line[-place - 1]
        file = self._files[place >> _BITS]
        offset = place & (1 << _BITS) - 1
        if file.tell() != offset:
            file.seek(offset)
        return decoded(file.readline().decode("utf-8", "surrogateescape")) or {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._places)

    def __contains__(self, token: object) -> bool:
        return token in self._places

    def __len__(self) -> int:
        return len(self._places)

    def newest_first(self) -> Iterator[dict[str, Any]]:
        return map(self._at, reversed(self._places.values()))

    def __del__(self) -> None:
        for file in self._files:
            file.close()


_ROTATE_BYTES, _GENERATIONS = 10 << 20, 5
__all__ = ["NAME", "Comeback", "Intent", "Journal", "entries", "open_comebacks", "open_intents", "restorable"]
NAME = "journal.jsonl"
_RESERVE_BYTES = 256 << 10
_LATELY_BYTES = 64 << 10


@dataclass(slots=True)
class Journal:
    """Appends to `<state>/journal.jsonl`. `is_open` is False while not even a line can be written."""

    state: str
    run: str = field(default_factory=lambda: os.urandom(4).hex())
    is_open: bool = False
    _reserve: atomic.Reserve | None = None
    _held: list[str] | None = None  # lines that wait for each other
    _unwritten: list[str] = field(default_factory=list)  # of what was done while nothing could be written

    @property
    def path(self) -> str:
        return f"{self.state}/{NAME}"

    def open(self) -> bool:
        """Make the state directory and its reserve; True if lines can be written. Cheap to try again."""
        if self.is_open:
            return True
        try:
            own_dirs.make_private_dir(self.state)
            self._reserve = reserve_of(self.state)
            own_files.rotate_from(self.path, _ROTATE_BYTES, keep=_GENERATIONS)
            self.is_open = self._write([self._line({"t": "run", "pid": os.getpid()})])
        except OSError:
            self.is_open = False
        if self.is_open and self._reserve:
            self._reserve.refill()
        if self.is_open and self._unwritten:
            unwritten, self._unwritten = self._unwritten, []
            self._tell(unwritten)
        return self.is_open

    def refill(self) -> None:
        """Make its reserve whole again, for the day on which the disk is full."""
        if self._reserve:
            self._reserve.refill()

    def intend(self, intent: Intent) -> bool:
        """Write what is about to be done; False if that cannot be written."""
        return self.intend_all((intent,))[0]

    def intend_all(self, intents: Sequence[Intent]) -> list[bool]:
        """The same for several, with one write: all of them stand here before the first is carried out."""
        lines = [self._line({"t": "intent", **intent_fields(each)}) for each in intents]
        return [True] * len(lines) if self._write(lines) else [self._write([line]) for line in lines]

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is told of deeds that are done is written with one write at the end. A run killed before that has told
        nothing, and the next run settles their intents. Within another one it joins that: a generator that was left in
        the middle may still be in one."""
        is_within = self._held is not None
        self._held = self._held or []
        try:
            yield
        finally:
            self.flush()
            self._held = self._held if is_within else None

    def flush(self) -> None:
        """What waits is written now."""
        if self._held is None:
            return
        lines, self._held = self._held, []
        if lines:
            self._tell(lines)

    def begin(self, comeback: Comeback) -> bool:
        fields = {name: getattr(comeback, name) for name in Comeback.__slots__}
        return self._write([self._line({"t": "undoing", **fields})])

    def record(self, receipt: Receipt) -> bool:
        return self._append({"t": "receipt", **receipt_fields(receipt)})

    def note(self, kind: str, **fields: object) -> bool:
        """A line of another kind: "undone", "settled", "observed"."""
        return self._append({"t": kind, **fields})

    def _append(self, fields: dict[str, object]) -> bool:
        if self._held is None:
            return self._tell([self._line(fields)])
        self._held.append(self._line(fields))
        return True

    def _tell(self, lines: list[str]) -> bool:
        """What cannot be written now is written as soon as there is room."""
        if self._write(lines):
            return True
        unwritten = [line for line in lines if not self._write([line])] if len(lines) > 1 else lines
        self._unwritten += unwritten
        return not unwritten

    def _line(self, fields: dict[str, object]) -> str:
        return dumps({"time": _stamp(), "run": self.run, **fields}, compact=True)

    def _write(self, lines: list[str]) -> bool:
        for _ in range(2):
            try:
                atomic.append_line(self.path, "\n".join(lines))
                return True
            except OSError:
                if self._reserve is None or not self._reserve.give_up():
                    break
        self.is_open = False
        return False


def reserve_of(state: str) -> atomic.Reserve:
    """Given up where no line can be written any more."""
    return atomic.Reserve(f"{state}/reserve", _RESERVE_BYTES)


def entries(state: str, *kinds: str) -> Iterator[dict[str, Any]]:
    """Every readable line, oldest first; a torn or alien line is passed over. `kinds`: only lines of these kinds."""
    for name in own_files.names(f"{state}/{NAME}", keep=_GENERATIONS):
        try:
            with open(name, "rb", opener=atomic.at_once) as file:
                yield from (line for _, line in lines_of(file, *kinds))
        except OSError:
            continue


def open_intents(state: str) -> list[Intent]:
    """Intents that no receipt, undo or settlement answers."""
    if ended_well(state):
        return []
    return list(_pending(entries(state)).values())


def open_comebacks(state: str) -> list[Comeback]:
    """Undos that changed a mode, and of which nothing tells how they ended."""
    if ended_well(state):
        return []
    comebacks: dict[str, Comeback] = {}
    for entry in entries(state):
        if entry.get("t") == "undoing" and is_whole(entry, COMEBACK):
            comebacks[entry["id"]] = Comeback(**{name: entry[name] for name in Comeback.__slots__})
        elif entry.get("t") in ("undone", "settled", "expired"):
            comebacks.pop(str(entry.get("id")), None)
    return list(comebacks.values())


def _pending(lines: Iterable[dict[str, Any]]) -> dict[str, Intent]:
    pending: dict[str, Intent] = {}
    for entry in lines:
        if entry.get("t") == "intent":
            intent = decoded_intent(entry)
            if intent:
                pending[intent.id] = intent
        elif entry.get("t") in ("receipt", "undone", "settled"):
            pending.pop(str(entry.get("id")), None)
    return pending


def restorable(state: str, *, must_read: bool = False) -> Waiting:
    """What went into quarantine and was neither brought back nor purged, by id.

    `must_read`: raises OSError where a journal is there and cannot be read. What it tells is not known then."""
    return Waiting(own_files.names(f"{state}/{NAME}", keep=_GENERATIONS), must_read=must_read)


def ended_well(state: str) -> bool:
    """The last line says that its run came to its end, and none was under way beside it: no need to read them all."""
    return good_end(state) is not None


def good_end(state: str) -> tuple[str, str] | None:
    """Run and time of that line."""
    try:
        with open(f"{state}/{NAME}", "rb", opener=atomic.at_once) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LATELY_BYTES))
            lines = file.read().decode(errors="surrogateescape").splitlines()
    except OSError:
        return None
    lately = list(filter(None, map(decoded, lines)))
    while lately and lately[-1].get("t") == "run":  # begun, and nothing done: most likely by who asks
        lately.pop()
    is_undoing = any(entry.get("t") in ("undoing", "staging") for entry in lately)
    if not lately or lately[-1].get("t") != "end" or _pending(lately) or is_undoing:
        return None
    return str(lately[-1].get("run")), str(lately[-1].get("time"))


_last_stamp = (0, "")


def _stamp() -> str:
    """Written out once a second: a hundred thousand lines are stamped."""
    global _last_stamp
    now_s = int(time.time())
    if now_s != _last_stamp[0]:
        _last_stamp = now_s, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now_s))
    return _last_stamp[1]
