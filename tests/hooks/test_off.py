"""The off switch is the user's: a file of theirs. What a project or an agent may set does not switch off a guard."""

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from hooks.calling import hook
from support import forked
from support.mounts import needs_root
from tmpwarden.setup import apply, runtime

SESSION = str(uuid.uuid4())
FORBIDDEN = "rm -rf /etc/x"


def payload(event: str, **more: object) -> dict[str, object]:
    return {"session_id": SESSION, "hook_event_name": event, "cwd": "/", **more}


def judged(world: Path) -> bytes:
    call = payload("PreToolUse", tool_name="Bash", tool_use_id="t", tool_input={"command": FORBIDDEN})
    return hook("claude", "PreToolUse", call).stdout


def tmpwarden(*words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tmpwarden", *words]
    clean = {name: value for name, value in os.environ.items() if name != "CLAUDE_CODE_SESSION_ID"}
    return forked.run(command, capture_output=True, text=True, check=False, env=clean | env)


def test_off_lets_every_hook_pass_and_tells_each_session(own_world: Path) -> None:
    assert b"ask" in judged(own_world)
    said = tmpwarden("off")
    assert (said.returncode, said.stderr) == (0, "")
    assert judged(own_world) == b""
    told = json.loads(hook("claude", "SessionStart", payload("SessionStart", source="startup")).stdout)
    assert told == {
        "systemMessage": "tmpwarden is switched off: no guard, no clean-up. To switch it on again: tmpwarden on"
    }
    assert "all hooks are switched off; to switch them on again: tmpwarden on" in tmpwarden("status").stderr
    assert tmpwarden("on").returncode == 0
    assert b"ask" in judged(own_world)
    assert "switched off" not in tmpwarden("status").stderr


def test_off_for_a_while_ends_by_itself(own_world: Path) -> None:
    assert tmpwarden("off", "--for", "1h").stdout.startswith("Hooks are off for 1h, until ")
    assert judged(own_world) == b""
    off = own_world / "config" / "tmpwarden" / "off"
    assert 3500 < off.stat().st_mtime - time.time() < 3601
    os.utime(off, (1, time.time() - 1))
    assert b"ask" in judged(own_world)


@needs_root
def test_a_file_of_another_user_switches_nothing_off(own_world: Path) -> None:
    tmpwarden("off")
    os.chown(own_world / "config" / "tmpwarden" / "off", 12345, 12345)
    assert b"ask" in judged(own_world)


def test_an_agent_cannot_switch_it_off(own_world: Path) -> None:
    said = tmpwarden("off", CLAUDE_CODE_SESSION_ID=SESSION)
    assert said.returncode == 4
    assert "CLAUDE_CODE_SESSION_ID is set: an agent is running this" in said.stderr
    assert b"ask" in judged(own_world)


@pytest.mark.parametrize(
    "variable",
    ["CLAUDECODE", "CODEX_CI", "CODEX_THREAD_ID", "COPILOT_CLI", "GEMINI_CLI", "OPENCODE", "OPENCODE_PID", "QWEN_CODE"],
)
def test_whatever_an_agent_marks_its_commands_with_none_of_them_switches_it_off(own_world: Path, variable: str) -> None:
    said = tmpwarden("off", **{variable: "1"})
    assert (said.returncode, f"{variable} is set" in said.stderr) == (4, True)
    assert not (own_world / "config" / "tmpwarden" / "off").exists()


def test_an_agent_cannot_take_its_guard_out(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)
    (own_world / "home" / ".claude").mkdir(exist_ok=True)
    apply.install("claude", guard=True)
    settings = own_world / "home" / ".claude" / "settings.json"
    before = settings.read_bytes()
    for words in (["uninstall", "claude"], ["setup", "--remove", "--yes"], ["install", "claude", "--yes"]):
        said = tmpwarden(*words, CLAUDE_CODE_SESSION_ID=SESSION)
        assert said.returncode == 4
        assert "CLAUDE_CODE_SESSION_ID is set: an agent is running this" in said.stderr
        assert settings.read_bytes() == before
        assert tmpwarden(*words, "--dry-run", CLAUDE_CODE_SESSION_ID=SESSION).returncode == 0
    kept = ["keep", str(own_world / "kept")]
    assert tmpwarden(*kept, CLAUDE_CODE_SESSION_ID=SESSION).returncode == 0
    for words in (["config", "set", "keep.paths", "--unset"], [*kept, "--forget"]):
        assert tmpwarden(*words, CLAUDE_CODE_SESSION_ID=SESSION).returncode == 4
    assert tmpwarden("install", "claude", "--guard", "--yes", CLAUDE_CODE_SESSION_ID=SESSION).returncode == 0
    assert tmpwarden("uninstall", "claude").returncode == 0
    assert not settings.exists() or b"tmpwarden" not in settings.read_bytes()


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "qwen", "copilot"])
def test_variables_that_a_project_sets_do_not_switch_off_an_installed_guard(
    own_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    """A project's .env or settings reach the hook's environment. The line itself names what counts."""
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)
    (own_world / "home" / f".{agent}").mkdir(exist_ok=True)
    apply.install(agent, guard=True)
    target = next(target for target in apply.TARGETS if target.id == agent)
    event = target.guard_events[0][0]
    (line,) = {line for line in target.commands() if f" {event}" in line}
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "tmpwarden").mkdir(parents=True)
    (elsewhere / "tmpwarden" / "off").touch()
    (elsewhere / "tmpwarden" / "config.toml").write_text('[guard]\npresets = ["none"]\n')
    of_project = {"TMPWARDEN_DISABLE": "1", "XDG_CONFIG_HOME": str(elsewhere), "XDG_STATE_HOME": str(elsewhere)}
    tools = {
        "claude": "Bash",
        "gemini": "run_shell_command",
        "qwen": "run_shell_command",
        "copilot": "bash",
        "codex": "Bash",
    }
    call = payload(event, tool_name=tools[agent], tool_use_id="t", tool_input={"command": FORBIDDEN})
    done = subprocess.run(
        ["sh", "-c", line],
        input=json.dumps(call),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | of_project,
    )
    assert "ask" in done.stdout or "deny" in done.stdout or "block" in done.stdout, done


@pytest.mark.skipif(shutil.which("node") is None, reason="needs the program node")
def test_variables_that_a_project_sets_do_not_switch_off_the_guard_of_opencode(
    own_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)
    (own_world / "home" / ".config" / "opencode").mkdir(parents=True, exist_ok=True)
    apply.install("opencode", guard=True)
    [path] = own_world.rglob("tmpwarden-opencode.js")
    (tmp_path / "tmpwarden").mkdir()
    (tmp_path / "tmpwarden" / "off").touch()
    call = {"tool": "bash", "sessionID": "s-1", "callID": "c"}
    program = tmp_path / "program.mjs"
    program.write_text(
        f"import {{ Tmpwarden }} from {json.dumps(str(path))}\n"
        "const hooks = await Tmpwarden({ directory: '/' })\n"
        f"await hooks['tool.execute.before']({json.dumps(call)}, {{ args: {{ command: {json.dumps(FORBIDDEN)} }} }})\n"
        "  .then(() => console.log('passed'), (error) => console.log('refused', error.message))\n"
    )
    of_project = {"TMPWARDEN_DISABLE": "1", "XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(
        ["node", str(program)], capture_output=True, text=True, check=True, env=os.environ | of_project
    )
    assert done.stdout.startswith("refused"), done
