"""GitHub Copilot's marks of live sessions: `<config home>/session-state/<session>/inuse.<pid>.lock`."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..oskit.files.own_files import note_unread
from .registry_entry import RegistryEntry, names_in

DIRECTORY = ".copilot"
VARIABLES = ("COPILOT_HOME",)


def read(config_homes: Iterable[str], unread: list[str]) -> tuple[RegistryEntry, ...]:
    found = []
    for home in config_homes:
        for session in names_in(f"{home}/session-state", unread):
            folder = f"{home}/session-state/{session}"
            found += [entry for name in names_in(folder, unread) if (entry := _read_one(session, folder, name, unread))]
    return tuple(found)


def _read_one(session: str, folder: str, name: str, unread: list[str]) -> RegistryEntry | None:
    """The lock of SIGKILLed processes stays behind: its date tells a recycled number from a live one."""
    words = name.split(".")
    if len(words) != 3 or (words[0], words[2]) != ("inuse", "lock") or not words[1].isdecimal():
        return None
    try:
        status = os.lstat(f"{folder}/{name}")
    except OSError as error:
        note_unread(f"{folder}/{name}", error, unread)
        return None
    if status.st_uid != os.geteuid() or not 0 < int(words[1]) < 1 << 22:
        return None
    return RegistryEntry(session, int(words[1]), recorded_s=status.st_mtime, source=f"{folder}/{name}")
