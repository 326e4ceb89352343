"""OpenCode: a small JavaScript plugin beside the runtime, named in opencode.json.

Not in ~/.config/opencode/plugin: any file there makes it fetch an npm package first, 70 s when offline.
"""

from __future__ import annotations

import copy
import json
import os

from ...errors import BrokenSettings
from ...text import shown
from ..edits import Document, Edit, line_of, read
from ..runtime import Runtime
from .target import MARK, Target, Wish

_PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "opencode.js")
_GUARDING, _BEHIND_IT = '"tool.execute.before"', '"tool.execute.after"'  # where the guard's part begins and ends


class OpenCode(Target):
    def edits(self, wish: Wish) -> list[Edit]:
        made = super().edits(wish)
        if wish.runtime is None:
            return made
        path = _plugin_path(wish.runtime)
        return [Edit(path, read(path), _plugin(wish).encode()), *made]

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
    known = {"PYTHON": wish.runtime.interpreter, "SCRIPT": wish.runtime.script, "FLAGS": ["--observe"] * wish.observe}
    for name, value in known.items():
        text = text.replace(f"__{name}__", json.dumps(value))
    return text.replace("__MARK__", MARK)
