"""Run any command with a temp directory of its own, and give it back when the command and its children are done."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import NoSpace, UnsafeRoot, UnsafeScratch
from ..leases.scratch import adopt, open_scratch
from ..model.hot import Scratch
from ..oskit import places
from . import private_tmp
from .teardown import teardown

# A terminal sends these to the whole process group: the command gets them itself, and decides.
_LEFT_TO_THE_COMMAND = (signal.SIGINT, signal.SIGQUIT)
# These may be sent to us alone.
_PASSED_ON = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGWINCH", "SIGCONT")
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


@dataclass(frozen=True, slots=True)
class Ended:
    """How the command ended: its status, or the signal that ended it."""

    status: int
    signal_number: int | None = None


def run(
    command: Sequence[str],
    *,
    agent: str = "run",
    is_private: bool = False,
    roots: tuple[str, ...] = (),
    warn: Callable[[str], None] = lambda sentence: None,
) -> Ended:
    """Run `command`; stdin, stdout, signals and job control are its own. It runs even if no scratch can be made."""
    if is_private:
        private_tmp.check()
    scratch = _scratch(agent, roots, warn)
    try:
        return _supervised(command, scratch, is_private)
    finally:
        if scratch is not None:
            teardown(scratch.lease.session, roots=roots)


def environment(scratch: str, base: Mapping[str, str]) -> dict[str, str]:
    """What leads temporary files, and the caches that tools keep beside them, into the scratch."""
    extra = {
        "GOTMPDIR": scratch,
        "NODE_COMPILE_CACHE": f"{scratch}/node-compile-cache",
        "CLAUDE_CODE_TMPDIR": scratch,
    }
    return {**base, **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), scratch), **extra}


def _scratch(agent: str, roots: tuple[str, ...], warn: Callable[[str], None]) -> Scratch | None:
    try:
        found = places.temp_roots(roots)
        if not found:
            raise UnsafeRoot("the temp directory", "there is none")
        return open_scratch(found[0], agent, uuid.uuid4().hex, pid=os.getpid())
    except (OSError, NoSpace, UnsafeScratch, UnsafeRoot) as error:
        warn(f"running without a temp directory of its own: {error}")
        return None


def _supervised(command: Sequence[str], scratch: Scratch | None, is_private: bool) -> Ended:
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(ready, 1)  # until the lease names this process
        _become(command, scratch, is_private)
    os.close(ready)
    previous = _guard_signals(child)
    try:
        if scratch is not None:
            _adopt(scratch, child)
        os.close(go)
        return _wait(child)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _adopt(scratch: Scratch, child: int) -> None:
    try:
        adopt(scratch.lease, child)
    except OSError:
        return  # a full disk: the lease still names us, and the command's own use keeps its scratch


def _become(command: Sequence[str], scratch: Scratch | None, is_private: bool) -> None:
    """In the child: the command, with the signals as the user had them."""
    status = _NOT_EXECUTABLE
    try:
        env = dict(os.environ)
        if scratch is not None:
            place = private_tmp.enter(scratch.path) if is_private else scratch.path
            env = environment(place, env)
        os.execvpe(command[0], list(command), env)
    except FileNotFoundError:
        status = _NOT_FOUND
        _complain(f"{command[0]}: not found")
    except OSError as error:
        _complain(f"{command[0]}: {error.strerror}")
    finally:
        os._exit(status)


def _complain(sentence: str) -> None:
    os.write(2, os.fsencode(f"tmpwarden run: {sentence}\n"))


def _guard_signals(child: int) -> dict[int, signal.Handlers | Callable[..., object] | int | None]:
    def pass_on(number: int, frame: object) -> None:
        try:
            os.kill(child, number)
        except ProcessLookupError:
            return

    previous = {int(number): signal.signal(number, lambda *_: None) for number in _LEFT_TO_THE_COMMAND}
    for name in _PASSED_ON:
        number = getattr(signal, name, None)
        if number is not None:
            previous[int(number)] = signal.signal(number, pass_on)
    return previous


def _wait(child: int) -> Ended:
    while True:
        _, status = os.waitpid(child, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.kill(os.getpid(), signal.SIGSTOP)  # the shell sees one job: it stops with its command
            os.kill(child, signal.SIGCONT)
        elif os.WIFSIGNALED(status):
            return Ended(128 + os.WTERMSIG(status), os.WTERMSIG(status))
        else:
            return Ended(os.WEXITSTATUS(status))


def die_of(number: int) -> None:
    """End as the command ended, so that a shell sees the same; without a second core file."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
