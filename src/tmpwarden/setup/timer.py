"""`install timer`: the machine's own scheduler calls us every hour. Files go through the same record as settings do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .. import __version__
from ..errors import SetupFailed
from ..lifecycle import timers
from ..oskit.files import places
from . import record, runtime
from .apply import remove_unused_runtimes
from .edits import Edit, read

Call = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]
TARGET = "timer"
_OURS = (b"what ended coding agents left", b"tmpwarden/lifecycle/tick.py", b"# tmpwarden clears these itself")
SYSTEM_UNITS, TMPFILES = "/etc/systemd/system", "/etc/tmpfiles.d/tmpwarden.conf"


@dataclass(frozen=True, slots=True)
class Scheduled:
    kind: str  # systemd, launchd, cron
    edits: tuple[Edit, ...]
    advice: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[Edit, ...]:
        return tuple(edit for edit in self.edits if edit.changes)


def scheduler() -> str:
    """What this machine has, the best first."""
    if os.path.isdir("/run/systemd/system") and shutil.which("systemctl"):
        return "systemd"
    if sys.platform == "darwin" and shutil.which("launchctl"):
        return "launchd"
    if shutil.which("crontab"):
        return "cron"
    raise SetupFailed(
        "this machine has neither systemd nor launchd nor cron", hint="call `tmpwarden clean --if-due 1h --yes`"
    )


def install(*, system: bool = False, dry_run: bool = False, kind: str = "", call: Call | None = None) -> Scheduled:
    kind, call = kind or scheduler(), call or _call
    wanted = runtime.planned()
    edits = _edits(kind, _command(wanted, system), system, call)
    if not dry_run:
        runtime.put(wanted)
        known = record.load(TARGET)
        files = {changed.path: changed for changed in known.files} if known else {}
        for edit in edits:
            if edit.changes and edit.path.startswith("/"):
                files[edit.path] = record.apply(edit, files.get(edit.path), _theirs(edit.before))
        record.save(record.Record(TARGET, __version__, files=tuple(files.values())))
        _enable(kind, edits, system, call)
    return Scheduled(kind, tuple(edits), _advice(system))


def uninstall(*, dry_run: bool = False, kind: str = "", call: Call | None = None) -> Scheduled:
    kind, call = kind or scheduler(), call or _call
    known = record.load(TARGET)
    edits = [_former(changed) for changed in known.files] if known else []
    if kind == "cron":
        edits += _cron_edits(None, call)
    if not dry_run:
        _disable(kind, edits, call)
        for edit in edits:
            if edit.changes and edit.path.startswith("/"):
                record.put(edit)
        record.forget(TARGET)
        remove_unused_runtimes()
    return Scheduled(kind, tuple(edits))


def state() -> str:
    known = record.load(TARGET)
    if known is None:
        return "absent"
    return "installed" if known.version == __version__ else "outdated"


def activity(call: Call | None = None) -> str:
    """As `state`, but the scheduler itself is asked: "installed" only if it will really call us."""
    known, call = record.load(TARGET), call or _call
    if known is None or state() != "installed":
        return state() if known is None else "of an older version"
    paths = [changed.path for changed in known.files]
    if any(not os.path.exists(path) for path in paths):
        return "its files are gone"
    if any(path.endswith(".timer") for path in paths):
        scope = [] if any(path.startswith(SYSTEM_UNITS) for path in paths) else ["--user"]
        is_active = call(["systemctl", *scope, "is-active", "--quiet", "tmpwarden.timer"]).returncode == 0
    elif any(path.endswith(".plist") for path in paths):
        is_active = call(["launchctl", "list", "tmpwarden"]).returncode == 0
    else:
        is_active = "tick.py" in call(["crontab", "-l"]).stdout
    return "installed" if is_active else "not active"


def _command(wanted: runtime.Runtime, system: bool) -> list[str]:
    tick = os.path.join(wanted.directory, "tmpwarden", "lifecycle", "tick.py")
    return [wanted.interpreter, "-I", "-S", tick, *(["--all-users"] if system else [])]


def _edits(kind: str, command: list[str], system: bool, call: Call) -> list[Edit]:
    environ = timers.carried({} if system else os.environ)
    if kind == "cron":
        return _cron_edits(command, call)
    if kind == "launchd":
        path = os.path.join(places.home(), "Library/LaunchAgents/tmpwarden.plist")
        return [_edit(path, timers.launchd_plist(command, environ))]
    base = SYSTEM_UNITS if system else os.path.join(os.path.dirname(places.config_dir()), "systemd/user")
    edits = [
        _edit(os.path.join(base, "tmpwarden.service"), timers.systemd_service(command, environ)),
        _edit(os.path.join(base, "tmpwarden.timer"), timers.systemd_timer()),
    ]
    if os.geteuid() == 0:
        edits.append(_edit(TMPFILES, timers.tmpfiles(("/tmp", "/var/tmp"))))
    return edits


def _edit(path: str, text: str) -> Edit:
    return Edit(path, read(path), text.encode())


def _former(changed: record.Changed) -> Edit:
    """Out again: what stood there before we came, if anything did."""
    return Edit(changed.path, read(changed.path), read(changed.backup) if changed.backup else None)


def _theirs(content: bytes | None) -> bytes | None:
    """What uninstall is to bring back: no file that an earlier version of ours wrote."""
    return None if content is None or any(mark in content for mark in _OURS) else content


def _cron_edits(command: list[str] | None, call: Call) -> list[Edit]:
    before = _crontab(call)
    after = timers.crontab(before, command, timers.carried(os.environ))
    old, new = (text.encode("utf-8", "surrogateescape") for text in (before, after))
    return [Edit("crontab", old, new)]


def _crontab(call: Call) -> str:
    """What the user has. Raises SetupFailed where that cannot be told: what we write replaces all of it."""
    said = call(["crontab", "-l"])
    is_empty = any(words in said.stderr.lower() for words in ("no crontab", "no such file"))
    if said.returncode and not is_empty:
        raise SetupFailed(f"`crontab -l` failed: {said.stderr.strip() or said.returncode}")
    return "" if said.returncode else said.stdout


def _enable(kind: str, edits: list[Edit], system: bool, call: Call) -> None:
    if kind == "systemd":
        scope = [] if system else ["--user"]
        _must(call, ["systemctl", *scope, "daemon-reload"])
        _must(call, ["systemctl", *scope, "enable", "--now", "tmpwarden.timer"])
    elif kind == "launchd":
        call(["launchctl", "unload", edits[0].path])
        _must(call, ["launchctl", "load", "-w", edits[0].path])
    else:
        _set_crontab(edits[0], call)


def _disable(kind: str, edits: list[Edit], call: Call) -> None:
    if kind == "systemd":
        is_system = any(edit.path.startswith(SYSTEM_UNITS) for edit in edits)
        call(["systemctl", *([] if is_system else ["--user"]), "disable", "--now", "tmpwarden.timer"])
    elif kind == "launchd":
        for edit in edits:
            call(["launchctl", "unload", "-w", edit.path])
    else:
        for edit in edits:
            if edit.path == "crontab" and edit.changes:
                _set_crontab(edit, call)


def _set_crontab(edit: Edit, call: Call) -> None:
    draft = os.path.join(record.directory(), "crontab.new")
    record.put(Edit(draft, read(draft), edit.after))
    try:
        _must(call, ["crontab", draft])
    finally:
        record.remove(draft)


def _advice(system: bool) -> tuple[str, ...]:
    if system or os.geteuid() == 0 or not shutil.which("systemd-tmpfiles"):
        return ()
    return (f"For root, once: `echo 'x /tmp/tmpwarden-*' > {TMPFILES}` keeps the system's ageing off live scratches.",)


def _must(call: Call, argv: Sequence[str]) -> None:
    done = call(argv)
    if done.returncode:
        raise SetupFailed(f"`{' '.join(argv)}` failed: {done.stderr.strip() or done.returncode}")


def _call(argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        done = subprocess.run(list(argv), capture_output=True, timeout=60, check=False)
        said = [part.decode("utf-8", "surrogateescape") for part in (done.stdout, done.stderr)]  # to the byte
        return subprocess.CompletedProcess(done.args, done.returncode, *said)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(list(argv), 1, "", str(error))
