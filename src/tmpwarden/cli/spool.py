"""Documents on their way to a program: kept as compressed text, because a hundred thousand dicts fill the memory."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator

from ..small_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .documents import Document

_BATCH = 512


class Spool:
    """Add documents, then iterate over their JSON texts in the same order, as often as wanted."""

    __slots__ = ("_count", "_last", "_packed")

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._packed: list[bytes] = []
        self._last: list[str] = []
        self._count = 0
        for document in documents:
            self.add(document)

    def __len__(self) -> int:
        return self._count

    def add(self, document: Document) -> None:
        self._last.append(dumps(document))  # one line: JSON in ASCII holds no newline
        self._count += 1
        if len(self._last) == _BATCH:
            self._packed.append(zlib.compress("\n".join(self._last).encode("ascii"), 1))
            self._last = []

    def __iter__(self) -> Iterator[str]:
        for packed in self._packed:
            yield from zlib.decompress(packed).decode("ascii").split("\n")
        yield from self._last


def plain(value: object) -> list[object]:
    """`default` of json.dumps, for whoever sends a document through a pipe in one piece."""
    if isinstance(value, Spool):
        return [json.loads(text) for text in value]
    raise TypeError(f"{type(value).__name__} is no JSON")
