"""`@tmpwarden.in_session("mycli")`: a function, async or not, that runs in a session of its own."""

from __future__ import annotations

import functools

from .session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import Any, Concatenate, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")

_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200  # co_flags; inspect has names for them and costs 10 ms


def in_session(
    app: str,
    *,
    tmp: str | os.PathLike[str] | None = None,
    grace: float = 5.0,
    on_cancel: Callable[[str], object] | None = None,
) -> Callable[[Callable[Concatenate[Session, P], R]], Callable[P, R]]:
    """Decorate a function, async or not, so that it is called with a new session as its first argument.

    The options are those of `session`.

    Example:

        import tmpwarden


        @tmpwarden.in_session("mycli")
        def count(s: tmpwarden.Session, lines: int) -> str:
            return s.envelope({"lines": lines})


        print(count(3))
    """
    options = {"tmp": tmp, "grace": grace, "on_cancel": on_cancel}

    def decorate(function: Callable[Concatenate[Session, P], R]) -> Callable[P, R]:
        flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
        if flags & (_GENERATOR | _ASYNC_GENERATOR):
            raise TypeError("a generator may never be finished: open the session inside it, with `with`")
        wrapped = _asynchronous(function, app, options) if flags & _COROUTINE else _plain(function, app, options)
        return functools.update_wrapper(wrapped, function)

    return decorate


def _plain(function: Callable[..., R], app: str, options: dict[str, Any]) -> Callable[..., R]:
    def run(*args: Any, **kwargs: Any) -> R:
        with Session(app, **options) as opened:
            return function(opened, *args, **kwargs)

    return run


def _asynchronous(function: Callable[..., Any], app: str, options: dict[str, Any]) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> Any:
        async with Session(app, **options) as opened:
            return await function(opened, *args, **kwargs)

    return run
