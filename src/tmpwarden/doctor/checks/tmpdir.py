"""The variables that name a temp directory: it must exist, be writable, and be short enough for sockets."""

import os
from collections.abc import Iterator

from ...agent_facts import TEMP_VARIABLES
from ...model.sweep import Diagnosis
from ...oskit.proc.reach import Reach
from ...text import quoted, shown
from ..patient import Patient

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
    if not os.path.isdir(path):
        effect = (
            "no command of ours works" if name == "TMPWARDEN_ROOTS" else "mktemp and every program that obeys it fail"
        )
        summary = f"{name} names {shown(path)}, which does not exist: {effect}."
        return Diagnosis("tmpdir", "fail", summary, "", f"mkdir -p -m 700 -- {quoted(path)}")
    if name == "TMPWARDEN_ROOTS":
        return None  # the other checks look at roots
    if not os.access(path, os.W_OK | os.X_OK):
        return Diagnosis(
            "tmpdir", "fail", f"{name} names {shown(path)}, which you cannot write to.", "", f"unset {name}"
        )
    if len(os.fsencode(path)) > _LONGEST:
        summary = f"{name} is {len(os.fsencode(path))} bytes long: sockets below it may not fit into 108 bytes."
        return Diagnosis("tmpdir", "warn", summary, shown(path), f"export {name}=/tmp")
    return None
