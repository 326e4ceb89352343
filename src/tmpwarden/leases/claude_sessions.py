"""Claude Code's registry of live sessions: `<config home>/sessions/<pid>.json`, there while the process lives."""

from __future__ import annotations

from collections.abc import Iterable

from ..oskit.proc import procs
from .record import whole_number
from .registry_entry import RegistryEntry, names_in, read_object

DIRECTORY = ".claude"  # below a home
VARIABLES = ("CLAUDE_CONFIG_DIR",)  # where else the config home may be


def read(config_homes: Iterable[str], unread: list[str]) -> tuple[RegistryEntry, ...]:
    """Every entry that can be understood."""
    paths = [
        (name.removesuffix(".json"), f"{home}/sessions/{name}")
        for home in config_homes
        for name in names_in(f"{home}/sessions", unread)
        if name.endswith(".json")
    ]
    return tuple(entry for pid, path in paths if pid.isdecimal() and (entry := _read_one(int(pid), path, unread)))


def _read_one(pid: int, path: str, unread: list[str]) -> RegistryEntry | None:
    found = read_object(path, unread)
    fields, written_s = found or ({}, 0.0)
    session = fields.get("sessionId")
    if fields.get("pid", pid) != pid or not isinstance(session, str) or not session:
        if procs.living(pid) is not None and procs.may_be_ours(pid):  # half written just now, or of a version to come
            unread.append(f"{path} does not say which session process {pid} runs")
        return None
    machine, pidns = _domain(fields.get("pidDomain"))
    return RegistryEntry(session, pid, _start(fields.get("procStart")), machine, pidns, written_s, path)


def _start(value: object) -> int | None:
    """Start ticks; the CLI writes them as text."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value)
    return whole_number(value)


def _domain(value: object) -> tuple[str | None, str | None]:
    """(machine id, pid namespace) of `linux:<machine-id>:pid:[4026531836]`; another system is another machine."""
    if not isinstance(value, str):
        return None, None
    system, _, rest = value.partition(":")
    machine, _, pidns = rest.partition(":")
    if system != "linux":
        return value, None
    return machine or None, pidns or None
