"""Qwen Code: hooks in ~/.qwen/settings.json. SessionEnd never fires in its -p runs; dead leases do that work."""

from __future__ import annotations

import os

from .target import Target, below_home


class Qwen(Target):
    id = "qwen"
    name = "Qwen Code"
    programs = ("qwen",)
    events = (
        ("SessionStart", "*"),
        ("PostToolUse", "run_shell_command"),
        ("PostToolUseFailure", "run_shell_command"),
        ("Stop", "*"),
        ("SessionEnd", "*"),
    )
    guard_events = (("PreToolUse", "*"),)
    timeout = ("timeout", 10_000)

    def home(self) -> str:
        return below_home("", ".qwen")

    def settings(self) -> str:
        return os.path.join(self.home(), "settings.json")
