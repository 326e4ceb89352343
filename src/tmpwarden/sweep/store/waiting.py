"""What waits in quarantine and can come back: ids in memory, the rest where the journal has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ...model.terms import Outcome
from ...oskit.files import atomic
from .journal_lines import RESTORABLE, decoded, is_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

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
        self._found: list[dict[str, Any]] = []  # what no journal tells of
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
            self._found.append(each)
            self._places[str(each["id"])] = -len(self._found)

    def __getitem__(self, token: str) -> dict[str, Any]:
        return self._at(self._places[token])

    def _at(self, place: int) -> dict[str, Any]:
        if place < 0:
            return self._found[-place - 1]
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
