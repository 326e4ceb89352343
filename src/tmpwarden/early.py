"""Answer signals while your program is still importing: `import tmpwarden.early` as its first line.

SIGTERM, SIGINT and SIGHUP end it with one line of JSON and status 143, 130 or 129, without a traceback, until
`run_argparse`, `run_click` or a session takes over. Handlers that are not Python's own stay.
"""

import _signal  # type: ignore[import-not-found]  # `signal` would take a millisecond more
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LINE = (
    '{"ok": false, "data": null, "error": {"code": "CANCELLED", "message": "stopped by %s"}, '
    '"warnings": [], "meta": {"duration_ms": 0, "partial": true}}\n'
)
former: "dict[int, Any]" = {}  # the handlers that we stand in for


def answer(signum: int, frame: object) -> None:
    """Nothing of the program has begun: no directory to remove, nobody to ask."""
    name = next(name for name in _NAMES if getattr(_signal, name, None) == signum)
    try:
        os.write(1, (_LINE % name).encode())
    except OSError:
        pass  # nobody listens
    os._exit(128 + signum)


_NAMES = ("SIGTERM", "SIGINT", "SIGHUP")


def _listen() -> None:
    for name in _NAMES:
        signum = getattr(_signal, name, None)  # Windows has no SIGHUP
        if signum is None or _signal.getsignal(signum) not in (_signal.SIG_DFL, _signal.default_int_handler):
            continue
        former[signum] = _signal.getsignal(signum)
        try:
            _signal.signal(signum, answer)
        except ValueError:  # imported by another thread than the main one
            del former[signum]


if "tmpwarden.session.signals" not in sys.modules or not sys.modules["tmpwarden.session.signals"].is_watching():
    _listen()
