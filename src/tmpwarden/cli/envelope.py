"""The one JSON object that programs read: the same five keys on success and on failure."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from .. import __version__
from ..errors import Partial, TmpwardenError

SCHEMA = 1


def envelope(
    data: object, error: TmpwardenError | None, warnings: Sequence[str], *, exit_code: int, started: float
) -> str:
    """Pure ASCII: a name that is no UTF-8 travels as the lone surrogates Python reads back exactly."""
    document = {
        "ok": exit_code == 0,
        "data": data,
        "error": _described(error, exit_code),
        "warnings": list(warnings),
        "meta": {
            "schema": SCHEMA,
            "duration_ms": round((time.monotonic() - started) * 1000),
            "version": __version__,
        },
    }
    return json.dumps(document, ensure_ascii=True)


def _described(error: TmpwardenError | None, exit_code: int) -> dict[str, str] | None:
    """Never null on failure: a command may have told all in its data, as doctor does of what fails."""
    if error is None and exit_code:
        error = Partial("not all is in order", hint="data tells what is not")
    return None if error is None else error.described()
