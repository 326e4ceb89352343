"""The one JSON object that programs read: the same five keys on success and on failure, and lists of any length."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .. import __version__
from ..errors import Partial, TmpwardenError
from ..small_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .documents import Document

_BATCH = 512
SCHEMA = 2  # 1 had `error.hint`, which the published schema does not allow


def chunks(
    data: object, error: TmpwardenError | None, warnings: Sequence[str], *, exit_code: int, started: float
) -> Iterator[str]:
    """Pure ASCII: a name that is no UTF-8 travels as the lone surrogates Python reads back exactly."""
    document = {
        "ok": exit_code == 0,
        "data": data,
        "error": _described(error, exit_code),
        "warnings": list(warnings),
        "meta": {"schema": SCHEMA, "duration_ms": round((time.monotonic() - started) * 1000), "version": __version__},
    }
    yield from _object(document)


def _object(value: Mapping[str, object]) -> Iterator[str]:
    """What lies in a spool goes out one by one."""
    for number, (key, item) in enumerate(value.items()):
        yield f"{', ' if number else '{'}{dumps(key)}: "
        if isinstance(item, Spool):
            for at, text in enumerate(item):
                yield f"{', ' if at else '['}{text}"
            yield "]" if len(item) else "[]"
        elif isinstance(item, dict) and any(isinstance(each, Spool) for each in item.values()):
            yield from _object(item)
        else:
            yield dumps(item)
    yield "}" if value else "{}"


def _described(error: TmpwardenError | None, exit_code: int) -> dict[str, str] | None:
    """Never null on failure: a command may have told all in its data, as doctor does of what fails."""
    if error is None and exit_code:
        error = Partial("a check failed", hint="`data` says which")
    return None if error is None else error.described()


class Spool:
    """Documents on their way to a program, as compressed text: a hundred thousand dicts would fill the memory.

    Add them, then iterate over their JSON texts in the same order, as often as wanted.
    """

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
    """`default` of json.dumps, for a command that sends a document through a pipe in one piece."""
    if isinstance(value, Spool):
        return [json.loads(text) for text in value]
    raise TypeError(f"{type(value).__name__} is not JSON")
