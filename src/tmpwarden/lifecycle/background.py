"""Work that a hook starts and does not wait for: a detached child of the same interpreter (law 10: no daemon).

Importing this costs next to nothing; what the work itself needs is imported in the child.
"""

import gc
import posix

TYPE_CHECKING = False  # typing itself would cost more than the hook
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..model.belongings import Lease
    from ..model.request import Request
    from ..sweep.prepared import CleanResult
    from .cleared import Cleared

MARKER_LIMIT_S = 8.0  # a backlog of any size: the next job goes on
CLEAN_LIMIT_S = 60.0
_LOCK_TRIES, _LOCK_PAUSE_S = 20, 0.5  # who cleans while a root fills may have looked at it too early
_UNREPORTED = "relieved"  # in the state directory: a sentence for the next session that starts
_LONGEST_WORD = 600
JUST_DONE = 0.5  # of the time between two cleans: within it, the last clean has done it for all callers


def detach(work: "Callable[[], object]", *, keep: "Iterable[int]" = ()) -> bool:
    """Run `work` in a process of its own session, with none of our descriptors but those of `keep`: an agent waits for
    our stdout, and a server that starts again could not bind a port that its last words still hold."""
    from ..oskit.proc.forked import forked, reap

    def alone() -> None:
        _let_go(keep)
        _forget_handlers()
        gc.enable()  # hooks run without
        work()

    def leave() -> None:
        posix.setsid()
        forked(alone)

    try:
        reap(forked(leave))
    except OSError:
        return False
    return True


def _let_go(keep: "Iterable[int]") -> None:
    """No pipe of the agent's stays open, no directory of the user's stays in use, no core is taken from them."""
    null = posix.open("/dev/null", posix.O_RDWR)
    for descriptor in (0, 1, 2):
        posix.dup2(null, descriptor)
    first = 3
    for descriptor in sorted(keep):
        posix.closerange(first, descriptor)
        first = descriptor + 1
    posix.closerange(first, max(first, posix.sysconf("SC_OPEN_MAX")))
    posix.chdir("/")
    posix.nice(10)


def _forget_handlers() -> None:
    """A signal that ends the whole group must not run the host's shutdown a second time, in here."""
    import _signal  # type: ignore[import-not-found]

    # its pipe belongs to an event loop of the host, which would wake up for our signals
    _signal.set_wakeup_fd(-1)
    for number in _signal.valid_signals():
        if callable(_signal.getsignal(number)) or number == _signal.SIGCHLD:
            _signal.signal(number, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())


class Deadline:
    """Ends what runs too long on a starved machine: first as Ctrl-C would, a second later for good.

    Both are safe at any moment: a run that is cut off is settled by the next one (law 8).
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._is_late = False

    def __enter__(self) -> None:
        import signal

        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self._seconds, 1.0)

    def __exit__(self, *_: object) -> None:
        import signal

        signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, *_: object) -> None:
        if self._is_late:
            posix._exit(0)
        self._is_late = True
        raise KeyboardInterrupt


class Alone:
    """The one background job of this user. A second one has nothing to add and leaves at once."""

    def __init__(self, lock_file: str) -> None:
        self._lock_file = lock_file
        self._fd = -1

    def __enter__(self) -> bool:
        import errno
        import fcntl

        try:
            self._fd = posix.open(self._lock_file, posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            # on a full disk neither the lock file nor its directory can be made, and this job makes room; a clean has a
            # lock of its own
            return problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.ENOENT)
        return True

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            posix.close(self._fd)


def has_marker(shape: tuple[str, str]) -> bool:
    """Whether any temp root holds a name of this shape: the usual answer is no, and costs one listing."""
    from ..oskit.files.places import temp_roots

    prefix, suffix = shape
    for root in temp_roots():
        try:
            with posix.scandir(root) as entries:
                if any(entry.name.startswith(prefix) and entry.name.endswith(suffix) for entry in entries):
                    return True
        except OSError:
            continue
    return False


def clear_markers(row: str, *, observe: bool = False) -> int:
    """Take stale single files of one row away. How many went."""
    from ..model.request import Request
    from ..model.terms import Outcome

    with Deadline(MARKER_LIMIT_S + 1):
        receipts = _clean(Request(rows=(row,), unattended=True, time_limit_s=MARKER_LIMIT_S), observe).receipts
    return sum(receipt.entries for receipt in receipts if receipt.outcome is Outcome.REMOVED)


def has_dead_scratch() -> bool:
    """Whether a process that a scratch was leased to is gone: a killed session said no good-bye."""
    from ..errors import TmpwardenError
    from ..leases.scratch import read_all
    from ..oskit.files.places import temp_roots
    from ..oskit.proc.procs import start_ticks

    try:
        leases = read_all(tuple(temp_roots()))
    except TmpwardenError:  # an unsafe root: the command that wants to use it says so
        return False
    owners = [((lease.pid, lease.start), *lease.others) for lease in leases]
    return any(all(start_ticks(pid) != start for pid, start in owned) for owned in owners)


def clear_scratches(*, observe: bool = False) -> None:
    """Take the scratches of dead sessions away, whether or not a clean of everything is due."""
    from ..model.request import Request
    from .release import OF_SESSIONS

    with Deadline(CLEAN_LIMIT_S + 10):
        _clean(Request(rows=OF_SESSIONS, unattended=True, time_limit_s=CLEAN_LIMIT_S), observe)


def clear_the_dead(*, observe: bool = False, only_if_short: bool = False) -> "Cleared":
    """A whole unattended clean, as `[periodic]` of config.toml wants it, unless somebody has just done it.

    A root that is short of room does not wait; `only_if_short`: only such a root is a reason."""
    import time

    from ..catalogue.settings import load_settings
    from ..model.request import Request
    from ..oskit.files.places import state_dir
    from ..sweep.store import ahead
    from ..sweep.weigh.consent import is_due
    from . import pressure
    from .cleared import Cleared, held_back

    _forget_old_notes(state_dir(), time.time())
    _keep_leases_young(time.time())
    ahead.make_for(())
    settings = load_settings()
    every_s = float(settings.periodic_every_s)
    if not settings.periodic_enabled:
        return Cleared(every_s)
    short = pressure.shortages(settings)
    is_wanted = not only_if_short and is_due(state_dir(), every_s * JUST_DONE, time.time_ns())
    if not (short or is_wanted):
        return Cleared(every_s)
    with Deadline(CLEAN_LIMIT_S + 10):
        for _ in range(_LOCK_TRIES):
            result = _clean(Request(unattended=True, time_limit_s=CLEAN_LIMIT_S), observe)
            if result.stopped != "lock-held" or not (short and pressure.shortages(settings)):
                break
            time.sleep(_LOCK_PAUSE_S)
    if not observe:
        from .orphans import end_unattended

        end_unattended(settings)
    if settings.notify_command:
        from .notify import tell_if_full

        tell_if_full(settings, start=detach)
    from .braking import look_since_last_time

    growing = look_since_last_time(settings, may_act=not observe)
    relief = "" if observe else pressure.sentence(short, result, held_back(result), settings)
    return Cleared.of(result, every_s, growing, relief)


def what_grows(*, observe: bool = False) -> "tuple[int, list[str]]":
    """(how much room may go before the next look, what runs away and what was done about it, in sentences)."""
    from ..catalogue.settings import load_settings
    from .braking import look_since_last_time

    with Deadline(CLEAN_LIMIT_S):
        warnings = look_since_last_time(load_settings(), may_act=not observe, closely=True)
    return growth_step(), warnings


def growth_step() -> int:
    from ..catalogue.settings import load_settings
    from .braking import step_bytes

    return step_bytes(load_settings())


def _forget_old_notes(state: str, now_s: float) -> None:
    """What commands were, as the guard and the births wrote it down: no longer than 90 days."""
    from ..guard.log import audit
    from ..leases import births

    try:
        audit.forget_old(state, now_s)
        births.forget_old(state, now_s)
    except OSError:  # read-only, or full: the next job tries again
        pass


def _keep_leases_young(now_s: float) -> None:
    from ..errors import TmpwardenError
    from ..leases.scratch import keep_young
    from ..oskit.files.places import temp_roots

    try:
        keep_young(tuple(temp_roots()), now_s)
    except TmpwardenError:  # an unsafe root: the command that wants to use it says so
        return


def _clean(request: "Request", observe: bool) -> "CleanResult":
    """Clean; or, observing, only write down what would have gone (`tmpwarden log --observed`)."""
    from ..errors import LockHeld
    from ..sweep.compose import cleaned
    from ..sweep.prepared import CleanResult
    from ..sweep.store.journal import Journal

    try:
        result = cleaned(request, dry_run=observe)
    except LockHeld:
        return CleanResult(stopped="lock-held")  # somebody cleans right now: the next job is soon enough
    if observe and result.planned:
        from ..oskit.files.places import state_dir
        from ..sweep.store import history

        journal = Journal(state_dir())
        journal.open()
        for verdict in result.planned:
            journal.note(history.KIND, **history.fields(verdict))
    return result


def leave_word(state: str, text: str) -> None:
    """A sentence for the next session that starts, in place of an older one. A full disk keeps it unsaid."""
    from ..small_files import REPLACED, write

    write(f"{state}/{_UNREPORTED}", text.encode("utf-8", "replace")[:_LONGEST_WORD], REPLACED)


def take_word(state: str) -> str:
    """The sentence that waits, which then waits no more."""
    from ..small_files import read

    path = f"{state}/{_UNREPORTED}"
    words = read(path, _LONGEST_WORD)
    if not words:
        return ""
    try:
        posix.truncate(path, 0)  # its inode stays: on a full disk there might be none for the next one
    except OSError:
        return ""
    return words.decode("utf-8", "replace").strip()


def has_ended(pid: int, start: int | None, *, within_s: float = 10.0) -> bool:
    """Whether the process is gone, waiting a little for one that is about to end."""
    import time

    from ..oskit.proc.procs import start_ticks

    until = time.monotonic() + within_s
    while start_ticks(pid) == start:
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def give_back(lease: "Lease", *, observe: bool = False) -> None:
    """The scratch of a session that said that it is over, as a teardown would take it; observing, only told."""
    if not observe:
        from .release import release_scratches

        release_scratches([lease])
        return
    from ..model.request import Request, Thresholds

    paths = frozenset({lease.path})
    _clean(Request(unattended=True, only_paths=paths, thresholds=Thresholds(named=paths)), observe)
