"""The `tmpwarden` command: parse, dispatch, turn answers and errors into output and an exit status."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import TextIOWrapper

from ..errors import Interrupted, PermissionDenied, SystemRefused, TmpwardenError, Unexpected
from ..lazy_dataclass import replace
from ..oskit.files import own_dirs
from ..text import shown
from .call import Answer, Call, Done, Terminated
from .paint import folded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from signal import SIGTERM, signal
    from types import FrameType
    from typing import TextIO
else:
    from _signal import SIGTERM, signal  # the module in Python makes words of all signals, with enum: 2 ms

_GARBAGE = 50_000  # a walk makes no circles: looking for them every 700 objects costs 6 % of a scan


def run() -> None:
    """The entry point of the `tmpwarden` script."""
    gc.set_threshold(_GARBAGE)
    own_dirs.mend_umask()
    signal(SIGTERM, _terminated)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if shell := os.environ.get("_TMPWARDEN_COMPLETE"):
        from .group import complete

        raise SystemExit(complete(shell))
    status = main(sys.argv[1:])
    _leave(status)
    raise SystemExit(status)


def _leave(status: int) -> None:
    """Without tearing the interpreter down, which costs as much as a bare start. Where something could still want its
    end (a thread, a stream that cannot be written), it has it."""
    if sys.flags.inspect or _has_threads():
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


def main(argv: Sequence[str], *, now_ns: Callable[[], int] = time.time_ns) -> int:
    """One call; its exit status. The clock comes in as an argument: tests and documentation run later than now."""
    call, answer = Call(json=_wants_json(argv), now_ns=now_ns), Answer()
    try:
        answer = _answer(call, list(argv))
        _tell(call, answer)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _let_go_of_stdout()  # the reader has seen enough; what was done is done
    except OSError as error:  # stdout lies on a full disk: of all moments, this is ours
        _let_go_of_stdout()
        _write(sys.stderr, [f"tmpwarden: the answer could not be written: {error.strerror}"])
        return answer.status or 1
    except KeyboardInterrupt as stop:
        _let_go_of_stdout()
        return 143 if isinstance(stop, Terminated) else 130
    return answer.status


def _let_go_of_stdout() -> None:
    """So that the interpreter does not try, and complain, once more at its exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:
        pass  # nothing can be opened any more: then it complains


def _answer(call: Call, argv: list[str]) -> Answer:
    if not hasattr(os, "geteuid") and (skipped := _unsupported(call, argv)):
        return skipped
    try:
        call.warn(*_closed())
        answer = _by_click(call, argv)
        # what may take long, be stopped or break does so where it still becomes an envelope
        return replace(answer, data=answer.data()) if call.json and callable(answer.data) else answer
    except Done as exit_:
        return exit_.answer
    except TmpwardenError as error:
        return Answer(error=error)
    except KeyboardInterrupt as stop:
        return Answer(error=Interrupted(15 if isinstance(stop, Terminated) else 2))
    except BrokenPipeError:
        raise
    except PermissionError as error:
        return Answer(error=PermissionDenied(shown(str(error.filename or error))))
    except OSError as error:
        return Answer(error=SystemRefused(shown(str(error.filename or "")) or type(error).__name__, error.strerror))
    except Exception as error:
        if os.environ.get("TMPWARDEN_DEBUG"):
            raise
        return Answer(error=Unexpected(type(error).__name__, error))


def _closed() -> Iterator[str]:
    """Directories of ours that others could write to, such as those of a setup under umask 002, are closed and told."""
    from ..oskit.files import places

    if not hasattr(os, "geteuid"):
        return  # no users, no modes
    for path in (places.state_dir(), places.config_dir(), places.data_dir()):
        if mode := own_dirs.close_to_others(path):
            yield f"{shown(path)} was writable for other users (mode {mode:04o}); now only you can"


def _by_click(call: Call, argv: list[str]) -> Answer:
    from .group import called  # it costs half of what a small scan costs

    return called(call, argv)


def _wants_json(argv: Sequence[str]) -> bool:
    """Before anything is parsed: what cannot be parsed, or is stopped at once, is answered in JSON as well."""
    words = list(argv)
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _unsupported(call: Call, argv: list[str]) -> Answer | None:
    """On Windows there is nothing to sweep and nothing to judge it by: say so, and let scripts go on."""
    words = argv[: argv.index("--")] if "--" in argv else argv
    if {"run", "completion", "--help", "-h", "--version"} & set(words):
        return None
    sentence = "tmpwarden does nothing on this system: it needs Linux, macOS or another POSIX system."
    return Answer({"skipped": "unsupported-system"}, lambda: [sentence])


def _tell(call: Call, answer: Answer) -> None:
    if call.json:
        from .envelope import chunks

        data = answer.data() if callable(answer.data) else answer.data
        output = chunks(data, answer.error, call.warnings, exit_code=answer.status, started=call.started)
        if sys.stdout is not None:
            sys.stdout.writelines(output)
            sys.stdout.write("\n")
        return
    if answer.text is not None:
        _write(sys.stdout, answer.text())
    _write(sys.stderr, [f"warning: {sentence}" for sentence in call.warnings])
    if answer.error is not None:
        _write(sys.stderr, [f"tmpwarden: {answer.error}"])
        if answer.error.hint:
            _write(sys.stderr, [f"  hint: {answer.error.hint}"])


def _write(stream: TextIO, lines: Iterable[str]) -> None:
    for line in folded(lines, stream):
        print(line, file=stream)


def _terminated(_: int, __: FrameType | None) -> None:
    raise Terminated
