"""Who uses which path right now: one look at all processes, then thousands of questions."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator

from ...model.answers import Beginning, Held, Nobody, NotMeasured, Users
from ...model.sweep import Witness
from ...model.terms import WitnessKind
from .. import system
from . import procs
from .environs import TEMP_VARIABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_PER_PATH = 16  # a library that a thousand processes map needs no thousand names
_FEW_QUESTIONS = 8  # an index of all paths costs as much as twenty looks through them

Key = tuple[str, str]  # where it is: (device, path within the file system), or what stands for that path
Use = tuple[WitnessKind, int | None, str]  # how, by whom, the path or variable as seen


class Holders:
    """What one look at all processes saw. Paths are compared as (device, path within it), so names in other mount
    namespaces count too. Never seen: this process's own environment, and what it opened only to look at."""

    __slots__ = (
        "_arguments", "_asked", "_began", "_below", "_blind", "_commands", "_held", "_locate", "doubts", "in_the_deep",
        "lost", "processes", "sessions",
    )  # fmt: skip

    def __init__(self) -> None:
        self._locate: Callable[[str], Key | None] | None = None
        self._held: dict[Key, list[Use]] = {}
        self._asked = 0
        self._below: dict[Key, list[Key]] = {}
        self._commands: dict[int, str | None] = {}
        self._arguments: dict[int, tuple[bytes, ...]] | None = None
        self.processes: dict[int, procs.Process] = {}  # all that were there
        self.sessions: dict[str, dict[str, tuple[int, ...]]] = {}  # variable -> value -> pids that carry it
        self._blind: NotMeasured | None = NotMeasured("processes were not checked")  # nobody could be seen
        self.in_the_deep = ""  # a doubt about units alone that are deep enough: somebody uses too long a path
        self.lost: dict[str, str] = {}  # device -> a doubt about all that lies on it: somebody's mount of it is gone
        self.doubts: tuple[str, ...] = ()  # why somebody may have been missed, in words
        self._began: dict[str, Beginning] = {}  # doubt -> of the process whose variables alone are hidden

    @classmethod
    def look(
        cls,
        session_variables: Iterable[str] = (),
        *,
        exclude: Collection[int] = (),
        outside: bool = True,
        closely: bool = False,
        uses: bool = True,
    ) -> Holders:
        """One pass. `exclude`: our forked workers; this process itself needs no mention. `outside`: processes outside
        this pid namespace matter too. `closely`: threads with tables of their own are looked for. Without `uses` only
        who is there and what sessions they carry: nobody can be asked then who uses a path."""
        variables = tuple(session_variables)
        holders = cls()
        if system.looking.look(holders, variables, frozenset(exclude), outside=outside, closely=closely, uses=uses):
            return holders
        holders._blind = NotMeasured(system.looking.BLIND)
        if look_by_psutil(holders, variables):
            holders._locate = locate
        return holders

    @property
    def unseen(self) -> Nobody | NotMeasured:
        """Who may have been missed: the answer for whatever no witness speaks for."""
        return self.unseen_since(None)

    def unseen_since(self, since: Beginning | None) -> Nobody | NotMeasured:
        """The same for what a session left that began then: a process that was there before carries nothing of it."""
        if self._blind is not None:
            return self._blind
        doubts = [why for why in self.doubts if since is None or not self._was_there(why, since)]
        if not doubts:
            return Nobody()
        return NotMeasured(
            doubts[0],
            askable=system.looking.IS_ASKABLE,
            is_about_names=self._began.keys() >= set(doubts),
        )

    def _was_there(self, why: str, since: Beginning) -> bool:
        began = self._began.get(why)
        return began is not None and began[0] < since[0] and began[1] < since[1]

    def within(self, path: str, *, is_deep: bool = False, since: Beginning | None = None) -> Users:
        """Who uses `path` or something below it. `is_deep`: there are very long paths in it. `since`: when the session
        began that it belongs to."""
        located = self._locate(path) if self._locate else None
        if located is None:
            return NotMeasured("it is on no mount that this system lists") if self._blind is None else self._blind
        if by := self._witnesses(located):
            return Held(by)
        doubt = self.lost.get(located[0]) or (self.in_the_deep if is_deep else "")
        askable, unseen = system.looking.IS_ASKABLE, self.unseen_since(since)
        return NotMeasured(doubt, askable=askable) if doubt and isinstance(unseen, Nobody) else unseen

    def carriers(self, variable: str, value: str) -> Users:
        """Who has this value in its environment."""
        pids = self.sessions.get(variable, {}).get(value, ())
        detail = f"{variable}={value}"
        by = tuple(Witness(WitnessKind.SESSION, detail, pid, self.command(pid)) for pid in pids)
        return Held(by) if by else self.unseen

    def command(self, pid: int) -> str | None:
        if pid not in self._commands:
            self._commands[pid] = procs.described(pid, self.processes.get(pid))
        return self._commands[pid]

    @property
    def arguments(self) -> dict[int, tuple[bytes, ...]]:
        """The command lines of all processes but this one and the kernel's, read when first asked for."""
        if self._arguments is None:
            programs = (one.pid for one in self.processes.values() if not one.is_kernel_thread)
            self._arguments = {pid: self._argument(pid) for pid in programs if pid != os.getpid()}
        return self._arguments

    def add(self, place: Key, use: Use) -> None:
        everyone = self._held.setdefault(place, [])
        if len(everyone) < MOST_PER_PATH and use not in everyone:
            everyone.append(use)

    def located_by(self, locate: Callable[[str], Key | None]) -> None:
        """How a path of ours becomes a place."""
        self._locate = locate

    def doubt(self, why: str, began: Beginning | None = None) -> None:
        """`began`: when a process did whose variables are all that is hidden."""
        self.doubts = (*self.doubts, why)
        if began is not None:
            self._began[why] = began

    def ended_well(self, trouble: OSError | None = None) -> None:
        """All could be listed, and only `doubts` say who may have been missed; or why it could not."""
        self._blind = NotMeasured(f"the processes cannot be listed: {trouble.strerror}") if trouble else None

    def _argument(self, pid: int) -> tuple[bytes, ...]:
        try:
            return procs.arguments(pid)
        except procs.ENDED:
            return ()
        except OSError as error:
            self.doubt(f"the command line of process {pid} cannot be read: {error.strerror}")
            return ()

    def _witnesses(self, place: Key) -> tuple[Witness, ...]:
        self._asked += 1
        if self._asked <= _FEW_QUESTIONS:
            below = [key for key in self._held if _lies_in(key, place)]
        else:
            self._below = self._below or _index(self._held)
            below = self._below.get(place, [])
        return tuple(self._witness(use) for key in below for use in self._held[key])

    def _witness(self, use: Use) -> Witness:
        kind, pid, detail = use
        return Witness(kind, detail, pid, None if pid is None else self.command(pid))


def _lies_in(key: Key, place: Key) -> bool:
    return key[0] == place[0] and (key[1] == place[1] or key[1].startswith(place[1].rstrip("/") + "/"))


def _index(held: Iterable[Key]) -> dict[Key, list[Key]]:
    """Every ancestor of every held path -> the held paths at or below it."""
    below: dict[Key, list[Key]] = {}
    for key in held:
        device, path = key
        while True:
            below.setdefault((device, path), []).append(key)
            if path in ("/", ""):
                break
            path = path[: path.rfind("/")] or "/"
    return below


def look_by_psutil(holders: Holders, variables: tuple[str, ...]) -> bool:
    """For systems without /proc: fill `holders` with what psutil sees, by names and never complete. False
    if it is not installed or sees nobody."""
    try:
        psutil: Any = importlib.import_module("psutil")
    except ImportError:
        return False
    try:
        processes = list(psutil.process_iter())
    except Exception:  # Linux with an empty /proc: an IndexError of its own
        return False
    for process in processes:
        if process.pid == os.getpid():
            continue
        for kind, path in _held(process, psutil.Error):
            holders.add(locate(path), (kind, process.pid, path))
        _note_environment(holders, process, variables, psutil.Error)
    return True


def locate(path: str) -> tuple[str, str]:
    """Without mount tables one name is one place."""
    try:
        return "", os.path.realpath(path)
    except OSError:  # a link that cannot be read: the name itself will have to do
        return "", os.path.normpath(path)


def _held(process: Any, failure: type[Exception]) -> Iterator[tuple[WitnessKind, str]]:
    """Each question may be refused on its own."""
    questions: tuple[tuple[WitnessKind, Callable[[], list[str]]], ...] = (
        (WitnessKind.WORKING_DIRECTORY, lambda: [process.cwd()]),
        (WitnessKind.EXECUTABLE, lambda: [process.exe()]),
        (WitnessKind.OPEN_FILE, lambda: [file.path for file in process.open_files()]),
        (WitnessKind.MAPPED_FILE, lambda: [region.path for region in process.memory_maps()]),
    )
    for kind, ask in questions:
        try:
            paths = ask()
        except (failure, OSError, AttributeError):  # macOS has no memory_maps
            continue
        yield from ((kind, path) for path in paths if path and path.startswith("/") and path != "/")


def _note_environment(holders: Holders, process: Any, variables: tuple[str, ...], failure: type[Exception]) -> None:
    try:
        environ: dict[str, str] = process.environ()
    except (failure, OSError):
        return
    for name in map(os.fsdecode, TEMP_VARIABLES):
        if (value := environ.get(name, "")).startswith("/"):
            holders.add(locate(value), (WitnessKind.TMPDIR, process.pid, f"{name}={value}"))
    for name in variables:
        if session := environ.get(name):
            sessions = holders.sessions.setdefault(name, {})
            sessions[session] = (*sessions.get(session, ()), process.pid)
