"""`tmpwarden.session("mycli")`: what an author calls."""

from __future__ import annotations

from .session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable


def session(
    app: str,
    *,
    tmp: str | os.PathLike[str] | None = None,
    grace: float = 5.0,
    on_cancel: Callable[[str], object] | None = None,
) -> Session:
    """A temp directory for this run of `app`: `with tmpwarden.session("mycli") as s:` or `async with`.

    tmp        where, instead of TMPDIR, TEMP, TMP or /tmp
    grace      seconds that children get between SIGTERM and SIGKILL
    on_cancel  called with one line of JSON when a signal ends the session; pass `print`
    """
    return Session(app, tmp=tmp, grace=grace, on_cancel=on_cancel)
