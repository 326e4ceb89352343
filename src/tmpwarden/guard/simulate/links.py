"""Where a program may leave links that looking now does not show."""

from __future__ import annotations

from ..nouns.analysis import READ, PathUse
from ..nouns.invocation import Invocation
from ..programs.table import program
from .shell import Shell


def note_links(shell: Shell, name: str, call: Invocation, paths: list[PathUse]) -> None:
    letters = program(name).text("links")
    options = "".join([field.text or "" for field in call.fields[1:] if (field.text or "-").startswith("-")])
    if name.endswith("tar"):
        options += call.fields[1].text or "" if len(call.fields) > 1 else ""
    if letters and not any(c in options for c in letters):
        return
    depth = 0 if name.endswith("tar") or name in ("unzip", "git") else -1
    for use in paths:
        if use.mode != READ and use.path is not None:
            shell.links.append((use.path, depth))
            if use.resolved is not None and use.resolved != use.path:
                shell.links.append((use.resolved, depth))
