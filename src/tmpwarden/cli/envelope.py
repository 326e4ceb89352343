"""The one JSON object that programs read: the same five keys on success and on failure."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from .. import __version__
from ..errors import Partial, TmpwardenError
from ..small_json import dumps
from .spool import Spool

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
        error = Partial("not all is in order", hint="data tells what is not")
    return None if error is None else error.described()
