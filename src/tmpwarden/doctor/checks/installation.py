"""Ourselves on this machine: hooks, guard, timer, the journal's directory, and others that delete temp files."""

import os
import re
from collections.abc import Iterator
from functools import partial

from ...agent_facts import FACTS
from ...guard.rules.verify import complaint_now
from ...model.sweep import Diagnosis
from ...oskit import system
from ...oskit.files import places, space
from ...oskit.files.opening import entry_names
from ...oskit.proc.agent_version import program_on_path, version_of
from ...oskit.proc.own_mount import frozen_way
from ...sweep.store.journal import NAME, open_intents
from ...sweep.weigh.unattended import refusal
from ...text import plural, quoted, shown
from .. import relief
from ..patient import HookState, Patient
from ..read_only import moved_aside, read_only

_WORDS = {
    "untrusted": ("warn", "does not trust tmpwarden's hooks yet, so they do not run", "{0}  # and there: /hooks"),
    "outdated": ("warn", "uses the hooks of an older tmpwarden", "tmpwarden install {0}"),
    "unreached": (
        "warn",
        "does not call the guard for a tool in your rules, so these rules have no effect there",
        "tmpwarden install {0}",
    ),
    "twice": ("warn", "has tmpwarden's hooks twice; the second copy has no effect", "tmpwarden uninstall {0}"),
    "interpreter gone": (
        "warn",
        "has hooks whose program no longer exists, so they have no effect",
        "tmpwarden install {0}",
    ),
    "broken settings": ("warn", "has a settings file that cannot be read", "tmpwarden install {0} --dry-run"),
}


def check_hooks(patient: Patient) -> Iterator[Diagnosis]:
    """The hooks in the agents found here: installed, trusted, current, once."""
    wrong = [state for state in patient.hooks if state.state in _WORDS]
    for state in wrong:
        yield _diagnosis(state)
    if wrong:
        return
    there = [state.agent for state in patient.hooks if state.state == "installed"]
    if there:
        yield Diagnosis("hooks", "ok", f"hooks are installed for {', '.join(there)}.")
    else:
        without_hooks = [state.agent for state in patient.hooks if state.state == "absent"]
        hint = "tmpwarden setup" if without_hooks else ""
        yield Diagnosis("hooks", "ok", "tmpwarden is not set up for any agent yet.", "", hint)


def _diagnosis(state: HookState) -> Diagnosis:
    status, words, remedy = _WORDS[state.state]
    again = f"{state.agent} --guard" if state.guard and remedy.startswith("tmpwarden install") else state.agent
    return Diagnosis("hooks", status, f"{state.agent} {words}.", state.detail, remedy.format(again))


def check_guard(patient: Patient) -> Iterator[Diagnosis]:
    """The guard's config: a file with a mistake does not come into force."""
    complaint = complaint_now(places.config_dir(), places.state_dir())
    if complaint:
        yield Diagnosis("guard", "warn", f"{complaint[0].upper()}{complaint[1:]}.", "", "tmpwarden guard verify")
    else:
        yield Diagnosis("guard", "ok", "the guard's rules have no mistakes.")


def check_silent(patient: Patient) -> Iterator[Diagnosis]:
    """Agents that fail without a word when temp is full: versions that print nothing but "Exit code 1"."""
    path = patient.environ.get("PATH", os.defpath)
    is_known = False
    for facts in FACTS.values():
        if not facts["silent"] or not (program := program_on_path(facts, path)):
            continue
        version = version_of(facts, {}, {}, partial(str, program))
        if not version:  # to run it and ask would take a second and write files
            continue
        is_known = True
        since, until = facts["silent"]
        agent_text = f"{facts['name']} {_version_text(version)}"
        if since <= version < until:
            summary = f"{agent_text} reports a full temp directory only as `Exit code 1`."
            detail = f"{_version_text(until)} and later name the cause"
            yield Diagnosis("silent", "warn", summary, detail, facts["update"])
        else:
            yield Diagnosis("silent", "ok", f"{agent_text} names the cause when its temp directory is full.")
    if not is_known:
        yield Diagnosis("silent", "ok", "no installed agent is known to fail without a message.")


def _version_text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


_SYSTEM = (
    "/etc/crontab", "/etc/cron.d", "/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/tmpfiles.d",
    "/etc/systemd/system",
)  # fmt: skip
_SPOOLS = ("/var/spool/cron/crontabs", "/var/spool/cron")
_HOME = (".config/user-tmpfiles.d", ".config/systemd/user")
_AGENTS = rf"(?:cc-|{'|'.join(FACTS)})"
_FIND = re.compile(r"find\s+[\"']?/?(?:\S*/)?tmp\b.*-(?:delete|exec\s+\S*rm\b)")
_NAMED = re.compile(r"-i?(?:name|path|regex)\s")
_DELETES = re.compile(
    rf"rm\s+-\w*[rf]\w*\s+\S*tmp/\S*{_AGENTS}"
    r"|(?:^|[\s/;&|])(?:tmpreaper|tmpwatch)\s+[^\s\])]"  # called with arguments, not asked for or configured
)
_AGES = re.compile(rf"^[dDeqQrR]!?\s+\S*tmp/\S*{_AGENTS}\S*\s")
_OWN_CRONTAB = "crontab -l"
_LARGEST = 1 << 20


def check_rivals(patient: Patient) -> Iterator[Diagnosis]:
    """Other cleaners that go by name and age, and would kill live sessions: cron lines, hooks, tmpfiles.d rules."""
    rivals = [(path, *first) for path in _files() if (first := next(_lines(path), None))]
    for path, number, line in rivals[:3]:
        summary = f"{shown(path)}:{number} removes agents' files by name or age, even those of running sessions."
        yield Diagnosis("rivals", "warn", summary, shown(line.strip())[:200], _remedy(path, number))
    if not rivals:
        yield Diagnosis("rivals", "ok", "no other cleaner removes agents' files.")


def _remedy(path: str, number: int) -> str:
    """One command that stops it and can be taken back."""
    if path == _OWN_CRONTAB:
        return f"crontab -l | sed '{number}s/^/# /' | crontab -"
    sudo = "" if os.access(path, os.W_OK) else "sudo "
    if _is_script(path):
        return f"{sudo}chmod -x {quoted(path)}"
    if path.endswith(".json"):
        return f"${{EDITOR:-vi}} +{number} {quoted(path)}"
    return f"{sudo}{system.customs.SED_IN_PLACE} '{number}s/^/# /' {quoted(path)}"


def _is_script(path: str) -> bool:
    """run-parts runs what is executable there, and nothing else."""
    return os.path.dirname(path).endswith(("/cron.hourly", "/cron.daily", "/cron.weekly"))


def _files() -> Iterator[str]:
    home = places.home()
    for path in (*_SYSTEM, *_SPOOLS, *_of_agents(home), *(f"{home}/{name}" for name in _HOME)):
        if frozen_way(path):
            continue  # the check of mounts tells it
        if os.path.isdir(path):
            files = [file for name in entry_names(path) if os.path.isfile(file := f"{path}/{name}")]
            yield from (file for file in files if not _is_script(file) or os.access(file, os.X_OK))
        elif os.path.isfile(path):
            yield path
    if not any(os.access(spool, os.R_OK) for spool in _SPOOLS):
        yield _OWN_CRONTAB


def _of_agents(home: str) -> Iterator[str]:
    """Where agents keep their hooks: settings files, or a directory of them."""
    for facts in FACTS.values():
        directory = facts["directory"].format(home=home, xdg_config=f"{home}/.config")
        for name in (*facts["settings"], *facts["more_settings"]):
            yield f"{directory}/{os.path.dirname(name) or name}"


def _lines(path: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_text(path).split("\n"), 1):  # lines as sed counts them
        is_comment = line.lstrip().startswith("#")
        if not is_comment and "tmpwarden" not in line and _removes(line):
            yield number, line


def _removes(line: str) -> bool:
    """By an agent's name, or everything in a temp directory whatever its name."""
    if _FIND.search(line) and (not _NAMED.search(line) or re.search(_AGENTS, line)):
        return True
    return bool(_DELETES.search(line) or _AGES.match(line))


def _text(path: str) -> str:
    if path == _OWN_CRONTAB:
        return _own_crontab()
    try:
        with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
            return file.read(_LARGEST)
    except OSError:
        return ""


def _own_crontab() -> str:
    """Only crontab itself may read the spool for an ordinary user."""
    import subprocess

    program = places.crontab_program()
    if program is None:
        return ""
    try:
        crontab = subprocess.run([program, "-l"], capture_output=True, timeout=5, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return crontab.stdout.decode("utf-8", "replace")[:_LARGEST] if crontab.returncode == 0 else ""


def check_timer(patient: Patient) -> Iterator[Diagnosis]:
    """The optional timer."""
    if patient.timer is None:
        if why := refusal(patient.prepared.settings):
            yield Diagnosis("timer", "ok", f"nothing is removed automatically: {why}.")
            return
        summary = "no automatic clean-up is scheduled."
        yield Diagnosis("timer", "ok", summary, "", patient.instead_of_timer or "tmpwarden install timer")
    elif patient.timer == "installed":
        yield Diagnosis("timer", "ok", "the timer is installed and active.")
    else:
        yield Diagnosis("timer", "warn", f"the timer is installed but {patient.timer}.", "", "tmpwarden install timer")


_STOPS_US = "so only items without value can be removed."


def check_journal(patient: Patient) -> Iterator[Diagnosis]:
    """The journal: without it nothing of worth is removed, and undo knows nothing."""
    state = patient.prepared.state
    journal = f"{state}/{NAME}"
    if os.path.lexists(journal) and not os.path.isfile(journal):
        aside = moved_aside(journal, ".aside")
        yield Diagnosis("journal", "fail", f"{shown(journal)} is not a file, {_STOPS_US}", "", aside)
    elif stuck := read_only(_existing(state)):
        summary = f"{shown(_existing(state))} {stuck.words}, {_STOPS_US}"
        yield Diagnosis("journal", "fail", summary, stuck.detail, stuck.command)
    elif refused := _refused(state):
        summary = f"{shown(refused)} cannot be written, {_STOPS_US}"
        yield Diagnosis("journal", "fail", summary, "", _journal_remedy(refused, state))
    elif _has_no_room(state):
        yield _without_room(patient, _existing(state))
    elif os.path.exists(journal) and (open_count := len(open_intents(state))):
        summary = f"a run was interrupted: {plural(open_count, 'removal is', 'removals are')} still to be finished."
        yield Diagnosis("journal", "warn", summary, "", "tmpwarden clean")
    elif os.path.isdir(state):
        yield Diagnosis("journal", "ok", "every removal is logged and finished.")
    else:
        yield Diagnosis("journal", "ok", "tmpwarden has not removed anything yet.")


def _without_room(patient: Patient, place: str) -> Diagnosis:
    """Where a temp root lies on the same file system, what helps there helps here."""
    room = space.space_of(place)
    point = f" (the file system at {shown(room.mount_point)} is full)" if room.mount_point else ""
    summary = f"there is no room in {shown(place)} to record removals{point}, so few of them can be undone."
    beside = next((each for each in patient.spaces if each.mount_point == room.mount_point != ""), room)
    help_ = relief.relief(patient, beside)
    return Diagnosis("journal", "fail", summary, help_.words, help_.command)


def _refused(state: str) -> str | None:
    """The journal, or what of the way to it is there, if it cannot be written: a run under sudo left it, say."""
    needed = ((f"{state}/{NAME}", os.W_OK), (_existing(state), os.W_OK | os.X_OK))
    return next((path for path, how in needed if os.path.lexists(path) and not os.access(path, how)), None)


def _journal_remedy(path: str, state: str) -> str:
    if os.lstat(path).st_uid == os.geteuid():
        return f"chmod u+rwX {quoted(path)}"
    if not f"{path}/".startswith(f"{state}/"):  # what is above it belongs to others and stays theirs
        return f"sudo install -d -m 700 -o $(id -u) {quoted(state)}"
    return f"sudo chown -R $(id -u) {quoted(path)}"


def _has_no_room(state: str) -> bool:
    """Nothing is free, and there is no reserve to give up."""
    if os.path.exists(f"{state}/reserve"):
        return False
    room = space.space_of(_existing(state))
    return room.bytes_free == 0 or (room.inodes_total > 0 and room.inodes_free == 0)


def _existing(path: str) -> str:
    while not os.path.lexists(path) and path != "/":
        path = os.path.dirname(path)
    return path
