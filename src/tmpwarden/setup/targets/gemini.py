"""Gemini CLI: hooks in ~/.gemini/settings.json, timeouts in milliseconds."""

from __future__ import annotations

from ..edits import Document
from ..runtime import Runtime
from .target import Target


class Gemini(Target):
    def group(self, runtime: Runtime, event: str, matcher: str, observe: bool) -> Document:
        group = super().group(runtime, event, matcher, observe)
        hooks = group["hooks"]
        assert isinstance(hooks, list)
        for hook in hooks:
            hook["name"] = "tmpwarden"  # what its /hooks panel shows
        return group
