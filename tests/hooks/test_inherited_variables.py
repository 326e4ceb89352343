"""An exported function is seen by the guard, though the `sh` that starts its hook drops it; so is what it empties."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from hooks.calling import PYTHON, RUN, hook, said
from tmpwarden.oskit.proc.inherited import names_in

SESSION = "7f0c1f3e-0000-4000-8000-00000000beef"


@pytest.fixture
def scratch(own_world: Path) -> str:
    env_file = own_world / "env.sh"
    payload = {"session_id": SESSION, "hook_event_name": "SessionStart", "cwd": "/", "source": "startup"}
    said(
        hook("claude", "SessionStart", payload, env={"CLAUDE_ENV_FILE": str(env_file), "CLAUDE_PID": str(os.getpid())})
    )
    (found,) = [path for path in (own_world / "tmp").glob("tmpwarden-*/[0-9a-f]*") if path.is_dir()]
    return str(found)


def decided(scratch: str, environ: dict[str, str], before: str = "") -> str:
    """Through dash, as the line in an agent's settings is run."""
    command = f"rm -rf {scratch}/x"
    payload = {
        "session_id": SESSION, "hook_event_name": "PreToolUse", "cwd": "/", "tool_name": "Bash",
        "tool_input": {"command": command},
    }  # fmt: skip
    line = f"{before}'{PYTHON}' -I -S '{RUN}' claude PreToolUse || echo failed; exit 0"
    env = {**os.environ, "CLAUDE_PID": str(os.getpid()), **environ}
    ran = subprocess.run(
        ["dash", "-c", line], input=json.dumps(payload).encode(), env=env, capture_output=True, check=True
    )
    answer = json.loads(ran.stdout or b"{}")
    return str(answer.get("hookSpecificOutput", {}).get("permissionDecision", "pass"))


def test_an_exported_function_of_a_programs_name_costs_the_allow(scratch: str) -> None:
    assert decided(scratch, {}) == "allow"
    assert decided(scratch, {"BASH_FUNC_ls%%": "() { :; }"}) == "allow"
    assert decided(scratch, {"BASH_FUNC_rm%%": "() { :; }"}) == "pass"


def test_what_the_line_in_the_settings_empties_counts_as_the_agent_has_it(scratch: str) -> None:
    assert decided(scratch, {"LD_AUDIT": ""}) == "allow"
    assert decided(scratch, {"LD_AUDIT": "/nonexistent.so"}, "LD_AUDIT= ") == "pass"


def test_only_names_are_taken() -> None:
    environ = b"A=1\0BASH_FUNC_rm%%=() { secret; }\0LD_AUDIT=\0LD_PRELOAD=/x\0X=BASH_FUNC_cp%%=y\0"
    assert names_in(environ) == {"A", "BASH_FUNC_rm%%", "LD_PRELOAD", "X"}
    assert names_in(b"") == frozenset()
