"""Run any command with a temp directory of its own, and give it back when the command and its children are done."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence

from ..agent_facts import TEMP_VARIABLES
from ..errors import NoNamespace, NoSpace, UnsafeRoot, UnsafeScratch
from ..lazy_dataclass import dataclass
from ..leases.scratch import adopt, destroy_own, open_scratch
from ..model.belongings import ScratchDirectory
from ..oskit.files import own_dirs, places
from ..oskit.proc import proven
from ..oskit.proc.forked import forked
from ..oskit.proc.namespaces import mount_namespace
from . import background, private_tmp, watch_size

_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What a command may take. None: as much as there is."""

    max_file_bytes: int | None = None  # of every single file it writes, wherever: the kernel holds it
    max_bytes: int | None = None  # of all it leaves in its temp directory: looked at while it runs
    size_bytes: int | None = None  # of a private /tmp in memory: the kernel holds it


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """How the command ended: its status, or the signal that ended it."""

    status: int
    signal_number: int | None = None


NO_LIMITS = RunLimits()


def run(
    command: Sequence[str],
    *,
    agent: str | None = None,
    is_private: bool = False,
    limits: RunLimits = NO_LIMITS,
    roots: tuple[str, ...] = (),
    warn: Callable[[str], None] = lambda sentence: None,
) -> CommandEnded:
    """Run `command`; stdin, stdout, signals and job control are its own. It runs even if no scratch can be made.

    What it leaves is destroyed. With `agent` it is a session of that agent, whose files wait in quarantine for a day.
    """
    if is_private:
        private_tmp.check()
        for sentence in private_tmp.warnings(command[0]):
            warn(sentence)
    scratch = _scratch(command, agent, roots, is_private, warn)
    is_nested = f"/tmpwarden-{places.uid()}/" in os.environ.get("TMPDIR", "")
    if not (roots or is_nested) and background.has_dead_scratch():
        background.detach(background.clear_scratches)
    try:
        return _supervised(command, scratch, is_private, limits)
    finally:
        if scratch is not None and (doubt := proven.doubt()):
            if agent is None:
                destroy_own(scratch.path)  # ours: made for this command, which has ended
            else:
                warn(f"{scratch.path} was not removed: {doubt}; remove it yourself when nothing uses it")
        elif scratch is not None:
            from .teardown import teardown  # there already: `_supervised` has imported it while the command ran

            # Within another run: a child that went on without us would carry that run's TMPDIR and keep its scratch.
            teardown(scratch.lease.session, roots=roots, wait=is_nested)


def environment(scratch: str, base: Mapping[str, str]) -> dict[str, str]:
    """What leads temporary files, and the caches that tools keep beside them, into the scratch."""
    extra = dict.fromkeys(("TMPDIR", "TMP", "TEMP", "GOTMPDIR", *TEMP_VARIABLES), scratch)
    if base.get("NODE_COMPILE_CACHE"):  # unset, Node asks TMPDIR; to set it would switch the cache on
        extra["NODE_COMPILE_CACHE"] = f"{scratch}/node-compile-cache"
    return {**base, **extra}


def _scratch(
    command: Sequence[str],
    agent: str | None,
    roots: tuple[str, ...],
    is_private: bool,
    warn: Callable[[str], None],
) -> ScratchDirectory | None:
    """None when there is no room, or no safe place: the command comes first, unless its /tmp was to be private or the
    place was named."""
    try:
        temp_roots = places.temp_roots(roots)
        if not temp_roots:
            raise UnsafeRoot("the temp directory", "there is none")
        name = agent or os.path.basename(command[0])
        return open_scratch(temp_roots[0], name, os.urandom(16).hex(), pid=os.getpid(), disposable=agent is None)
    except (OSError, NoSpace, UnsafeScratch, UnsafeRoot) as error:
        if is_private or (roots and isinstance(error, UnsafeRoot)):
            raise
        warn(f"running without a private temp directory: {error}")
        return None


def _supervised(
    command: Sequence[str], scratch: ScratchDirectory | None, is_private: bool, limits: RunLimits
) -> CommandEnded:
    ready, go = os.pipe()
    answer_end, tell = os.pipe()
    with Signals() as signals:

        def begin() -> None:
            os.close(go)
            os.read(ready, 1)  # until the lease names this process
            signals.restore()
            _become_program(command, scratch, is_private, limits, tell)

        child, over = forked(begin), -1
        os.close(ready)
        os.close(tell)
        if scratch is not None:
            _adopt(scratch, child)
        os.close(go)  # before the watcher is forked: as long as anybody holds it, the command waits
        if scratch is not None and limits.max_bytes is not None:
            over = watch_size.start(child, scratch.path, limits.max_bytes)
        from . import teardown  # noqa: F401  # the command runs: now there is time, and the code is of one piece

        with open(answer_end, "rb") as answer:  # nothing, when it has become the command without
            namespace, *placeholders = os.fsdecode(answer.read()).split("\0")
        ended = _ended(signals.wait_for(child))
        if over >= 0:
            os.close(over)
    if scratch is not None and namespace and not private_tmp.is_inhabited(namespace):
        private_tmp.tidy(scratch.path, [*map(private_tmp.Placeholder.parse, placeholders)])
    return ended


def _adopt(scratch: ScratchDirectory, child: int) -> None:
    try:
        adopt(scratch.lease, child)
    except OSError:
        return  # a full disk: the lease still names us, and the command's own use keeps its scratch


def _ended(status: int) -> CommandEnded:
    if os.WIFSIGNALED(status):
        return CommandEnded(128 + os.WTERMSIG(status), os.WTERMSIG(status))
    return CommandEnded(os.WEXITSTATUS(status))


def _become_program(
    command: Sequence[str], scratch: ScratchDirectory | None, is_private: bool, limits: RunLimits, tell: int
) -> None:
    """In the child: the command, or one line on stderr and the status that a shell would give."""
    status = _NOT_EXECUTABLE
    try:
        env = dict(os.environ)
        if scratch is not None:
            place = _private(scratch.path, command[0], limits.size_bytes, tell) if is_private else scratch.path
            env = environment(place, env)
        if limits.max_file_bytes is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_FSIZE, (limits.max_file_bytes, limits.max_file_bytes))
        own_dirs.give_umask_back()
        os.execvpe(command[0], list(command), env)
    except FileNotFoundError:
        status = _NOT_FOUND
        watch_size.say(f"{command[0]}: not found")
    except OSError as error:
        watch_size.say(f"{command[0]}: {error.strerror}")
    except NoNamespace as error:
        watch_size.say(str(error))
    finally:
        os._exit(status)


def _private(scratch: str, program: str, size_bytes: int | None, tell: int) -> str:
    try:
        placeholders = private_tmp.enter(scratch, program, size_bytes)
    except OSError as error:  # never in the shared /tmp by mistake
        raise NoNamespace(str(error.strerror).lower()) from None
    words = [mount_namespace() or "", *(str(placeholder) for placeholder in placeholders)]
    with open(tell, "wb", closefd=False) as pipe:
        pipe.write(os.fsencode("\0".join(words)))
    return private_tmp.TMP


def die_of(number: int) -> None:
    """End as the command ended, so that a shell sees the same; without a second core file."""
    import resource
    import signal

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number != signal.SIGKILL:  # nobody may touch that one
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


# Signals between a terminal, a wrapper and the command it runs: the command gets what it would have got without us.

# What a terminal sends to its whole foreground group: the command has it already, unless somebody sent it to us alone.
_OF_THE_TERMINAL = ("SIGINT", "SIGQUIT", "SIGTSTP", "SIGHUP", "SIGWINCH", "SIGCONT")
_OF_SENDERS = ("SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM")
_INIT = 1
_IGNORED_BY_PYTHON = ("SIGPIPE", "SIGXFSZ")  # an ignored signal stays ignored through exec


class Signals:
    """While it is entered they wait in a queue, so that none is lost between fork and wait. For the main thread."""

    def __init__(self) -> None:
        names = ("SIGCHLD", *_OF_THE_TERMINAL, *_OF_SENDERS)
        self._wanted = {getattr(signal, name) for name in names if hasattr(signal, name)}
        self._mask: set[int] = set()
        self._handlers: dict[int, object] = {}

    def __enter__(self) -> Signals:
        self._mask = set(signal.pthread_sigmask(signal.SIG_BLOCK, self._wanted))
        for number in self._wanted:  # without a handler some systems drop what is ignored by default
            if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGCHLD:
                self._handlers[number] = signal.signal(number, lambda *_: None)
        return self

    def __exit__(self, *_: object) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def restore(self) -> None:
        """In the child, right before exec: handlers go by themselves, what is ignored or blocked would stay so."""
        for name in _IGNORED_BY_PYTHON:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
        if self._handlers.get(signal.SIGCHLD) is signal.SIG_IGN:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def wait_for(self, child: int) -> int:
        """The wait status with which `child` ended. Till then it gets what is sent to us, and we stop when it stops."""
        while True:
            number, is_news = self._next(child)
            if number != signal.SIGCHLD:
                if is_news:
                    _send(child, number)
                continue
            pid, status = _wait_without_blocking(child)
            if pid and os.WIFSTOPPED(status):
                if os.getpid() == _INIT:
                    continue  # we cannot be stopped, and the one who stopped the command lets it go on
                os.kill(os.getpid(), signal.SIGSTOP)  # the shell sees one job: it stops with its command
                _send(child, signal.SIGCONT)
            elif pid:
                return status

    def _next(self, child: int) -> tuple[int, bool]:
        """The next signal, and whether the command has not got it yet."""
        if not hasattr(signal, "sigwaitinfo"):
            number = signal.sigwait(self._wanted)
            return number, number not in {getattr(signal, name) for name in _OF_THE_TERMINAL}
        signal_info = signal.sigwaitinfo(self._wanted)
        return (
            signal_info.si_signo,
            signal_info.si_code <= 0 and signal_info.si_pid != child,
        )  # above 0: the kernel sent it, to the group


def _wait_without_blocking(child: int) -> tuple[int, int]:
    """News of the command, (0, 0) if there is none. As pid 1 of a container, every orphan there is ours to bury."""
    if os.getpid() != _INIT:
        return os.waitpid(child, os.WUNTRACED | os.WNOHANG)
    news = 0, 0
    while True:
        try:
            pid, status = os.waitpid(-1, os.WUNTRACED | os.WNOHANG)
        except ChildProcessError:
            return news
        if pid == child:
            news = pid, status
        if not pid:
            return news


def _send(child: int, number: int) -> None:
    try:
        os.kill(child, number)
    except ProcessLookupError:
        return
