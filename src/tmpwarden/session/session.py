"""One run of a program and the temp directory it owns: `with tmpwarden.session("mycli") as s:`."""

from __future__ import annotations

import functools
import os
import time

from ..leases import scratch
from . import leftovers, signals
from .children import Children, communicate
from .directory import SessionDirectory, check_app, forget_root, make_directory, open_root, temp_dir
from .envelope import HandOver, make_hand_over
from .private import Folder, check_name, explained, make_file, make_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Concatenate, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")


# The sessions that are open in this process, and what a forked child forgets of them.

LIVE: dict[int, Session] = {}  # by id()


def _forget_after_fork() -> None:
    for one in list(LIVE.values()):
        one.disown()
    LIVE.clear()
    signals.forget_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)


class Session:
    """A temp directory for one run of your program: removed when the block ends, however it ends.

    Use it as `with tmpwarden.session("mycli") as s:`, or with `async with`. What a killed run leaves is removed by the
    next one.

    app        the name of your program: up to 32 letters, digits, dots, dashes and underscores
    tmp        where, instead of TMPDIR, TEMP, TMP or /tmp
    grace      seconds that child processes get between SIGTERM and SIGKILL
    on_cancel  called with one line of JSON when a signal ends the session; pass `print`

    Opening it raises errors.NoSpace on a full disk, errors.UnsafeScratch where the place is not safe, and
    errors.BadArgument for a wrong name.

    Example:

        import tmpwarden

        with tmpwarden.session("mycli") as s:
            work = s.file("work.txt")
            report = s.hand_over("report.txt", keep="10m")
            s.run(["sort", "-o", report, work], check=True)
            print(s.envelope({"lines": 0}))
    """

    def __init__(
        self,
        app: str,
        *,
        tmp: str | os.PathLike[str] | None = None,
        grace: float = 5.0,
        on_cancel: Callable[[str], object] | None = None,
    ) -> None:
        check_app(app)
        self.app = app
        self._tmp = os.fspath(tmp) if tmp is not None else None
        self._grace_s = grace
        self._on_cancel = on_cancel
        self._directory: SessionDirectory | None = None
        self._path: str | None = None
        self._owner_pid = 0
        self._is_watched = False
        self._started_s = 0.0
        self._children = Children()
        self._hand_overs: list[HandOver] = []

    # -- what the program uses --

    @property
    def path(self) -> str:
        """The directory: new, and open to nobody else (mode 0700)."""
        if self._path is None:
            raise RuntimeError("the session is not open yet: use it in a `with` block")
        return self._path

    def __fspath__(self) -> str:
        return self.path

    @property
    def env(self) -> dict[str, str]:
        """This process's environment with TMPDIR, TMP and TEMP pointing here, for children."""
        return {**os.environ, "TMPDIR": self.path, "TMP": self.path, "TEMP": self.path}

    def file(self, name: str) -> str:
        """A new, empty file in the directory (mode 0600). Raises FileExistsError if the name is taken."""
        return self._make(name, lambda folder: os.close(make_file(folder, name)))

    def dir(self, name: str) -> str:
        """A new directory in it (mode 0700). Raises FileExistsError if the name is taken."""
        return self._make(name, lambda folder: make_folder(folder, name).close())

    def _make(self, name: str, make: Callable[[Folder], None]) -> str:
        check_name(name)
        folder = self._held().folder
        try:
            make(folder)
        except FileExistsError:
            raise
        except OSError as error:
            raise explained(error, folder.path) from None
        return folder.join(name)

    def hand_over(self, name: str, keep: float | str = 300) -> str:
        """A new, empty file for your caller (mode 0600). It stays for `keep` ("10m", or seconds) after the end."""
        held = self._held()
        path = make_hand_over(held.root, held.name, name, keep)
        self._hand_overs.append(path)
        return path.path

    def envelope(
        self,
        data: object = None,
        *,
        error: object = None,
        warnings: Iterable[str] = (),
        meta: Mapping[str, object] | None = None,
    ) -> str:
        """The answer of your program as one line of JSON. It names every file handed over, and how to remove it."""
        from .envelope import response

        full_meta = {**self._meta(), **(meta or {})}
        return response(
            data, error, warnings=warnings, meta=full_meta, hand_overs=tuple(self._hand_overs), session_path=self.path
        )

    def popen(self, argv: Sequence[str | os.PathLike[str]], **options: Any) -> subprocess.Popen[Any]:
        """subprocess.Popen with `env=self.env`. If it still runs when the session ends, it is stopped first."""
        self._held()
        with signals.uninterrupted(self._is_watched):  # between fork and our note of it a signal would lose the child
            child = self._children.start(argv, self.env, options)
        signals.deliver_pending()
        return child

    def run(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        input: Any = None,  # noqa: A002 - the names of subprocess.run
        capture_output: bool = False,
        timeout: float | None = None,
        check: bool = False,
        **options: Any,
    ) -> subprocess.CompletedProcess[Any]:
        """subprocess.run with `env=self.env`, for a child that must not outlive the session."""
        import subprocess

        if input is not None:
            options["stdin"] = subprocess.PIPE
        if capture_output:
            options["stdout"] = options["stderr"] = subprocess.PIPE
        child = self.popen(argv, **options)
        try:
            out, err = communicate(child, input, timeout)
        except BaseException as error:
            with signals.uninterrupted(self._is_watched):
                self._children.stop(self._grace_s, child, is_interrupt=isinstance(error, KeyboardInterrupt))
            if isinstance(error, subprocess.TimeoutExpired):
                error.output, error.stderr = child.communicate()
            raise
        result = subprocess.CompletedProcess(child.args, child.returncode, out, err)
        if check:
            result.check_returncode()
        return result

    # -- its life --

    def __enter__(self) -> Session:
        if self._path is not None:
            raise RuntimeError("a session is opened once; call tmpwarden.session() again for another")
        self._started_s = time.monotonic()
        self._is_watched = signals.begin()
        try:
            with signals.uninterrupted(self._is_watched):
                self._directory = open_directory(self.app, temp_dir(self._tmp))
                self._path, self._owner_pid = self._directory.folder.path, os.getpid()
                LIVE[id(self)] = self
                signals.on_leaving_at_once(id(self), self._children.kill)
            signals.deliver_pending()
            if self._tmp is not None:  # no run of tmpwarden would look there by itself
                scratch.note_root(temp_dir(self._tmp))
        except BaseException as error:
            self._leave(error)
            raise
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._leave(error)

    async def __aenter__(self) -> Session:
        return self.__enter__()

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._leave(error)

    def _leave(self, error: BaseException | None) -> None:
        """Children, directory, last word, handlers: in this order, whatever fails on the way."""
        if self._owner_pid not in (0, os.getpid()):
            return  # we are a child of the owner: nothing here is ours
        signum = None
        with signals.uninterrupted(self._is_watched):
            if self._is_watched:
                signum = signals.leaving(error)
            self._children.stop(self._grace_s, is_interrupt=isinstance(error, KeyboardInterrupt))
            self._remove()
            if signum is not None:
                self._say_cancelled(signals.name_of(signum))
        self._unwatch(error, signum)

    def _remove(self) -> None:
        now_s = time.time()
        for one in self._hand_overs:
            one.start_clock(now_s)
        held, self._directory = self._directory, None
        if held is not None:
            held.give_back()
        LIVE.pop(id(self), None)
        signals.on_leaving_at_once(id(self), None)

    def _say_cancelled(self, signal_name: str) -> None:
        if self._on_cancel is None:
            return
        from .envelope import cancelled

        try:
            self._on_cancel(cancelled(signal_name, self._meta()))
        except (OSError, ValueError):  # nobody reads our stdout any more
            return

    def _unwatch(self, error: BaseException | None, signum: int | None) -> None:
        if not self._is_watched:
            return
        self._is_watched = False
        is_ours = signum is not None and not signals.hosts_own(signum) and signals.is_last()
        try:
            signals.deliver_pending()
        finally:
            signals.end()
        if is_ours and isinstance(error, KeyboardInterrupt):
            raise SystemExit(130) from None

    def _meta(self) -> dict[str, object]:
        return {"duration_ms": round((time.monotonic() - self._started_s) * 1000)}

    def _held(self) -> SessionDirectory:
        if self._owner_pid not in (0, os.getpid()):
            raise RuntimeError(
                f"this session belongs to process {self._owner_pid}, which forked this one; open another here"
            )
        if self._directory is None:
            raise RuntimeError("the session is not open: use it inside its `with` block")
        return self._directory

    def disown(self) -> None:
        """For tmpwarden itself, in a forked child: close its copies of our descriptors. The lock stays the owner's."""
        held, self._directory = self._directory, None
        self._children.disown()
        self._is_watched = False
        if held is not None:
            held.let_go()


# From the name of an app to a directory of its own: the root, what the dead left in it, the directory.

_TRIES = 10  # a run that failed to enter may remove the root it made while we stand in it


def open_directory(app: str, tmp: str) -> SessionDirectory:
    """First clear what the dead left: on a full disk that may be the room we need."""
    for _ in range(_TRIES):
        root, is_new = open_root(app, tmp)
        try:
            if not is_new:
                leftovers.clear(root, now_s=time.time())
            return make_directory(root, app)
        except BaseException as error:
            root.close()
            if is_new:
                forget_root(app, tmp)
            if not isinstance(error, FileNotFoundError):
                raise
    raise explained(FileNotFoundError(2, "it keeps being removed while it is created"), os.path.join(tmp, app))


# `@tmpwarden.in_session("mycli")`: a function, async or not, that runs in a session of its own.

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
