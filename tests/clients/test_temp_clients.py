"""Real agents after `tmpwarden setup`: their commands get the TMPDIR, the model is told, nothing is left behind."""

import json
import re
import shlex
from pathlib import Path

import pytest

from clients.harness import NPM, PLUGIN, REPOSITORY, TMPWARDEN, plain_run, run_agent, run_claude

pytestmark = pytest.mark.clients
# In the harness's pid namespace nobody sees everybody: doubt keeps for 72 h.
AHEAD = f"{REPOSITORY}/.venv/bin/python {REPOSITORY}/tests/support/ahead.py {73 * 3600} {TMPWARDEN}"
CRONTAB = """#!/bin/sh
[ "$1" = -l ] && { cat ~/crontab 2>/dev/null || { echo no crontab >&2; exit 1; }; exit; }
cat "$1" >~/crontab
"""
STATIC = ("codex", "gemini", "qwen")


def setup(agent: str, *more: str) -> str:
    """As the agent's user, on a machine with cron and the agent's command on PATH."""
    path = f"$HOME/bin:{NPM}/{agent}/node_modules/.bin:$PATH"
    made = f"mkdir -p ~/bin && printf %s {shlex.quote(CRONTAB)} >~/bin/crontab && chmod +x ~/bin/crontab"
    return f"{made} && PATH={path} SHELL=/bin/bash {TMPWARDEN} setup --agent {agent} --yes {' '.join(more)} >&2"


def by_function(agent: str) -> str:
    """The agent as a user's shell starts it."""
    argv = plain_run(agent)["argv"]
    assert isinstance(argv, list)
    words = next(number for number, word in enumerate(argv) if agent in Path(word).name or "npm-loader" in word)
    script = f"PATH={NPM}/{agent}/node_modules/.bin:$PATH; . ~/.bashrc; {agent} {shlex.join(argv[words + 1 :])}"
    return "\x1f".join(["/bin/bash", "-c", script])


@pytest.mark.parametrize("agent", [*STATIC, "opencode", "copilot"])
@pytest.mark.parametrize("end", ["exit", "kill"])
def test_commands_get_the_tmpdir_and_nothing_of_theirs_is_left(agent: str, end: str) -> None:
    options = ["--argv", by_function(agent)] if agent == "copilot" else []
    options += ["--end", end] if end != "exit" else []
    post = f"sleep 3; pkill -KILL -f 'prob[e].py orig'; sleep 1; {AHEAD} clean --force --quiet; ls -la /tmp >&2"
    result = run_agent(agent, *options, setup=setup(agent), post=post)
    shells = result["shells"]
    assert isinstance(shells, list)
    wanted = rf"/tmp/tmpwarden-1000/({agent}|r?[0-9a-f]{{8}})"
    assert re.fullmatch(wanted, shells[0]["gettempdir"]), shells[0]
    assert (agent in STATIC) == shells[0]["gettempdir"].endswith(f"/{agent}")
    remain = result["remain"]
    assert isinstance(remain, dict)
    left = [entry["path"] for found in remain.values() for entry in found if entry["type"] != "d"]
    of_commands = re.compile(r"/probe-|/tmp\.\w{10}$")
    assert not [path for path in left if of_commands.search(path) and "/q/" not in path], (left, result["post"])


@pytest.mark.parametrize("agent", ["gemini", "codex", "qwen"])
def test_the_model_is_told_the_directory(agent: str) -> None:
    result = run_agent(agent, setup=setup(agent))
    assert f"/tmp/tmpwarden-1000/{agent}" in json.dumps(result["model"])


@pytest.mark.parametrize("agent", [*STATIC, "opencode", "copilot"])
def test_an_agent_that_was_set_up_and_taken_out_again_has_its_home_back(agent: str) -> None:
    sums = "find . -type f -not -path './.local/*' -not -path './bin/*' -not -name crontab | sort | xargs sha256sum"
    both = f"cd && {sums} >/tmp/a && {setup(agent)} && PATH=$HOME/bin:$PATH {TMPWARDEN} setup --remove --yes >&2"
    result = run_agent(agent, setup=f"{both} && {sums} >/tmp/b && diff /tmp/a /tmp/b >&2")
    assert result["setup"]["rc"] == 0  # type: ignore[index]


def test_a_subagent_of_claude_is_told_too() -> None:
    """What a session's start tells reaches the main model only."""
    ask = {"description": "look", "prompt": "SCRIPT:sub please", "subagent_type": "general-purpose"}
    sub = [{"tool": "Bash", "input": {"command": "echo at $TMPDIR", "description": "look"}}, {"text": "done"}]
    script = {"scripts": {"main": [{"tool": "Agent", "input": ask}, {"text": "done"}], "sub": sub}}
    result = run_claude(json.dumps(script), "--plugin-dir", str(PLUGIN))
    told = json.dumps(result["requests"])
    assert re.search(r"SubagentStart hook additional context: Temp files: use \$TMPDIR \(/tmp/tmpwarden-1000/", told)
    assert re.search(r"at /tmp/tmpwarden-1000/[0-9a-f]{8}", told)
