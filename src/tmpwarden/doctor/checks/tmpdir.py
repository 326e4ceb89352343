"""The variables that name a temp directory: it must exist, be writable, and be short enough for sockets."""

import os
from collections.abc import Iterator

from ...agent_facts import TEMP_VARIABLES
from ...model.sweep import Diagnosis
from ...oskit.proc.reach import Reach
from ...text import quoted, shown
from ..patient import Patient
from ..read_only import read_only

_VARIABLES = ("TMPDIR", *TEMP_VARIABLES, "TMP", "TEMP")
_LONGEST = 60  # sun_path is 108 bytes (104 on macOS), and programs add names of 40 and more


def check(patient: Patient) -> Iterator[Diagnosis]:
    said = [(name, patient.environ[name]) for name in _VARIABLES if patient.environ.get(name)]
    said += [("TMPWARDEN_ROOTS", path) for path in patient.environ.get("TMPWARDEN_ROOTS", "").split(":") if path]
    problems = [problem for name, path in said if (problem := _problem(name, path))]
    yield from problems
    if not problems:
        words = ", ".join(f"{name}={shown(path)}" for name, path in said) or "not set: programs use /tmp"
        yield Diagnosis("tmpdir", "ok", "the temp variables name a usable directory.", words)


def _problem(name: str, path: str) -> Diagnosis | None:
    if point := Reach.now().frozen(path):
        summary = f"{name} names {shown(path)}, where the file system mounted at {shown(point)} does not answer."
        return Diagnosis("tmpdir", "fail", summary, "", f"unset {name}")
    effect = "no command of ours works" if name == "TMPWARDEN_ROOTS" else "mktemp and every program that obeys it fail"
    if not path.startswith("/"):
        summary = f"{name} names {shown(path)}, a relative path: it means another directory wherever a program runs."
        return Diagnosis("tmpdir", "fail", summary, "", f"unset {name}")
    if os.path.lexists(path) and not os.path.isdir(path):
        what = "a link that leads nowhere" if not os.path.exists(path) else "not a directory"
        return Diagnosis(
            "tmpdir", "fail", f"{name} names {shown(path)}, which is {what}: {effect}.", "", f"unset {name}"
        )
    if not os.path.isdir(path):
        summary = f"{name} names {shown(path)}, which does not exist: {effect}."
        remedy = f"mkdir -p -m 700 -- {quoted(path)}" if _can_be_made(path) else f"unset {name}"
        return Diagnosis("tmpdir", "fail", summary, "", remedy)
    if name == "TMPWARDEN_ROOTS":
        return None  # the other checks look at roots
    if stuck := read_only(path):
        summary = f"{name} names {shown(path)}, which {stuck.words}: {effect}."
        return Diagnosis("tmpdir", "fail", summary, stuck.detail, f"unset {name}")
    if not os.access(path, os.W_OK | os.X_OK):
        return Diagnosis(
            "tmpdir", "fail", f"{name} names {shown(path)}, which you cannot write to.", "", f"unset {name}"
        )
    if len(os.fsencode(path)) > _LONGEST:
        summary = f"{name} is {len(os.fsencode(path))} bytes long: sockets below it may not fit into 108 bytes."
        return Diagnosis("tmpdir", "warn", summary, shown(path), f"export {name}=/tmp")
    return None


def _can_be_made(path: str) -> bool:
    """By a mkdir: what exists of the way to it is a directory that we may write to, on a disk with room."""
    above = os.path.dirname(path)
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    room = os.statvfs(above)
    has_room = room.f_bavail > 0 and (room.f_favail > 0 or not room.f_files)
    return os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK) and has_room
