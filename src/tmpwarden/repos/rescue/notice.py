"""What a rescue that nobody asked for has to tell, once: the next session that starts says it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .store import Rescued

_NAME = ".untold"
_LONGEST = 400
_MOST_NAMED = 3


def path() -> str:
    from ...oskit.files.places import data_dir

    return f"{data_dir()}/rescue/{_NAME}"


def later(rescued: Rescued) -> None:
    """Write a sentence down for the next start of a session. A full disk keeps it unsaid; `rescue list` has it."""
    from ...oskit.files import atomic

    try:
        atomic.append_line(path(), sentence(rescued))
    except OSError:
        return


def take() -> str:
    """All sentences that wait, which then wait no more."""
    from ...oskit.files.own_files import read_small, remove_file

    text = read_small(path(), _LONGEST)
    if text is None or not remove_file(path()):
        return ""
    return text[0].decode("utf-8", "replace").strip()


def sentence(rescued: Rescued) -> str:
    """`3 files saved: report.pdf, plot.png, ... (tmpwarden rescue show ID)`"""
    from ...text import plural, shown

    parts = []
    if rescued.repositories:
        parts.append(f"git work of {plural(len(rescued.repositories), 'repository', 'repositories')} saved")
    if rescued.files:
        names = ", ".join(shown(os.path.basename(file.path)) for file in rescued.files[:_MOST_NAMED])
        more = ", ..." if len(rescued.files) > _MOST_NAMED else ""
        parts.append(f"{plural(len(rescued.files), 'file')} saved: {names}{more}")
    return f"{'; '.join(parts)} (tmpwarden rescue show {rescued.id})"


def of_session(session: str) -> str:
    """What was saved from what a session left; for a start, so nothing is imported where there are no rescues."""
    if not os.path.isdir(os.path.dirname(path())):
        return ""
    from . import store

    return " ".join(f"Rescued from it: {sentence(each)}." for each in store.of_session(session)[-1:])
