"""Call a hook the way an agent does, and say what an agent would accept as its answer."""

import json
import os
import subprocess
import time
from pathlib import Path

from support import interpreters
from support.bases import is_loading

REPOSITORY = Path(__file__).parents[2]
RUN = REPOSITORY / "src" / "tmpwarden" / "hooks" / "run.py"
PYTHON = interpreters.plain()
PAYLOADS = sorted((Path(__file__).parent / "payloads").glob("*/*.json"))
LONGEST = 1024

_CLAUDE = {"systemMessage", "hookSpecificOutput"}
_TOP = dict.fromkeys(("claude", "codex", "copilot", "qwen"), _CLAUDE) | {
    "copilot": _CLAUDE | {"additionalContext"},
    "gemini": _CLAUDE | {"decision", "reason"},
    "opencode": {"env", "context", "message", "deny", "args"},
}
_SPECIFIC = {
    "SessionStart": {"additionalContext"},
    "SubagentStart": {"additionalContext"},
    "UserPromptSubmit": {"additionalContext"},
    "PreToolUse": {"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"},
    "BeforeTool": {"tool_input"},
}


def hook(
    agent: str, event: str, payload: object, *, env: dict[str, str] | None = None, python: str = PYTHON
) -> "subprocess.CompletedProcess[bytes]":
    raw = (
        payload if isinstance(payload, bytes) else json.dumps(payload, separators=(",", ":")).encode()
    )  # as agents write it
    return subprocess.run(
        [python, "-I", "-S", str(RUN), agent, event],
        input=raw,
        env={**os.environ, **(env or {})},
        capture_output=True,
        timeout=30,
        check=False,
    )


def said(result: "subprocess.CompletedProcess[bytes]") -> dict[str, object]:
    assert result.returncode == 0, result
    assert result.stderr == b""
    answer = json.loads(result.stdout or b"{}")
    assert isinstance(answer, dict)
    return answer


def wait_for_jobs(world: Path) -> None:
    """Until no process of ours is left in this world. The job exists before the hook that started it returns."""
    deadline = time.monotonic() + 90
    while any(_is_job(process, world) for process in Path("/proc").glob("[0-9]*")):
        assert time.monotonic() < deadline, "the background job did not end"
        time.sleep(0.02)


def _is_job(process: Path, world: Path) -> bool:
    """Or may be one: a job is there, and says nothing of itself, while its interpreter is being loaded."""
    try:
        if is_loading(process):
            return True
        if os.fsencode(RUN) not in (process / "cmdline").read_bytes():
            return False
        environ = (process / "environ").read_bytes()
        return not environ or os.fsencode(world / "state") in environ
    except OSError:
        return False


def complaints(agent: str, event: str, answer: bytes) -> list[str]:
    """What this agent would dislike about an answer. Codex, the strictest, drops one with an unknown field."""
    if not answer:
        return []
    value = json.loads(answer)
    own_shape = {"permissionDecision", "permissionDecisionReason", "modifiedArgs"} if event == "preToolUse" else set()
    found = [f"unknown field {key}" for key in value if key not in _TOP[agent] | own_shape]
    specific = value.get("hookSpecificOutput", {})
    if specific:
        found += [f"event {specific.get('hookEventName')}"] if specific.get("hookEventName") != event else []
        allowed = _SPECIFIC.get(event, set()) | {"hookEventName"}
        found += [f"unknown specific field {key}" for key in specific if key not in allowed]
    echoed = specific.get("updatedInput") or specific.get("tool_input") or value.get("args")
    size = len(answer) - (len(json.dumps(echoed)) if echoed else 0)
    return [*found, f"{size} bytes"] if size > LONGEST else found
