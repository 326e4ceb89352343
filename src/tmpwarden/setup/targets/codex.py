"""Codex: hooks in ~/.codex/hooks.json. They stay silently off until the user trusts them; we never do it for them."""

from __future__ import annotations

import os
import re
import tomllib

from ..edits import read, resolved
from ..runtime import Runtime
from .target import Target


class Codex(Target):
    needs_consent = True

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
            any(key.startswith(f"{path}:{_snake(event)}:") for key in trusted for path in paths)
            for event, _ in self.events
        )

    def advice(self) -> tuple[str, ...]:
        return ("Codex runs these hooks only after you trust them: start codex, type /hooks, and approve tmpwarden's.",)


def _snake(event: str) -> str:
    """`PreToolUse` as Codex writes it into its own file: `pre_tool_use`."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", event).lower()
