"""A real Claude Code with three stdio tool servers is killed. They outlive it, no lease and no registry names their
session, and they end when told. The server of a live Claude stays, and so does a worker that was told to stay."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from clients.harness import NPM, REPOSITORY, TMPWARDEN, need, run_claude

pytestmark = pytest.mark.clients
HERE = Path(__file__).parent
SERVER, LOOK = HERE / "mcp-server-deaf.js", HERE / "unheard_look.py"
CLAUDE = NPM / "claude" / "node_modules" / "@anthropic-ai" / "claude-code" / "bin" / "claude.exe"
NAMES = ("one", "two", "three")
LATER_S = 11 * 60


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    need("claude")
    out = Path("/var/tmp/tmpwarden-client-runs") / f"unheard-{os.getpid()}"
    servers = {name: {"command": "node", "args": [str(SERVER), name]} for name in NAMES}
    turns = [{"tool": "Bash", "input": {"command": "true", "description": "look"}}, {"delay": 400, "text": "done"}]
    script = {"scripts": {"main": turns, "second": turns}}
    python = REPOSITORY / ".venv" / "bin" / "python"
    later = f"{python} {REPOSITORY}/tests/support/whole_machine.py {LATER_S} {TMPWARDEN}"
    result = run_claude(
        json.dumps(script), "--timeout", "200", "--signal", "KILL", "--signal-at", "main:1:1", "--settle", "1",
        "--post", f"/usr/bin/python3 {LOOK} {python} {CLAUDE} {SERVER} {later}",
        "--", "--mcp-config", json.dumps({"mcpServers": servers}), "--strict-mcp-config",
        out=out,
    )  # fmt: skip
    try:
        assert result["rc"] == -9, result["stderr"]
        found = json.loads((out / "work" / "told.json").read_text())
        assert isinstance(found, dict)
        return found
    finally:
        shutil.rmtree(out, ignore_errors=True)


def verdicts(told: dict[str, Any], look: str) -> dict[str, str]:
    names = {pid: name for name, pid in told["running"].items()}
    return {names[one["pid"]]: one["verdict"] for one in told[look] if one["pid"] in names}


def test_the_three_outlive_claude_and_are_kept_at_the_first_look(told: dict[str, Any]) -> None:
    assert set(told["running"]) == {*NAMES, "needed"}
    assert verdicts(told, "first") == dict.fromkeys(NAMES, "keep")


def test_the_second_look_lets_them_end_and_they_end(told: dict[str, Any]) -> None:
    assert verdicts(told, "second") == dict.fromkeys(NAMES, "end")
    assert {one["pid"] for one in told["ended"]} == {told["running"][name] for name in NAMES}


def test_a_live_claudes_server_and_a_worker_that_was_told_to_stay_go_on(told: dict[str, Any]) -> None:
    assert told["left"] == {"needed": told["running"]["needed"]}
    assert told["live"] is None
    assert told["worker"]
