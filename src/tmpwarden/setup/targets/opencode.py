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

_PLUGIN = """\
// %(mark)s: a scratch directory for each session, nothing left of ended ones.
// Written by `tmpwarden install opencode`.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
const PYTHON = %(python)s, SCRIPT = %(script)s, FLAGS = %(flags)s
const UNJUDGED = { message: "tmpwarden was killed or could not start before it could judge this call" }
const ask = (event, payload) => new Promise((done) => {
  if (!existsSync(PYTHON) || !existsSync(SCRIPT)) return done({})
  const child = spawn(PYTHON, ["-I", "-S", SCRIPT, "opencode", event, ...FLAGS], { stdio: ["pipe", "pipe", "ignore"] })
  let said = ""
  const end = (status) => { try { done(JSON.parse(said)) } catch { done(status === 0 ? {} : UNJUDGED) } }
  const late = setTimeout(() => { child.kill(); done(UNJUDGED) }, 10000)
  child.stdout.on("data", (part) => { said += part })
  child.on("error", () => done(UNJUDGED)).on("close", (status) => { clearTimeout(late); end(status) })
  child.stdin.on("error", () => {}).end(JSON.stringify({ ...payload, pid: process.pid }))
})
export const Tmpwarden = async ({ directory }) => {
  const scratch = new Map(), untold = new Map()
  const start = (sessionID) => {
    if (!scratch.has(sessionID)) scratch.set(sessionID, ask("shell.env", { input: { sessionID }, cwd: directory }))
    return scratch.get(sessionID)
  }
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const context = input.sessionID && (await start(input.sessionID)).context
      if (context) output.system.push(context)
    },
    "shell.env": async (input, output) => {
      Object.assign(output.env, (await start(input.sessionID)).env ?? {})
    },
    %(guard)s"tool.execute.after": async (input, output) => {
      const more = untold.get(input.callID)
      if (more && typeof output?.output === "string") output.output += "\\n" + more
      untold.delete(input.callID)
      await ask("tool.execute.after", { input: { ...input, args: {} } })
    },
    dispose: async () => { for (const sessionID of scratch.keys()) await ask("dispose", { input: { sessionID } }) },
  }
}
"""
_GUARD = """\
"tool.execute.before": async (input, output) => {
      const said = await ask("tool.execute.before", { input, output, cwd: process.cwd() })
      if (said.deny) throw new Error(said.deny)
      if (said.message) untold.set(input.callID, said.message)
      if (said.args) Object.assign(output.args, said.args)
    },
    """


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
    return _PLUGIN % {
        "mark": MARK,
        "python": json.dumps(wish.runtime.interpreter),
        "script": json.dumps(wish.runtime.script),
        "flags": json.dumps(["--observe"] if wish.observe else []),
        "guard": _GUARD if wish.guard else "",
    }
