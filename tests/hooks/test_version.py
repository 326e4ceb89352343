"""Which version of an agent calls: told by its environment, its payload or the package its program lies in."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.calling import hook, said
from tmpwarden.agent_facts import FACTS
from tmpwarden.oskit.proc.agent_version import numbers, program_of, version_of

SESSION = "4ccb12f1-61e7-48ad-9bec-1437a2f881f7"


@pytest.mark.parametrize(("text", "version"), [
    ("2.1.325", (2, 1, 325)), ("claude-code_2-1-325_harness", (2, 1, 325)), ("0.166.0-linux-x64", (0, 166, 0)),
    ("v1.2.3", ()), ("1.2.3-alpha.1", ()), ("1.2.3-rc1", ()), ("1.2.3 (Claude Code)", ()), ("", ()), ("new", ()),
    ("1.2.3-darwin-arm64", (1, 2, 3)), ("0.61.0-nightly.20261101", ()), ("\u0661.2", ()), ("1." + "9" * 300, ()),
    ("1..2", ()), ("-1", ()),
])  # fmt: skip
def test_numbers_are_read_and_an_early_version_is_unknown(text: str, version: tuple[int, ...]) -> None:
    assert numbers(text) == version


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    assert all(part >= 0 for part in numbers(text))


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A program in an npm package, as agents are installed."""
    home = tmp_path / "node_modules" / "@openai" / "codex-linux-x64"
    (home / "vendor" / "bin").mkdir(parents=True)
    program = home / "vendor" / "bin" / "codex"
    program.write_bytes(Path("/bin/sleep").read_bytes())
    program.chmod(0o755)
    (home / "vendor" / "package.json").write_text('{"type": "module"}')  # a marker without a name
    (home / "package.json").write_text(json.dumps({"name": "@openai/codex", "version": "0.166.0-linux-x64"}))
    return program


@pytest.fixture
def process(package: Path) -> "Iterator[subprocess.Popen[bytes]]":
    running = subprocess.Popen([str(package), "600"])
    try:
        yield running
    finally:
        running.kill()
        running.wait()


def test_a_program_is_found_by_its_process_and_its_version_beside_it(process: "subprocess.Popen[bytes]") -> None:
    program = program_of(process.pid)
    assert program.endswith("/codex")
    assert version_of(FACTS["codex"], {}, {}, lambda: program) == (0, 166, 0)


def test_a_script_counts_for_its_interpreter(tmp_path: Path) -> None:
    node = tmp_path / "node"
    node.write_bytes(Path(os.path.realpath(sys.executable)).read_bytes())
    node.chmod(0o755)
    script = tmp_path / "gemini.js"
    script.write_text("import time; print('here', flush=True); time.sleep(600)")
    halves = {"PYTHONHOME": sys.base_prefix, "LD_LIBRARY_PATH": f"{sys.base_prefix}/lib"}  # which a copy does not find
    env = os.environ | halves
    running = subprocess.Popen(["node", "-B", str(script)], executable=node, env=env, stdout=subprocess.PIPE)
    try:
        assert running.stdout is not None and running.stdout.readline() == b"here\n"
        assert program_of(running.pid) == str(script)
    finally:
        running.kill()
        running.communicate()


def test_a_package_of_another_name_tells_nothing(package: Path) -> None:
    manifest = package.parents[2] / "package.json"
    manifest.write_text(json.dumps({"name": "left-pad", "version": "9.0.0"}))
    assert version_of(FACTS["codex"], {}, {}, lambda: str(package)) == ()
    manifest.write_text(json.dumps({"name": "@openai/codexology", "version": "9.0.0"}))
    assert version_of(FACTS["codex"], {}, {}, lambda: str(package)) == ()


def test_what_a_package_said_is_remembered_until_the_program_changes(package: Path, tmp_path: Path) -> None:
    memory = str(tmp_path / "codex.version")
    manifest = package.parents[2] / "package.json"

    def told() -> tuple[int, ...]:
        return version_of(FACTS["codex"], {}, {}, lambda: str(package), memory)

    assert told() == (0, 166, 0)
    manifest.unlink()
    assert told() == (0, 166, 0)
    os.utime(package, ns=(0, 0))
    assert told() == ()


def before(agent: str, event: str, tool: str, command: str, cwd: Path, env: dict[str, str]) -> dict[str, object]:
    payload = {"session_id": SESSION, "cwd": str(cwd), "hook_event_name": event, "tool_name": tool}
    hook(agent, "SessionStart", payload | {"source": "startup"}, env=env)
    answer = said(hook(agent, event, payload | {"tool_input": {"command": command}}, env=env))
    found = answer.get("hookSpecificOutput", answer)
    assert isinstance(found, dict)
    return found


GUARD = "[redirect]\ntmp = true\n"
SAFE_ONLY_REWRITTEN = "mkdir /tmp/built-by-a-test && rm -rf /tmp/built-by-a-test"  # never run
PROJECT = Path("/usr/share")  # not below /tmp, where nothing would be led


@pytest.fixture
def world(own_world: Path) -> Path:
    (own_world / "config" / "tmpwarden").mkdir()
    (own_world / "config" / "tmpwarden" / "config.toml").write_text(GUARD)
    return own_world


@pytest.mark.parametrize("version", ["", "1.0.50", "1.0.102-beta.1"])
def test_copilot_of_unknown_or_older_version_gets_no_allow_that_rests_on_a_rewrite(world: Path, version: str) -> None:
    env = {"COPILOT_CLI_BINARY_VERSION": version}
    found = before("copilot", "PreToolUse", "Bash", SAFE_ONLY_REWRITTEN, PROJECT, env)
    assert found["permissionDecision"] == "ask"
    assert "safe only in the session's temp directory" in str(found["permissionDecisionReason"])


def test_copilot_of_a_measured_version_gets_the_allow(world: Path) -> None:
    env = {"COPILOT_CLI_BINARY_VERSION": "1.0.102"}
    assert before("copilot", "PreToolUse", "Bash", SAFE_ONLY_REWRITTEN, PROJECT, env)["permissionDecision"] == "allow"


def test_copilot_in_its_own_words_is_judged_by_the_text_that_will_run(world: Path) -> None:
    """camelCase hooks take another input only with an allow: without one, the original runs."""
    payload = {"sessionId": SESSION, "cwd": str(PROJECT), "toolName": "bash"}
    env = {"COPILOT_CLI_BINARY_VERSION": "1.0.102"}
    hook("copilot", "sessionStart", payload, env=env)
    asked = payload | {"toolArgs": {"command": "cat x > /tmp/out"}}
    answer = said(hook("copilot", "preToolUse", asked, env=env))
    assert answer["permissionDecision"] == "ask"
    assert "Run instead: cat x > " in str(answer["permissionDecisionReason"])


@pytest.mark.parametrize("version", ["", "2.1.299", "2.1.325"])
def test_guard_check_says_what_the_hook_says(world: Path, version: str) -> None:
    env = {"AI_AGENT": f"claude-code_{version.replace('.', '-')}_harness" if version else "", "PATH": "/usr/bin:/bin"}
    hooked = before("claude", "PreToolUse", "Bash", SAFE_ONLY_REWRITTEN, PROJECT, env)
    scratch = next((world / "tmp").glob("tmpwarden-*/????????"))
    done = subprocess.run(
        [sys.executable, "-m", "tmpwarden", "guard", "check", SAFE_ONLY_REWRITTEN, "--agent", "claude", "--json",
         "--cwd", str(PROJECT), "--scratch", str(scratch)],
        env={**os.environ, **env}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    checked = json.loads(done.stdout)["data"]
    assert checked["decision"] == hooked["permissionDecision"] == ("allow" if version == "2.1.325" else "ask")
    assert checked["reason"] == hooked["permissionDecisionReason"]
