"""Directories that must be ours and private: somebody else's in their place stops us, or spies on the agent."""

import os
import stat
from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ...oskit import places
from ...text import shown
from ..patient import Patient


def check(patient: Patient) -> Iterator[Diagnosis]:
    found = False
    for root in patient.roots:
        for path in (places.ours(root), places.quarantine(root), f"{root}/claude-{places.uid()}"):
            problem = _problem(path)
            if problem:
                found = True
                summary = f"{shown(path)} {problem}: agents and tmpwarden refuse to use it."
                yield Diagnosis("squatted", "fail", summary, "", f"ls -ld {path}")
    if not found:
        yield Diagnosis("squatted", "ok", "the private directories below the temp roots are yours.")


def _problem(path: str) -> str | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link"
    if status.st_uid != places.uid():
        return f"belongs to another user (uid {status.st_uid})"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a directory"
    return "can be written by other users" if status.st_mode & 0o022 else None
