"""Codex: hooks in ~/.codex/hooks.json. They stay silently off until the user trusts them; we never do it for them."""

from __future__ import annotations

import os
import tomllib

from ..edits import read, resolved
from ..runtime import Runtime
from .target import Target, below_home

_SNAKE = {
    "SessionStart": "session_start",
    "PreToolUse": "pre_tool_use",
    "PostToolUse": "post_tool_use",
    "Stop": "stop",
    "SessionEnd": "session_end",
}


class Codex(Target):
    id = "codex"
    name = "Codex"
    programs = ("codex",)
    events = (("SessionStart", None), ("PostToolUse", None), ("Stop", None), ("SessionEnd", None))
    guard_events = (("PreToolUse", None),)
    timeout = ("timeout", 3)  # the longest that it grants SessionEnd

    def home(self) -> str:
        return below_home("CODEX_HOME", ".codex")

    def settings(self) -> str:
        return os.path.join(self.home(), "hooks.json")

    def state(self, current: Runtime) -> str:
        state = super().state(current)
        return "untrusted" if state == "installed" and not self._is_trusted() else state

    def _is_trusted(self) -> bool:
        """Whether the user has said yes to a hook of each event. Codex itself compares the hash."""
        content = read(os.path.join(self.home(), "config.toml")) or b""
        try:
            hooks = tomllib.loads(content.decode("utf-8", "replace")).get("hooks", {})
        except tomllib.TOMLDecodeError:
            return False
        trusted = hooks.get("state", {}) if isinstance(hooks, dict) else {}
        paths = {self.settings(), resolved(self.settings())}
        return all(
            any(key.startswith(f"{path}:{_SNAKE[event]}:") for key in trusted for path in paths)
            for event, _ in self.events
        )

    def advice(self) -> tuple[str, ...]:
        return ("Codex runs these hooks only after you trust them: start codex, type /hooks, and approve tmpwarden's.",)
