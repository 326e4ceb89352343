"""systemd, launchd and cron: which one this machine has for us, and how each is told to start and to stop."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence

from ..errors import SetupFailed
from ..lifecycle import timers
from ..oskit import system as border
from ..oskit.files import places
from . import record
from .edits import Edit, read

SYSTEMD, LAUNCHD, CRON = "systemd", "launchd", "cron"
SYSTEM_UNITS, SYSTEM_AGENTS = "/etc/systemd/system", "/Library/LaunchDaemons"
CRONTAB = "crontab"  # the path of an edit that is no file
BY_HAND = "tmpwarden clean --if-due 1h --yes"
_BOOTED = "/run/systemd/system"  # only where systemd is pid 1
_UNIT = "tmpwarden.timer"


def best(*, system: bool) -> str:
    """What will really call us. A user's systemd runs only while that user is logged in, or lingers."""
    has_systemd = os.path.isdir(_BOOTED) and shutil.which("systemctl")
    if has_systemd and (system or runtime_dir()):
        return SYSTEMD
    if border.customs.HAS_LAUNCHD and shutil.which("launchctl"):
        return LAUNCHD
    if places.crontab_program():
        return CRON
    if has_systemd:
        hint = f"run `loginctl enable-linger {places.own_name()}` as root, then run this again"
        raise SetupFailed(f"no systemd of {places.own_name()} is running, and this machine has no cron", hint=hint)
    raise SetupFailed("this machine has no systemd, launchd or cron", hint=f"call `{BY_HAND}`")


def advice(kind: str, *, system: bool) -> tuple[str, ...]:
    """What a person should know about the choice."""
    if kind == CRON and shutil.which("systemctl") and not system:
        start_one = f"`loginctl enable-linger {places.own_name()}`, run as root, starts one"
        return (f"No systemd of {places.own_name()} is running ({start_one}): cron is used instead.",)
    if kind == SYSTEMD and not system and not lingers():
        return ("It runs while you are logged in; `loginctl enable-linger` keeps it running after that.",)
    return ()


def kind_of(paths: Sequence[str]) -> str:
    """What an earlier install used, by the files that it wrote."""
    if any(path.endswith(".timer") for path in paths):
        return SYSTEMD
    return LAUNCHD if any(path.endswith(".plist") for path in paths) else CRON


def is_of_the_machine(path: str) -> bool:
    return path.startswith((f"{SYSTEM_UNITS}/", f"{SYSTEM_AGENTS}/"))


def _scopes(edits: Sequence[Edit]) -> list[list[str]]:
    """Of the timers among these files: the machine's systemd, this user's, or (an install after another) both."""
    units = [edit.path for edit in edits if edit.path.endswith(".timer")]
    is_system = {is_of_the_machine(path) for path in units}
    return [[] if system else ["--user"] for system in sorted(is_system)]


def enable(kind: str, edits: Sequence[Edit], call: AskScheduler) -> None:
    if kind == SYSTEMD:
        [scope] = _scopes(edits)
        _must(call, ["systemctl", *scope, "daemon-reload"])
        _must(call, ["systemctl", *scope, "enable", "--now", _UNIT])
    elif kind == LAUNCHD:
        call(["launchctl", "unload", edits[0].path])
        _must(call, ["launchctl", "load", "-w", edits[0].path])
    set_crontab(edits, call)


def disable(kind: str, edits: Sequence[Edit], call: AskScheduler) -> None:
    for scope in _scopes(edits):
        call(["systemctl", *scope, "disable", "--now", _UNIT])
    if kind == LAUNCHD:
        for edit in edits:
            call(["launchctl", "unload", "-w", edit.path])
    set_crontab(edits, call)


def forget(edits: Sequence[Edit], call: AskScheduler) -> None:
    """After the files are gone: systemd would go on naming them, and remember that they once failed."""
    for scope in _scopes(edits):
        call(["systemctl", *scope, "daemon-reload"])
        call(["systemctl", *scope, "reset-failed", "tmpwarden.service", _UNIT])


def is_active(paths: Sequence[str], call: AskScheduler) -> bool:
    kind = kind_of(paths)
    if kind == SYSTEMD:
        scope = [] if any(map(is_of_the_machine, paths)) else ["--user"]
        return call(["systemctl", *scope, "is-active", "--quiet", _UNIT]).returncode == 0
    if kind == LAUNCHD:
        return call(["launchctl", "list", "tmpwarden"]).returncode == 0
    return "tick.py" in call(["crontab", "-l"]).stdout


def crontab_edit(command: list[str] | None, environ: dict[str, str], call: AskScheduler) -> Edit:
    """Our line in, or out; every other one stays."""
    before = _crontab(call)
    after = timers.crontab(before, command, environ)
    old, new = (text.encode("utf-8", "surrogateescape") for text in (before, after))
    return Edit(CRONTAB, old, new)


def former_line(call: AskScheduler) -> list[Edit]:
    """Our line out, where something better does it now. A crontab that we cannot read has none of ours."""
    try:
        edit = crontab_edit(None, {}, call)
    except SetupFailed:
        return []
    return [edit] if edit.changes else []


def _crontab(call: AskScheduler) -> str:
    """What the user has. Raises SetupFailed where that cannot be told: what we write replaces all of it."""
    listing = call(["crontab", "-l"])
    is_empty = any(words in listing.stderr.lower() for words in ("no crontab", "no such file"))
    if listing.returncode and not is_empty:
        raise SetupFailed(f"`crontab -l` failed: {listing.stderr.strip() or listing.returncode}")
    return "" if listing.returncode else listing.stdout


def set_crontab(edits: Sequence[Edit], call: AskScheduler) -> None:
    for edit in edits:
        if edit.path != CRONTAB or not edit.changes:
            continue
        draft = os.path.join(record.directory(), "crontab.new")
        record.put(Edit(draft, read(draft), edit.after))
        try:
            _must(call, ["crontab", draft])
        finally:
            record.remove(draft)


def _must(call: AskScheduler, argv: Sequence[str]) -> None:
    result = call(argv)
    if result.returncode:
        raise SetupFailed(f"`{' '.join(argv)}` failed: {result.stderr.strip() or result.returncode}")


# The user's own systemd, from wherever we were called: su, sudo -u and cron bring no XDG_RUNTIME_DIR, or another's.

AskScheduler = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]
_RUNTIME_DIRS, _LINGER = "/run/user", "/var/lib/systemd/linger"


def runtime_dir() -> str | None:
    """Where this user's systemd listens; None if there is none: nobody is logged in, and nothing lingers."""
    for path in (os.environ.get("XDG_RUNTIME_DIR", ""), f"{_RUNTIME_DIRS}/{os.geteuid()}"):
        if os.path.isabs(path) and _is_ours(path) and os.path.exists(f"{path}/systemd/private"):
            return path
    return None


def lingers() -> bool:
    """Whether it runs on when the user has logged out."""
    return os.path.exists(os.path.join(_LINGER, places.own_name()))


def ask_scheduler(argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """What the scheduler says, to the byte. `--user` is led to this user's systemd, or to its files if it is not up."""
    try:
        environ = _environ() if "--user" in argv else None
        program = places.crontab_program() if argv[0] == "crontab" else argv[0]
        result = subprocess.run(
            [program or argv[0], *argv[1:]], capture_output=True, timeout=60, check=False, env=environ
        )
        output = [part.decode("utf-8", "surrogateescape") for part in (result.stdout, result.stderr)]
        return subprocess.CompletedProcess(list(argv), result.returncode, *output)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(list(argv), 1, "", str(error))


def _environ() -> dict[str, str]:
    theirs = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
    environ = {name: value for name, value in os.environ.items() if name not in theirs}
    directory = runtime_dir()
    if directory is None:
        return environ | {"SYSTEMD_OFFLINE": "1"}
    listens = os.path.exists(f"{directory}/bus")
    return environ | {"XDG_RUNTIME_DIR": directory} | ({theirs[1]: f"unix:path={directory}/bus"} if listens else {})


def _is_ours(path: str) -> bool:
    try:
        return os.stat(path).st_uid == os.geteuid()
    except OSError:
        return False
