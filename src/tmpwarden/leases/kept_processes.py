"""Processes that the user wants left alone: `tmpwarden keep pid:1234`, or a pattern of command lines."""

from __future__ import annotations

import json
import os

from ..lazy_dataclass import dataclass
from ..oskit.files import atomic, own_dirs, own_files, places
from ..oskit.proc import namespaces, procs

PREFIXES = ("pid:", "process:")


def path() -> str:
    return f"{places.config_dir()}/keep-processes"


@dataclass(frozen=True, slots=True)
class KeptProcesses:
    """Entries are `pid:PID:START:BOOT`, or a glob for a whole command line."""

    entries: tuple[str, ...] = ()
    unread: str = ""  # why some of the list could not be read: it may name any process


def read() -> KeptProcesses:
    file = path()
    if wrong := own_files.stranger(file):
        return KeptProcesses((), f"{file}: {wrong}")
    try:
        with open(file, "rb", opener=atomic.at_once) as lines:
            entries = [(number, _decoded(line)) for number, line in enumerate(lines, 1) if line.strip()]
    except FileNotFoundError:
        return KeptProcesses((), f"{file} is a link that leads nowhere" if os.path.islink(file) else "")
    except OSError as error:
        return KeptProcesses((), f"{file} cannot be read: {error.strerror}")
    broken = next((f"{file}:{number} is broken" for number, entry in entries if entry is None), "")
    return KeptProcesses(tuple(entry for _, entry in entries if entry is not None), broken)


def entry_for(word: str) -> str | None:
    """What is kept for `pid:1234` (that very process, of this boot) or `process:GLOB`; None: no such process."""
    if word.startswith("process:"):
        return word.removeprefix("process:") or None
    number = word.removeprefix("pid:")
    start = procs.start_ticks(int(number)) if number.isascii() and number.isdecimal() else None
    return None if start is None else f"pid:{number}:{start}:{namespaces.boot_id()}"


def add(entry: str) -> None:
    if entry not in read().entries:
        own_dirs.make_private_dir(places.config_dir())
        atomic.append_line(path(), json.dumps(entry))


def forget(word: str) -> bool:
    """False if nothing on the list is called so."""
    known = read().entries
    remaining = [
        entry for entry in known if not (entry.startswith(word + ":") or entry == word.removeprefix("process:"))
    ]
    if len(remaining) == len(known):
        return False
    atomic.write(path(), "".join(f"{json.dumps(entry)}\n" for entry in remaining))
    return True


def _decoded(line: bytes) -> str | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, str) and entry else None
