"""Gemini CLI: hooks in ~/.gemini/settings.json, timeouts in milliseconds."""

from __future__ import annotations

import os

from ..edits import Document
from ..runtime import Runtime
from .target import Target, below_home


class Gemini(Target):
    id = "gemini"
    name = "Gemini CLI"
    programs = ("gemini",)
    events = (("SessionStart", None), ("AfterTool", "run_shell_command"), ("AfterAgent", None), ("SessionEnd", None))
    guard_events = (("BeforeTool", "run_shell_command|read_file|write_file|replace"),)
    timeout = ("timeout", 10_000)

    def home(self) -> str:
        return below_home("", ".gemini")

    def settings(self) -> str:
        return os.path.join(self.home(), "settings.json")

    def group(self, runtime: Runtime, event: str, matcher: str | None, observe: bool) -> Document:
        group = super().group(runtime, event, matcher, observe)
        for hook in group["hooks"]:  # type: ignore[attr-defined]
            hook["name"] = "tmpwarden"  # what its /hooks panel shows
        return group
