"""Temp directories that cannot leak, for authors of command-line tools (REQ-F-043): `tmpwarden.session("mycli")`.

This package can be called: `tmpwarden.session(app)` is `tmpwarden.Session(app)`. It also has `answers`, for click and
typer, `run_click` beside it, and `run_argparse` for argparse: they print one line of JSON, on failures and signals too.
"""

from __future__ import annotations

import sys

from .session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from .answer import answers as answers
    from .answer import run_argparse as run_argparse
    from .answer import run_click as run_click
    from .session import in_session as in_session

__all__ = ["Session", "answers", "in_session", "run_argparse", "run_click", "session"]

session = Session  # `from tmpwarden.session import session`; the module of this name has done its work


class _CallableModule(type(sys)):  # type: ignore[misc]
    """Importing this package binds it as `tmpwarden.session`, the name of our main function: so it is both."""

    def __call__(
        self,
        app: str,
        *,
        tmp: str | os.PathLike[str] | None = None,
        grace: float = 5.0,
        on_cancel: Callable[[str], object] | None = None,
    ) -> Session:
        return Session(app, tmp=tmp, grace=grace, on_cancel=on_cancel)


def __getattr__(name: str) -> object:
    if name == "in_session":
        from .session import in_session

        return in_session
    if name not in ("answers", "run_argparse", "run_click"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import answer

    return getattr(answer, name)


sys.modules[__name__].__class__ = _CallableModule
