"""Answer signals while your program is still importing: `import tmpwarden.early` as its first line.

SIGTERM, SIGINT and SIGHUP end it with one line of JSON and status 143, 130 or 129, without a traceback, until
`run_argparse`, `run_click` or a session takes over. After the program's answer a signal changes neither that nor the
exit status. Handlers that are not Python's own stay.

While Python itself starts nobody can answer. Where the three are blocked meanwhile (`env --block-signal` in the
program's first line does it), they wait, and are answered here.
"""

import _signal  # type: ignore[import-not-found]  # `signal` would take a millisecond more
import atexit
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
status: "int | None" = None  # of the answer that the program has printed


def answer(signum: int, frame: object) -> None:
    """Nothing of the program has begun, or all is done: no directory to remove, nobody to ask."""
    if status is not None:
        os._exit(status)
    name = next(name for name in _NAMES if getattr(_signal, name, None) == signum)
    try:
        os.write(1, (_LINE % name).encode())
    except OSError:
        pass  # nobody listens
    os._exit(128 + signum)


def note_answered(code: int) -> None:
    global status
    status = code


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
    if former and hasattr(_signal, "pthread_sigmask"):
        atexit.register(_leave)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, former)  # what came while Python started is answered now


def _leave() -> None:
    """While Python ends it takes handlers back, and a signal would replace the status that was answered."""
    if status is not None:
        for signum in former:
            if _signal.getsignal(signum) is answer:
                _signal.signal(signum, _signal.SIG_IGN)


if "tmpwarden.session.signals" not in sys.modules or not sys.modules["tmpwarden.session.signals"].is_watching():
    _listen()
