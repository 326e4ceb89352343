"""Directories that must be ours and private: somebody else's in their place stops us, or spies on the agent."""

import os
import stat
from collections.abc import Iterator

from ...agent_facts import NAMES_IN_TEMP
from ...model.sweep import Diagnosis
from ...oskit.files import places
from ...oskit.proc.reach import Reach
from ...text import quoted, shown
from ..patient import Patient


def check(patient: Patient) -> Iterator[Diagnosis]:
    found = False
    for root in patient.roots:
        agents = (f"{root}/{name.format(uid=places.uid())}" for name in NAMES_IN_TEMP)
        for path in (places.ours(root), places.quarantine(root), *agents):
            if problem := _problem(path):
                found = True
                cause, remedy = problem
                summary = f"{shown(path)} {cause}: agents and tmpwarden refuse to use it."
                yield Diagnosis("squatted", "fail", summary, "", remedy)
                break  # what lies below it is not the point
    if not found:
        yield Diagnosis("squatted", "ok", "the private directories below the temp roots are yours.")


def _problem(path: str) -> tuple[str, str] | None:
    """What is wrong, and the command that rights it without destroying anything."""
    if Reach.now().frozen(path):
        return None  # that check says so
    try:
        status = os.lstat(path)
    except OSError:
        return None
    is_ours = status.st_uid == places.uid()
    sudo = "" if is_ours or places.uid() == 0 else "sudo "
    aside = f"{sudo}mv -T --backup=numbered {quoted(path)} {quoted(f'{path}.squatted')}"
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link", aside
    if not is_ours:
        return f"belongs to another user (uid {status.st_uid})", aside
    if not stat.S_ISDIR(status.st_mode):
        return "is not a directory", aside
    return ("can be written by other users", f"chmod 700 {quoted(path)}") if status.st_mode & 0o022 else None
