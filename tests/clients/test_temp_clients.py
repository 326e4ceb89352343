"""Real agents after `tmpwarden setup`: the model is told where its temp files go, in each dialect, subagents too."""

import json
import re

import pytest

from clients.harness import PLUGIN, run_agent, run_claude
from clients.set_up import by_function, setup

pytestmark = pytest.mark.clients


# The harness says of each request whether this word stood in it; our paths have it when a temp root is called so.
MARK = "HARNESS-CONTEXT-MARK"
ROOT = f"/home/u/{MARK}"


@pytest.mark.parametrize("agent", ["codex", "gemini", "copilot", "opencode", "qwen"])
def test_the_model_is_told_where_its_temp_files_go_before_its_first_command(agent: str) -> None:
    options = ["--argv", by_function(agent)] if agent == "copilot" else []
    before = f"mkdir -m 700 {ROOT} && {setup()}"
    result = run_agent(agent, *options, "--env", f"TMPWARDEN_ROOTS={ROOT}", setup=before)
    requests = result["model"]
    assert isinstance(requests, list)
    first = next(request for request in requests if request.get("tool"))
    assert first["ctx_mark"], first
    shells = result["shells"]
    assert isinstance(shells, list)
    assert shells[0]["gettempdir"].startswith(f"{ROOT}/tmpwarden-1000/")


def test_a_subagent_of_claude_is_told_too() -> None:
    """What a session's start tells reaches the main model only."""
    ask = {"description": "look", "prompt": "SCRIPT:sub please", "subagent_type": "general-purpose"}
    sub = [{"tool": "Bash", "input": {"command": "echo at $TMPDIR", "description": "look"}}, {"text": "done"}]
    script = {"scripts": {"main": [{"tool": "Agent", "input": ask}, {"text": "done"}], "sub": sub}}
    result = run_claude(json.dumps(script), "--plugin-dir", str(PLUGIN))
    told = json.dumps(result["requests"])
    assert re.search(r"SubagentStart hook additional context: Temp files: use \$TMPDIR \(/tmp/tmpwarden-1000/", told)
    assert re.search(r"at /tmp/tmpwarden-1000/[0-9a-f]{8}", told)
