"""Agents whose settings have a shape of their own. All others are a plain `Target`, made of their facts alone."""

from __future__ import annotations

import copy
import json
import os
import re
import tomllib

from ...errors import BrokenSettings, SetupFailed
from ...text import shown
from ..edits import Document, Edit, line_of, parse, read, resolved, spell
from ..runtime import Runtime, places_of_ours
from .target import MARK, Target, Wish

_DISABLE = "claude plugin disable tmpwarden@tmpwarden"
_PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "opencode.js")
# Where the guard's part begins and ends: an event is also named before that, where the plugin asks about it.
_GUARDING, _BEHIND_IT = '"tool.execute.before": async', '"tool.execute.after": async'


class Claude(Target):
    """Hooks in ~/.claude/settings.json, unless the plugin does the work already."""

    def edits(self, wish: Wish) -> list[Edit]:
        if wish.observe and self.has_plugin():
            raise SetupFailed("the tmpwarden plugin is on, which has no --observe", hint=f"first: `{_DISABLE}`")
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
            return (f"The tmpwarden plugin is on and cleans up. `{_DISABLE}` switches it off.",)
        return ()


class Codex(Target):
    """Hooks in ~/.codex/hooks.json. They stay silently off until the user trusts them; we never do it for them."""

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
        return (
            "Codex runs these hooks only after you approve them: start codex, type /hooks, and approve tmpwarden's.",
        )


def _snake(event: str) -> str:
    """`PreToolUse` as Codex writes it into its own file: `pre_tool_use`."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", event).lower()


class Copilot(Target):
    """A file of our own in ~/.copilot/hooks. PascalCase event names make it speak Claude's JSON."""

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


class Gemini(Target):
    """Hooks in ~/.gemini/settings.json, each with a name."""

    def group(self, runtime: Runtime, event: str, matcher: str, observe: bool) -> Document:
        group = super().group(runtime, event, matcher, observe)
        hooks = group["hooks"]
        assert isinstance(hooks, list)
        for hook in hooks:
            hook["name"] = "tmpwarden"  # what its /hooks panel shows
        return group


class OpenCode(Target):
    """A small JavaScript plugin beside the runtime, named in opencode.json.

    Not in ~/.config/opencode/plugin: any file there makes it fetch an npm package first, 70 s when offline.
    """

    def edits(self, wish: Wish) -> list[Edit]:
        edits = super().edits(wish)
        if wish.runtime is None:
            return edits
        path = _plugin_path(wish.runtime)
        return [Edit(path, read(path), _plugin(wish).encode()), *edits]

    def edit(self, path: str, wish: Wish) -> Edit:
        """The plugin's own file is all ours."""
        return Edit(path, read(path), None) if _is_ours(f"file://{path}") else super().edit(path, wish)

    def check(self, path: str, content: bytes | None, document: Document) -> None:
        if not isinstance(document.get("plugin", []), list):
            raise BrokenSettings(shown(path), f"{line_of(content, 'plugin')}: 'plugin' is not a list")

    def merged(self, document: Document, wish: Wish) -> Document:
        new = copy.deepcopy(document)
        plugins = new.get("plugin")
        kept = [item for item in plugins if not _is_ours(item)] if isinstance(plugins, list) else []
        if wish.runtime is not None:
            kept.append(f"file://{_plugin_path(wish.runtime)}")
        if kept or document.get("plugin") == []:
            new["plugin"] = kept
        else:
            new.pop("plugin", None)
        return new

    def commands(self) -> list[str]:
        """The plugin's text stands for the command: it names the same interpreter and script."""
        plugins = self.document().get("plugin")
        ours = [item for item in plugins if _is_ours(item)] if isinstance(plugins, list) else []
        return [(read(str(item).removeprefix("file://")) or b"").decode("utf-8", "replace") for item in ours]


def _is_ours(item: object) -> bool:
    return isinstance(item, str) and item.startswith("file://") and item.endswith("/tmpwarden-opencode.js")


def _plugin_path(runtime: Runtime) -> str:
    return os.path.join(runtime.directory, "tmpwarden-opencode.js")


def _plugin(wish: Wish) -> str:
    assert wish.runtime is not None
    with open(_PLUGIN, encoding="utf-8") as file:
        text = file.read()
    if not wish.guard:
        text = text[: text.index(_GUARDING)] + text[text.index(_BEHIND_IT) :]
    runtime = wish.runtime
    known: dict[str, object] = {
        "PYTHON": runtime.interpreter,
        "SCRIPT": runtime.script,
        "FLAGS": ["--observe"] * wish.observe,
    }
    known["PLACES"] = places_of_ours()
    for name, value in known.items():
        text = text.replace(f"__{name}__", json.dumps(value))
    return text.replace("__MARK__", MARK)
