"""The journal: without it nothing of worth is removed, and undo knows nothing."""

import os
from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ...oskit.files import space
from ...sweep.store.journal import NAME, open_intents
from ...text import plural, quoted, shown
from .. import relief
from ..patient import Patient
from ..read_only import read_only

_STOPS_US = "so nothing that may be worth something is removed."


def check(patient: Patient) -> Iterator[Diagnosis]:
    state = patient.prepared.state
    journal = f"{state}/{NAME}"
    if os.path.lexists(journal) and not os.path.isfile(journal):
        aside = f"mv -T --backup=numbered {quoted(journal)} {quoted(f'{journal}.aside')}"
        yield Diagnosis("journal", "fail", f"{shown(journal)} is not a file, {_STOPS_US}", "", aside)
    elif stuck := read_only(_existing(state)):
        summary = f"{shown(_existing(state))} {stuck.words}, {_STOPS_US}"
        yield Diagnosis("journal", "fail", summary, stuck.detail, stuck.command)
    elif refused := _refused(state):
        summary = f"{shown(refused)} cannot be written, {_STOPS_US}"
        yield Diagnosis("journal", "fail", summary, "", _remedy(refused, state))
    elif _has_no_room(state):
        yield _without_room(patient, _existing(state))
    elif os.path.exists(journal) and (waiting := len(open_intents(state))):
        summary = f"a run was interrupted: {plural(waiting, 'removal is', 'removals are')} to be settled."
        yield Diagnosis("journal", "warn", summary, "", "tmpwarden clean")
    elif os.path.isdir(state):
        yield Diagnosis("journal", "ok", "every removal is written down and settled.")
    else:
        yield Diagnosis("journal", "ok", "tmpwarden has not removed anything here yet.")


def _without_room(patient: Patient, place: str) -> Diagnosis:
    """Where a temp root lies on the same file system, what helps there helps here."""
    room = space.space_of(place)
    point = f" (the file system at {shown(room.mount_point)} is full)" if room.mount_point else ""
    summary = f"there is no room in {shown(place)} to record removals{point}: until there is, few can be undone."
    beside = next((each for each in patient.spaces if each.mount_point == room.mount_point != ""), room)
    help_ = relief.relief(patient, beside)
    return Diagnosis("journal", "fail", summary, help_.words, help_.command)


def _refused(state: str) -> str | None:
    """The journal, or what of the way to it is there, if it cannot be written: a run under sudo left it, say."""
    needed = ((f"{state}/{NAME}", os.W_OK), (_existing(state), os.W_OK | os.X_OK))
    return next((path for path, how in needed if os.path.lexists(path) and not os.access(path, how)), None)


def _remedy(path: str, state: str) -> str:
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
