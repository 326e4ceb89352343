"""Real agents after `tmpwarden setup`: the model is told where its temp files go, in each dialect, subagents too."""

import json
import re

import pytest

from clients.harness import PLUGIN, run_agent, run_claude
from clients.set_up import setup

pytestmark = pytest.mark.clients


@pytest.mark.parametrize("agent", ["gemini", "codex", "qwen"])
def test_the_model_is_told_the_directory(agent: str) -> None:
    result = run_agent(agent, setup=setup())
    assert f"/tmp/tmpwarden-1000/{agent}" in json.dumps(result["model"])


def test_a_subagent_of_claude_is_told_too() -> None:
    """What a session's start tells reaches the main model only."""
    ask = {"description": "look", "prompt": "SCRIPT:sub please", "subagent_type": "general-purpose"}
    sub = [{"tool": "Bash", "input": {"command": "echo at $TMPDIR", "description": "look"}}, {"text": "done"}]
    script = {"scripts": {"main": [{"tool": "Agent", "input": ask}, {"text": "done"}], "sub": sub}}
    result = run_claude(json.dumps(script), "--plugin-dir", str(PLUGIN))
    told = json.dumps(result["requests"])
    assert re.search(r"SubagentStart hook additional context: Temp files: use \$TMPDIR \(/tmp/tmpwarden-1000/", told)
    assert re.search(r"at /tmp/tmpwarden-1000/[0-9a-f]{8}", told)
