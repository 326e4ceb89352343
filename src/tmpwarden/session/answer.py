"""For programs built on click, typer or argparse: a function that returns data becomes a command that answers JSON."""

from __future__ import annotations

import functools
import sys
from _thread import get_ident
from signal import SIGINT

from ..errors import BadArgument, TmpwardenError
from . import signals
from .envelope import cancelled, response
from .session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    import os
    from collections.abc import Callable, Sequence
    from typing import Any, Concatenate, NoReturn, ParamSpec, Protocol

    P = ParamSpec("P")

    class ClickCommand(Protocol):
        """What click.Command and click.Group have."""

        def main(self, args: Sequence[str] | None = None, *, standalone_mode: bool) -> Any: ...


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
            sys.exit(_run(lambda line: _answer(line, app, options, lambda s: function(s, *args, **kwargs)), options))

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

    def parse_and_work(line: _Line) -> int:
        try:
            arguments = _parsed(parser, argv)
        except BadArgument as error:
            return line.say(_bare(error), error.exit_code)
        return _answer(line, app or parser.prog, options, lambda opened: work(opened, arguments))

    return _run(parse_and_work, options)


def run_click(command: ClickCommand, argv: Sequence[str] | None = None) -> int:
    """The same for a click command or group whose commands are made with `answers`. Returns the exit status.

    Without it, arguments that do not parse never reach `answers`: click prints its usage and leaves with 2. With it,
    they are answered as well, with exit status 3 and click's own words on stderr. For typer, give it
    `typer.main.get_command(app)`.

    Example:

        import click
        from tmpwarden.session import Session, answers, run_click


        @click.command()
        @click.argument("name")
        @answers("mycli")
        def greet(s: Session, name: str) -> dict[str, object]:
            return {"greeting": f"hello {name}"}


        status = run_click(greet, ["world"])
    """

    def parse_and_work(line: _Line) -> int:
        try:
            left = command.main(args=None if argv is None else list(argv), standalone_mode=False)
        except SystemExit as leaving:
            if signals.leaving(leaving) is not None or not isinstance(leaving.code, int):
                raise
            return leaving.code
        except Exception as error:
            if isinstance(error.__cause__, KeyboardInterrupt):  # click's Abort
                raise KeyboardInterrupt from None
            if not hasattr(error, "format_message"):
                return line.say(_bare(_error_field(error)), 1)
            error.show()  # type: ignore[attr-defined]
            return line.say(_bare(BadArgument(error.format_message(), hint="--help")), BadArgument.exit_code)
        return left if isinstance(left, int) else 0

    return _run(parse_and_work, {"on_cancel": _say})


def _parsed(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Raises BadArgument where argparse, of whichever subcommand, prints its usage and leaves."""
    import contextlib
    import io

    usage = io.StringIO()
    try:
        with contextlib.redirect_stderr(usage):
            return parser.parse_args(argv)
    except SystemExit as leaving:
        if not leaving.code or signals.leaving(leaving) is not None:
            raise  # --help, --version, SIGTERM
        words = usage.getvalue().strip().rpartition(": error: ")[2]
        raise BadArgument(words or "the arguments are wrong", hint=f"{parser.prog} --help") from None
    finally:
        sys.stderr.write(usage.getvalue())


class _Line:
    """The one line that a run prints."""

    __slots__ = ("is_said", "status")

    def __init__(self) -> None:
        self.is_said = False
        self.status: int | None = None

    def say(self, text: str, status: int) -> int:
        with signals.uninterrupted(True):  # a signal comes before it, and is told instead, or too late to matter
            if not self.is_said:
                self.is_said, self.status = True, status
                _say(text)
        return status

    def cancel(self, text: str, on_cancel: Callable[[str], object]) -> None:
        if not self.is_said:
            self.is_said = True
            on_cancel(text)


_lines: dict[int, _Line] = {}  # by thread: what `answers` says within `run_click` is said once


def _run(work: Callable[[_Line], int], options: dict[str, Any]) -> int:
    """Signals before the session is open, and after it was left, are answered as those within it."""
    is_watched, thread = signals.begin(is_held=True), get_ident()
    is_outermost = thread not in _lines
    line = _lines.setdefault(thread, _Line())
    is_held = is_watched
    try:
        if is_held:
            is_held = False
            signals.let_go()
        status = work(line)
        if is_watched:
            signals.hold()
            is_held = True
        return _last_word(status, is_outermost)
    except (KeyboardInterrupt, SystemExit) as error:
        if is_watched and not is_held:
            signals.hold()
            is_held = True
        signum = signals.leaving(error) or (SIGINT if isinstance(error, KeyboardInterrupt) else None)
        if signum is None:
            raise  # --help
        if line.status is not None and not signals.hosts_own(signum):
            return _last_word(line.status, is_outermost)
        line.cancel(cancelled(signals.name_of(signum), {"duration_ms": 0}), options["on_cancel"])
        return _last_word(128 + signum, is_outermost)
    finally:
        if is_outermost:
            del _lines[thread]
        if is_watched:
            if not is_held:
                signals.hold()
            signals.end_answered()


def _last_word(status: int, is_outermost: bool) -> int:
    if is_outermost:
        signals.note_answered(status)
    return status


def _answer(line: _Line, app: str, options: dict[str, Any], work: Callable[[Session], object]) -> int:
    try:
        opened = Session(app, **{**options, "on_cancel": lambda text: line.cancel(text, options["on_cancel"])})
        try:
            with opened:
                return line.say(*_outcome(opened, work))
        except (KeyboardInterrupt, SystemExit) as error:
            opened.__exit__(type(error), error, error.__traceback__)  # it came on the way in or out; else a no-op
            raise
    except TmpwardenError as error:  # there is no session to answer from
        return line.say(_bare(error), error.exit_code)


def _outcome(opened: Session, work: Callable[[Session], object]) -> tuple[str, int]:
    """What the work came to, as a line of JSON and an exit status."""
    try:
        return opened.envelope(work(opened)), 0
    except SystemExit as leaving:
        if signals.leaving(leaving) is not None:
            raise
        return _answer_of_exit(opened, leaving.code)
    except Exception as error:
        if type(error).__name__ == "Exit" and hasattr(error, "exit_code"):  # click's: ctx.exit(3)
            return _answer_of_exit(opened, error.exit_code)
        return opened.envelope(error=_error_field(error)), _status(error)


def _answer_of_exit(opened: Session, code: object) -> tuple[str, int]:
    """`sys.exit(3)` and `sys.exit("words")` in a command: a status, or words for people and the status 1."""
    if code is None or code == 0:
        return opened.envelope(), 0
    status = code if isinstance(code, int) else 1
    if not isinstance(code, int):
        sys.stderr.write(f"{code}\n")
    message = f"the command ended with exit status {status}" if isinstance(code, int) else str(code)
    return opened.envelope(error={"code": "exit", "message": message}), status


def _error_field(error: Exception) -> object:
    """A mistake of the user in the words the program chose (click's own errors too); a bug with its traceback."""
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        return {"code": "usage" if error.exit_code == 2 else "error", "message": error.format_message()}
    if type(error).__name__ == "Abort":  # click's: a question was answered with no, or with Ctrl-C
        return {"code": "aborted", "message": "aborted"}
    if not isinstance(error, TmpwardenError):
        sys.excepthook(type(error), error, error.__traceback__)
    return error


def _status(error: Exception) -> int:
    status = getattr(error, "exit_code", 1)
    return status if isinstance(status, int) else 1


def _bare(error: object) -> str:
    return response(None, error, (), {"duration_ms": 0})


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
