"""A session that calls the hooks as Claude does, and runs what the guard lets through."""

import os
import subprocess
import time
import uuid
from pathlib import Path

from hooks.calling import hook, said
from tmpwarden.hooks import notebook
from tmpwarden.leases import births, stated
from tmpwarden.model.belongings import Birth


class Session:
    def __init__(self, world: Path, pid: int, root: Path | None = None) -> None:
        self.root, self.state, self.pid = root or world / "tmp", world / "state" / "tmpwarden", pid
        self.id = str(uuid.uuid4())
        self.calls = 0
        self.project = Path(os.environ["HOME"]) / "project"
        self.project.mkdir(exist_ok=True)

    def say(self, event: str, **fields: object) -> dict[str, object]:
        payload = {"session_id": self.id, "hook_event_name": event, "cwd": str(self.project), **fields}
        env = {"CLAUDE_PID": str(self.pid), "AI_AGENT": "claude-code_2-1-325_x", "TMPDIR": str(self.root)}
        env["TMPWARDEN_ROOTS"] = str(self.root)
        answer = said(hook("claude", event, payload, env=env))
        return answer.get("hookSpecificOutput", answer)  # type: ignore[return-value]

    def call(self, tool: str, **given: object) -> dict[str, object]:
        self.calls += 1
        return {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{self.calls}"}

    def before(self, call: dict[str, object]) -> str:
        """The guard's word, "" for none."""
        return str(self.say("PreToolUse", **call).get("permissionDecision", ""))

    def after(self, call: dict[str, object], took_s: float = 0.0, stdout: str = "") -> None:
        self.say("PostToolUse", **call, tool_response={"stdout": stdout}, duration_ms=int(took_s * 1000))

    def bash(self, command: str, *, runs: bool = True, **fields: object) -> str:
        """The guard's word; what it does not deny is run."""
        call = self.call("Bash", command=command, **fields)
        word = self.before(call)
        began_s = time.monotonic()
        stdout = ""
        if runs and word != "deny":
            line = ["bash", "-c", command]
            stdout = subprocess.run(
                line, cwd=self.project, capture_output=True, text=True, check=False, timeout=30
            ).stdout
        self.after(call, time.monotonic() - began_s, stdout)
        return word

    def asked(self, command: str) -> str:
        """The guard's word about a line that nobody runs in the end."""
        return self.before(self.call("Bash", command=command))

    def write(self, path: Path, text: str) -> str:
        call = self.call("Write", file_path=str(path), content=text)
        word = self.before(call)
        path.write_text(text)
        self.after(call)
        return word

    def noted(self, *paths: Path) -> dict[str, Birth]:
        """The background is waited for."""
        until = time.monotonic() + 20
        wanted = {str(path) for path in paths}
        while not wanted <= (found := births.read(str(self.state))).keys() and time.monotonic() < until:
            time.sleep(0.02)
        return found

    def all_noted(self) -> None:
        """No call is open any more."""
        file = notebook.stated_file(str(self.state / "hooks"), self.id)
        until = time.monotonic() + 20
        while stated.read(file) and time.monotonic() < until:
            time.sleep(0.02)
        assert stated.read(file) == []
