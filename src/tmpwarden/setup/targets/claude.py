"""Claude Code: hooks in ~/.claude/settings.json, unless its plugin does the work already."""

from __future__ import annotations

from ...errors import BrokenSettings, SetupFailed
from ..edits import Edit, parse, read, resolved
from ..runtime import Runtime
from .target import Target, Wish

_DISABLE = "claude plugin disable tmpwarden@tmpwarden"


class Claude(Target):
    def edits(self, wish: Wish) -> list[Edit]:
        if wish.observe and self.has_plugin():
            raise SetupFailed("the tmpwarden plugin is on, and it cannot only watch", hint=f"first: `{_DISABLE}`")
        return super().edits(wish)

    def wished_events(self, wish: Wish) -> tuple[tuple[str, str], ...]:
        """With the plugin on, only the guard is missing."""
        if self.has_plugin():
            return self.judged_events(wish) if wish.guard else ()
        return super().wished_events(wish)

    def state(self, current: Runtime) -> str:
        state = super().state(current)
        if not self.has_plugin():
            return state
        cleans = any(" claude SessionStart" in command for command in self.commands())
        return "twice" if cleans else "installed"

    def has_plugin(self) -> bool:
        path = resolved(self.settings())
        try:
            enabled = parse(path, read(path)).get("enabledPlugins")
        except BrokenSettings:
            return False
        plugins = enabled if isinstance(enabled, dict) else {}
        return any(name.startswith("tmpwarden@") and on is True for name, on in plugins.items())

    def advice(self) -> tuple[str, ...]:
        if self.has_plugin():
            return (f"The tmpwarden plugin is on and does the cleaning. `{_DISABLE}` stops it.",)
        return ()
