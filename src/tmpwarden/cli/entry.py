"""Where the `tmpwarden` script begins. What a command needed last time lies compiled in one file; then main runs.

The file lies in __pycache__, and whoever may write there is trusted with all else that lies there.
"""

import os
import sys
from _frozen_importlib_external import cache_from_source

from . import module_file

_QUICK = frozenset(("clean", "run", "scan", "status", "teardown"))
_FEW = 8  # modules that were found the slow way are no reason to write the file anew


def run() -> None:
    """The entry point of the `tmpwarden` script."""
    name = next((word for word in sys.argv[1:] if word != "--json"), "status")
    path = cache_from_source(__file__).removesuffix(".pyc") + f".{name}" if name in _QUICK else ""
    if path:
        module_file.use(path)
    before = frozenset(sys.modules)
    from .main import run

    try:
        run()
    except SystemExit as done:
        if path and not sys.dont_write_bytecode:
            _learn(path, before)
        _leave(done.code)
        raise


def _leave(status: object) -> None:
    """Without tearing the interpreter down, which costs as much as a bare start. Where something could still want its
    end (a thread, a stream that cannot be written), it has it."""
    if not isinstance(status, int) or sys.flags.inspect or _has_threads():
        return
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return
    os._exit(status)


def _has_threads() -> bool:
    threading = sys.modules.get("threading")
    return threading is not None and threading.active_count() > 1


def _learn(path: str, before: "frozenset[str]") -> None:
    """Write down for the next call what this one needed, if the file did not have it."""
    ours = [name for name in sys.modules if name.startswith("tmpwarden.") and name not in before]
    if sum(not module_file.has_served(sys.modules[name]) for name in ours) <= _FEW:
        return
    try:
        module_file.make(path, ours)
    except Exception:  # read-only, a full disk, a module without a source: the next call goes without too
        pass
