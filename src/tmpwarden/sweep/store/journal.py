"""The journal: an intent before each deed, a receipt after it, one JSON line each, in the state directory."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from ...lazy_dataclass import dataclass, field
from ...model.sweep import Receipt
from ...oskit.files import atomic, own_dirs, own_files
from ...small_json import dumps
from .journal_lines import (
    COMEBACK,
    Comeback,
    Intent,
    decoded,
    decoded_intent,
    intent_fields,
    is_whole,
    receipt_fields,
)
from .waiting import Waiting, lines_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    _untold: list[str] = field(default_factory=list)  # of what was done while nothing could be written

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
            own_files.rotate_from(self.path, _ROTATE_BYTES, keep=_GENERATIONS)
            self.is_open = self._write([self._line({"t": "run", "pid": os.getpid()})])
        except OSError:
            self.is_open = False
        if self.is_open and self._reserve:
            self._reserve.refill()
        if self.is_open and self._untold:
            untold, self._untold = self._untold, []
            self._tell(untold)
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
        """What is told of deeds that are done is written with one write at the end. Whoever is killed before has told
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
        untold = [line for line in lines if not self._write([line])] if len(lines) > 1 else lines
        self._untold += untold
        return not untold

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
    begun: dict[str, Comeback] = {}
    for entry in entries(state):
        if entry.get("t") == "undoing" and is_whole(entry, COMEBACK):
            begun[entry["id"]] = Comeback(**{name: entry[name] for name in Comeback.__slots__})
        elif entry.get("t") in ("undone", "settled", "expired"):
            begun.pop(str(entry.get("id")), None)
    return list(begun.values())


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
    try:
        with open(f"{state}/{NAME}", "rb", opener=atomic.at_once) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LATELY_BYTES))
            lines = file.read().decode(errors="surrogateescape").splitlines()
    except OSError:
        return False
    lately = list(filter(None, map(decoded, lines)))
    while lately and lately[-1].get("t") == "run":  # begun, and nothing done: most likely by who asks
        lately.pop()
    is_undoing = any(entry.get("t") in ("undoing", "staging") for entry in lately)
    return bool(lately) and lately[-1].get("t") == "end" and not (_pending(lately) or is_undoing)


_last_stamp = (0, "")


def _stamp() -> str:
    """Written out once a second: a hundred thousand lines are stamped."""
    global _last_stamp
    now_s = int(time.time())
    if now_s != _last_stamp[0]:
        _last_stamp = now_s, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now_s))
    return _last_stamp[1]
