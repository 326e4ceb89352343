"""`install timer`: the machine's own scheduler calls us every hour. Files go through the same record as settings do."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence

from .. import __version__
from ..errors import NeedsRoot, SetupFailed
from ..lazy_dataclass import dataclass
from ..lifecycle import textfile, timers
from ..oskit.files import places
from ..sweep.weigh.unattended import refusal
from . import record, runtime, schedulers
from .apply import remove_unused_runtimes
from .edits import Edit, read
from .schedulers import CRON, LAUNCHD, SYSTEM_AGENTS, SYSTEM_UNITS, AskScheduler

TARGET = "timer"
_OURS = (b"what ended coding agents left", b"tmpwarden/lifecycle/tick.py", b"tmpwarden/metrics/tick.py",
         b"# tmpwarden clears these itself")  # fmt: skip
OF_ROOT = "installed by root, for all users"
_OBSERVE = "--observe"
TMPFILES = "/etc/tmpfiles.d/tmpwarden.conf"


@dataclass(frozen=True, slots=True)
class Scheduled:
    kind: str  # systemd, launchd, cron
    edits: tuple[Edit, ...]
    advice: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[Edit, ...]:
        return tuple(edit for edit in self.edits if edit.changes)


def install(
    *,
    system: bool = False,
    metrics: str = "",
    observe: bool = False,
    dry_run: bool = False,
    kind: str = "",
    call: AskScheduler | None = None,
) -> Scheduled:
    """`metrics`: a directory, checked by the caller, into which each run of the machine's timer writes its series.
    `observe`: it only logs what it would have removed."""
    if system and os.geteuid() != 0:
        raise NeedsRoot("install timer --system")
    kind, call = kind or schedulers.best(system=system), call or schedulers.ask_scheduler
    wanted = runtime.planned(for_all=system)
    command = [*_command(wanted, system, metrics), *([_OBSERVE] if observe else [])]
    edits = _edits(kind, command, system, call)
    if not dry_run:
        runtime.put(wanted)
        _write(edits, metrics)
        try:
            schedulers.enable(kind, edits, call)
        except SetupFailed:
            with contextlib.suppress(SetupFailed):  # half a timer would be called installed, and never run
                uninstall(call=call)
            raise
        if system:
            runtime.remove_others(wanted)
    return Scheduled(kind, tuple(edits), (*schedulers.advice(kind, system=system), *_advice(system)))


def uninstall(*, dry_run: bool = False, call: AskScheduler | None = None) -> Scheduled:
    call = call or schedulers.ask_scheduler
    edits = [_former(changed) for changed in _files()]
    kind = schedulers.kind_of([edit.path for edit in edits])
    edits += [schedulers.crontab_edit(None, {}, call)] if kind == CRON else schedulers.former_line(call)
    if not dry_run:
        schedulers.disable(kind, edits, call)
        for edit in edits:
            if edit.changes and edit.path.startswith("/"):
                record.put(edit)
        schedulers.forget(edits, call)
        record.forget(TARGET)
        remove_unused_runtimes()
        if any(schedulers.is_of_the_machine(edit.path) for edit in edits):
            runtime.remove_others(None)
    return Scheduled(kind, tuple(edits))


def is_there() -> bool:
    """A timer that this user has installed, whether or not our records remember it."""
    return record.load(TARGET) is not None or bool(_files()) or bool(schedulers.former_line(schedulers.ask_scheduler))


def _files() -> list[record.Changed]:
    if (known := record.load(TARGET)) is not None:
        return list(known.files)
    units, agents = os.path.join(os.path.dirname(places.config_dir()), "systemd/user"), "Library/LaunchAgents"
    paths = [f"{units}/tmpwarden.service", f"{units}/tmpwarden.timer", f"{places.home()}/{agents}/tmpwarden.plist"]
    return [record.Changed(path, "", None) for path in paths if any(mark in (read(path) or b"") for mark in _OURS)]


def state() -> str:
    known = record.load(TARGET)
    if known is None:
        return "absent" if _of_the_machine() is None else OF_ROOT
    return "installed" if known.version == __version__ else "outdated"


def only_observes(call: AskScheduler | None = None) -> bool:
    """Whether the timer that this user has installed removes nothing and only logs what it would have removed."""
    files = [read(changed.path) or b"" for changed in _files()]
    lines = [edit.before or b"" for edit in schedulers.former_line(call or schedulers.ask_scheduler)]
    texts = [*files, *(line for crontab in lines for line in crontab.splitlines())]
    return any(b"tick.py" in text and _OBSERVE.encode() in text for text in texts)


def activity(call: AskScheduler | None = None) -> str:
    """As `state`, but the scheduler itself is asked: "installed" only if it will really call us."""
    known, call = record.load(TARGET), call or schedulers.ask_scheduler
    if known is None:
        theirs = _of_the_machine()
        if theirs is None:
            return "absent"
        return "installed" if schedulers.is_active([theirs], call) else "not active"
    if state() != "installed":
        return "of an older version"
    paths = [changed.path for changed in known.files if not _is_textfile(changed.path)]  # its first run makes that
    if any(not os.path.exists(path) for path in paths):
        return "its files are gone"
    return "installed" if schedulers.is_active(paths, call) else "not active"


def _of_the_machine() -> str | None:
    """The timer that root has installed for everybody."""
    places_of_root = (f"{SYSTEM_UNITS}/tmpwarden.timer", f"{SYSTEM_AGENTS}/tmpwarden.plist")
    return next((path for path in places_of_root if os.path.exists(path)), None)


def _write(edits: Sequence[Edit], metrics: str) -> None:
    files = record.files_of(TARGET)
    for path in filter(_is_textfile, tuple(files)):
        if path != os.path.join(metrics, textfile.NAME):
            record.remove(path)  # nobody would write it again, and its last words would be told for ever
        del files[path]
    if metrics:
        path = os.path.join(metrics, textfile.NAME)
        files[path] = record.Changed(path, "", None)
    for edit in edits:
        if edit.changes and edit.path.startswith("/"):
            _make_readable_parent(edit.path)
            files[edit.path] = record.apply(edit, files.get(edit.path), _theirs(edit.before))
            if _is_public(edit.path):
                os.chmod(edit.path, 0o644)  # systemd complains of a unit that others cannot read
    record.save(record.Record(TARGET, __version__, files=tuple(files.values())))


def _is_textfile(path: str) -> bool:
    return os.path.basename(path) == textfile.NAME


def _is_public(path: str) -> bool:
    return path == TMPFILES or schedulers.is_of_the_machine(path)


def _make_readable_parent(path: str) -> None:
    if _is_public(path):
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)


def _command(wanted: runtime.Runtime, system: bool, metrics: str) -> list[str]:
    tick = os.path.join(wanted.directory, "tmpwarden", "metrics" if metrics else "lifecycle", "tick.py")
    options = ["--metrics", metrics] if metrics else []
    return [wanted.interpreter, "-I", "-S", tick, *(["--all-users"] if system else []), *options]


def _edits(kind: str, command: list[str], system: bool, call: AskScheduler) -> list[Edit]:
    environ = timers.variables_for({} if system else os.environ)
    if kind == CRON:
        return [schedulers.crontab_edit(command, environ, call)]
    former = schedulers.former_line(call)  # of a time when there was nothing better
    if kind == LAUNCHD:
        base = SYSTEM_AGENTS if system else os.path.join(places.home(), "Library/LaunchAgents")
        return [_edit(f"{base}/tmpwarden.plist", timers.launchd_plist(command, environ)), *former]
    base = SYSTEM_UNITS if system else os.path.join(os.path.dirname(places.config_dir()), "systemd/user")
    edits = [
        _edit(os.path.join(base, "tmpwarden.service"), timers.systemd_service(command, environ)),
        _edit(os.path.join(base, "tmpwarden.timer"), timers.systemd_timer()),
    ]
    if os.geteuid() == 0:
        edits.append(_edit(TMPFILES, timers.tmpfiles(("/tmp", "/var/tmp"))))
    return [*edits, *former]


def _edit(path: str, text: str) -> Edit:
    return Edit(path, read(path), text.encode())


def _former(changed: record.Changed) -> Edit:
    """Out again: what stood there before we came, if anything did."""
    return Edit(changed.path, read(changed.path), read(changed.backup) if changed.backup else None)


def _theirs(content: bytes | None) -> bytes | None:
    """What uninstall is to bring back: no file that an earlier version of ours wrote."""
    return None if content is None or any(mark in content for mark in _OURS) else content


def _advice(system: bool) -> tuple[str, ...]:
    why = refusal()
    yet = (f"It removes nothing yet: {why}.",) if why else ()
    if system or os.geteuid() == 0 or os.path.exists(TMPFILES) or not shutil.which("systemd-tmpfiles"):
        return yet
    once = f"As root: `echo 'x /tmp/tmpwarden-*' > {TMPFILES}` keeps the system from removing live temp directories."
    return (*yet, once)
