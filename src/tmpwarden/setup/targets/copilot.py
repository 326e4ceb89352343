"""Copilot CLI: a file of our own in ~/.copilot/hooks. PascalCase event names make it speak Claude's JSON."""

from __future__ import annotations

from ..edits import Document, Edit, read, spell
from ..runtime import Runtime
from .target import Target, Wish


class Copilot(Target):
    def edit(self, path: str, wish: Wish) -> Edit:
        before = read(path)
        groups = self.groups(wish)
        if not groups:
            return Edit(path, before, None)
        whole: Document = {"version": 1, "hooks": {event: [group] for event, group in groups.items()}}
        return Edit(path, before, spell(path, whole, None))

    def group(self, runtime: Runtime, event: str, matcher: str, observe: bool) -> Document:
        return {
            "type": "command",
            "bash": self.line(runtime, event, observe),
            "timeoutSec": self.facts["timeout"],
        }
