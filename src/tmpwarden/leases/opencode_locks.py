"""OpenCode's lock directories: `<state>/locks/<hash>.lock/meta.json` names the process that holds it, no session."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .record import is_pid
from .registry_entry import RegistryEntry, names_in, read_object

DIRECTORY = ".local/state/opencode"
VARIABLES = ("XDG_STATE_HOME",)  # the directory that holds `opencode`


def read(config_homes: Iterable[str], unread: list[str]) -> tuple[RegistryEntry, ...]:
    folders = [f"{home}{below}/locks" for home in config_homes for below in ("", "/opencode")]
    return tuple(
        entry
        for folder in folders
        for name in names_in(folder, unread)
        if name.endswith(".lock") and (entry := _read_one(f"{folder}/{name}/meta.json", unread))
    )


def _read_one(path: str, unread: list[str]) -> RegistryEntry | None:
    found = read_object(path, unread)
    if found is None:
        return None
    fields, written_s = found
    pid, host = fields.get("pid"), fields.get("hostname")
    if not is_pid(pid) or not isinstance(pid, int):
        return None
    machine = None if host in (None, os.uname().nodename) else f"host {host}"
    return RegistryEntry("", pid, machine=machine, recorded_s=written_s, source=path)
