"""Documents on their way to a program: kept as compressed text, because a hundred thousand dicts fill the memory."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .documents import Document

_BATCH = 512


class Spool:
    """Add documents, then iterate over their JSON texts in the same order, as often as wanted."""

    __slots__ = ("_count", "_encode", "_last", "_packed")

    def __init__(self) -> None:
        self._packed: list[bytes] = []
        self._last: list[str] = []
        self._count = 0
        self._encode = json.JSONEncoder(ensure_ascii=True).encode

    def __len__(self) -> int:
        return self._count

    def add(self, document: Document) -> None:
        self._last.append(self._encode(document))  # one line: JSON in ASCII holds no newline
        self._count += 1
        if len(self._last) == _BATCH:
            self._packed.append(zlib.compress("\n".join(self._last).encode("ascii"), 1))
            self._last = []

    def __iter__(self) -> Iterator[str]:
        for packed in self._packed:
            yield from zlib.decompress(packed).decode("ascii").split("\n")
        yield from self._last
