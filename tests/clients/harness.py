"""Real agents under a scripted model, in namespaces of their own. `make test-clients` needs root, node and npm.

The harness that runs them is not part of this repository; TMPWARDEN_CLIENTS names it (see docs/agents.md).
"""

import fcntl
import functools
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

_BESIDE = Path(__file__).parents[3] / "shared" / "clients"
CLIENTS = Path(os.environ.get("TMPWARDEN_CLIENTS", _BESIDE if _BESIDE.is_dir() else "/work/shared/clients"))
NPM = Path(os.environ.get("CLIENTS_NPM", "/var/cache/tmpwarden-clients"))  # uid 1000 cannot look into /root
REPOSITORY = Path(__file__).parents[2]
PLUGIN = REPOSITORY / "src"
TMPWARDEN = REPOSITORY / ".venv" / "bin" / "tmpwarden"
# On a machine that ends where the harness's pid namespace does; by the kernel's word nobody there sees everybody.
LATER = f"{REPOSITORY}/.venv/bin/python {REPOSITORY}/tests/support/whole_machine.py {73 * 3600} {TMPWARDEN}"
BREAK = "sed -i '1s/.*/raise SystemExit(2)/' ~/.local/share/tmpwarden/*/tmpwarden/hooks/entry.py"

pytestmark = pytest.mark.clients


def need(agent: str) -> None:
    if os.geteuid() != 0 or not CLIENTS.is_dir():
        pytest.skip("needs root and the harness that TMPWARDEN_CLIENTS names")
    NPM.mkdir(parents=True, exist_ok=True)
    with open(NPM / ".lock", "w") as lock:  # several tests at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (NPM / agent).is_dir():
            subprocess.run([str(CLIENTS / "install"), agent], env={**os.environ, "CLIENTS_NPM": str(NPM)}, check=True)


def run_agent(agent: str, *options: str, setup: str = "true", post: str = "true") -> dict[str, object]:
    """One scripted turn of an agent other than Claude Code. `setup` and `post` run as its user."""
    need(agent)
    argv = [str(CLIENTS / "agents" / "run_agent.py"), agent, "--no-hooks", "--full", "--timeout", "200", *options]
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "CLIENTS_NPM": str(NPM)}
    done = subprocess.run(
        [*argv, "--setup", setup, "--post", post], env=environ, capture_output=True, text=True, timeout=400, check=False
    )
    result = json.loads(done.stdout)
    assert isinstance(result, dict)
    assert result["setup"]["rc"] == 0, result["setup"]
    return result


@functools.cache
def plain_run(agent: str) -> dict[str, object]:
    """The same turn without us."""
    return run_agent(agent)


def run_claude(
    script: str,
    *options: str,
    home: Path | None = None,
    tmp: Path | None = None,
    env: dict[str, str] | None = None,
    out: Path | None = None,
) -> dict[str, object]:
    """One scripted session of Claude Code. Its working directory is `out`/work."""
    need("claude")
    where = ["--home", str(home)] if home else []
    where += ["--out", str(out)] if out else []
    where += ["--tmp-bind", str(tmp)] if tmp else []
    argv = [str(CLIENTS / "claude" / "run.py"), "--script", script, *where, *options]
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "CLIENTS_NPM": str(NPM), **(env or {})}
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=400, check=False)
    if out:  # the harness gives up on a socket that is left in /tmp, after it has written this
        result = json.loads((out / "full.json").read_text())["res"]
    else:
        assert done.stdout, done.stderr
        result = json.loads(done.stdout)
    assert isinstance(result, dict)
    return result


def bash(*commands: str) -> str:
    """A script for the model: these Bash calls, one per turn, then "done"."""
    calls: list[dict[str, object]] = [
        {"tool": "Bash", "input": {"command": command, "description": "look"}} for command in commands
    ]
    return json.dumps({"scripts": {"main": [*calls, {"text": "done"}]}})


def tool_results(result: dict[str, object]) -> str:
    """Everything the model was given back."""
    return json.dumps(result["requests"])


def install(agent: str, *options: str) -> str:
    return " ".join([str(TMPWARDEN), "install", agent, *options])


def heard(result: dict[str, object]) -> tuple[object, object]:
    """What the user of an agent sees: its exit status and its words, less what changes from run to run."""
    return result["rc"], re.sub(r"[0-9a-f-]{36}|\d+(\.\d+)?m?s|/tmp/\S+", "*", str(result["stdout"]))


def left_in_tmp(result: dict[str, object]) -> list[str]:
    """What a finished run left in the temp directories outside our quarantine."""
    remain = result["remain"]
    assert isinstance(remain, dict)
    entries = [entry["path"] for found in remain.values() for entry in found if entry["type"] != "d"]
    return sorted(path for path in entries if "/tmpwarden-1000/q/" not in path)
