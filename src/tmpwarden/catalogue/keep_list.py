"""The file `keep` beside config.toml: one JSON string a line, as `tmpwarden keep PATH` writes them."""

from __future__ import annotations

import json

from ..lazy_dataclass import dataclass, field
from . import values
from .files import dangling


@dataclass(slots=True)
class KeepList:
    paths: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)  # "file:line" of what may protect something and is not understood


def read(path: str) -> KeepList:
    """What it names; a line that is broken keeps no other from counting."""
    listed = KeepList()
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        if link := dangling(path):
            return KeepList((), [f"{path}: cannot be read: {link} is a link that leads nowhere"], [path])
        return listed
    except OSError as wrong:
        return KeepList((), [f"{path}: cannot be read: {wrong.strerror}"], [path])
    for number, line in enumerate(lines, 1):
        try:
            said = json.loads(line) if line.strip() else None
            listed.paths += () if said is None else values.paths([said])
        except ValueError:
            listed.warnings.append(f"{path}:{number}: is not a JSON string with an absolute path; it is ignored")
            listed.unread.append(f"{path}:{number}")
    return listed
