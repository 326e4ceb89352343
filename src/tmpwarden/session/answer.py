"""For programs built on click, typer or argparse: a function that returns data becomes a command that answers JSON."""

from __future__ import annotations

import functools
import sys

from ..errors import BadArgument, TmpwardenError
from .session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    import os
    from collections.abc import Callable, Sequence
    from typing import Any, Concatenate, NoReturn, ParamSpec

    P = ParamSpec("P")


def answers(
    app: str,
    *,
    tmp: str | os.PathLike[str] | None = None,
    grace: float = 5.0,
    on_cancel: Callable[[str], object] | None = None,
) -> Callable[[Callable[Concatenate[Session, P], object]], Callable[P, NoReturn]]:
    """Make a function the body of a click or typer command: `@click.command()` above, `@answers("mycli")` below it.

    The function gets an open session as its first argument, and returns the `data` of the answer. One line of JSON
    goes to stdout, on a failure and on a signal too; the exit status is that of the error. The options are those of
    `session`; `on_cancel` prints unless you give your own.

    Example:

        import click
        from tmpwarden.session import Session, answers


        @click.command()
        @click.argument("name")
        @answers("mycli")
        def greet(s: Session, name: str) -> dict[str, object]:
            return {"greeting": f"hello {name}"}


        greet(["world"])
    """
    options: dict[str, Any] = {"tmp": tmp, "grace": grace, "on_cancel": on_cancel or _say}

    def decorate(function: Callable[Concatenate[Session, P], object]) -> Callable[P, NoReturn]:
        @functools.wraps(function)
        def command(*args: P.args, **kwargs: P.kwargs) -> NoReturn:
            sys.exit(_answer(app, options, lambda opened: function(opened, *args, **kwargs)))

        return command

    return decorate


def run_argparse(
    parser: argparse.ArgumentParser,
    work: Callable[[Session, argparse.Namespace], object],
    argv: Sequence[str] | None = None,
    *,
    app: str | None = None,
    tmp: str | os.PathLike[str] | None = None,
    grace: float = 5.0,
    on_cancel: Callable[[str], object] | None = None,
) -> int:
    """The same for argparse: parse, call `work(session, arguments)`, print its answer. Returns the exit status.

    Arguments that do not parse are answered as well, with exit status 3 and argparse's own words on stderr. `app` is
    the parser's `prog` unless you give another name.

    Example:

        import argparse

        from tmpwarden.session import Session, run_argparse


        def greet(s: Session, arguments: argparse.Namespace) -> dict[str, object]:
            return {"greeting": f"hello {arguments.name}"}


        parser = argparse.ArgumentParser("mycli")
        parser.add_argument("name")
        status = run_argparse(parser, greet, ["world"])
    """
    options: dict[str, Any] = {"tmp": tmp, "grace": grace, "on_cancel": on_cancel or _say}
    try:
        arguments = _parsed(parser, argv)
    except BadArgument as error:
        _say(_bare(error))
        return error.exit_code
    return _answer(app or parser.prog, options, lambda opened: work(opened, arguments))


def _parsed(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Raises BadArgument where argparse, of whichever subcommand, prints its usage and leaves."""
    import contextlib
    import io

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return parser.parse_args(argv)
    except SystemExit as leaving:
        if not leaving.code:
            raise  # --help, --version
        words = said.getvalue().strip().rpartition(": error: ")[2]
        raise BadArgument(words or "the arguments are wrong", hint=f"{parser.prog} --help") from None
    finally:
        sys.stderr.write(said.getvalue())


def _answer(app: str, options: dict[str, Any], work: Callable[[Session], object]) -> int:
    try:
        opened = Session(app, **options)
        with opened:
            try:
                line, status = opened.envelope(work(opened)), 0
            except Exception as error:
                line, status = opened.envelope(error=_told(error)), _status(error)
            _say(line)
    except TmpwardenError as error:  # there is no session to answer from
        _say(_bare(error))
        return error.exit_code
    return status


def _told(error: Exception) -> object:
    """A mistake of the user in the words the program chose (click's own errors too); a bug with its traceback."""
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        return {"code": "usage" if error.exit_code == 2 else "error", "message": error.format_message()}
    if hasattr(error, "exit_code") and not isinstance(error, TmpwardenError):
        raise error  # click.exceptions.Exit: a way to leave, not a failure
    if not isinstance(error, TmpwardenError):
        sys.excepthook(type(error), error, error.__traceback__)
    return error


def _status(error: Exception) -> int:
    status = getattr(error, "exit_code", 1)
    return status if isinstance(status, int) else 1


def _bare(error: TmpwardenError) -> str:
    from .envelope import response

    return response(None, error, (), {"duration_ms": 0})


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
