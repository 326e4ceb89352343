"""Law 9: whatever fails inside a hook, the agent goes on; before a tool call it is asked, where there is asking."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hooks.calling import PYTHON, REPOSITORY, complaints, hook, said
from support import mounts
from support.mounts import needs_root
from support.user import UID
from tmpwarden.setup.runtime import Runtime
from tmpwarden.setup.targets import TARGETS
from tmpwarden.setup.targets.target import Wish

EVENTS = ("SessionStart", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
BEFORE = {
    "claude": "PreToolUse",
    "codex": "PreToolUse",
    "gemini": "BeforeTool",
    "copilot": "PreToolUse",
    "opencode": "tool.execute.before",
    "qwen": "PreToolUse",
}
CAN_ASK = ("claude", "copilot", "qwen")
PAYLOAD = {"session_id": "s-1", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "echo x > /tmp/x"}}
TOO_LONG = json.dumps(PAYLOAD).encode()[:-2] + b" " * (33 << 20)
TOO_DEEP = b'{"session_id":' + b"[" * 100_000
TORN = b'{"session_id":"s-1","tool_name":"Bash","tool_input":{"command":"rm -'


def asks(answer: dict[str, object]) -> bool:
    return '"ask"' in json.dumps(answer)


@pytest.mark.parametrize("raw", [TOO_LONG, TOO_DEEP, TORN, b"[]", b"\xff\xfe"], ids=lambda raw: str(raw[:12]))
@pytest.mark.parametrize("agent", BEFORE)
def test_a_call_that_cannot_be_read_is_asked_about_or_told(agent: str, raw: bytes, own_world: Path) -> None:
    """It may be huge or deep on purpose: no opinion in silence would be a way round the guard."""
    result = hook(agent, BEFORE[agent], raw)
    assert complaints(agent, BEFORE[agent], result.stdout) == []
    answer = said(result)
    assert asks(answer) is (agent in CAN_ASK)
    assert "could not check" in json.dumps(answer)
    assert "deny" not in answer and '"deny"' not in json.dumps(answer)


@pytest.mark.parametrize("raw", [TOO_LONG, TOO_DEEP, TORN, b"", b"[]"], ids=lambda raw: str(raw[:12]))
@pytest.mark.parametrize("event", [event for event in EVENTS if event != "PreToolUse"])
def test_any_other_event_that_cannot_be_read_passes(event: str, raw: bytes, own_world: Path) -> None:
    assert said(hook("claude", event, raw)) == {}


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full"])
def test_closed_and_full_descriptors_are_no_failure(event: str, closed: str, own_world: Path) -> None:
    (own_world / "payload").write_text(json.dumps(PAYLOAD))
    script = f"{PYTHON} -I -S '{REPOSITORY}/src/tmpwarden/hooks/run.py' claude {event} <'{own_world}/payload' {closed}"
    done = subprocess.run(["sh", "-c", script], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("missing", ["guard", "guard/decide/evaluate.py", "hooks/events", "hooks/dialects", "model"])
def test_a_runtime_with_a_hole_asks_or_passes(missing: str, tmp_path: Path, own_world: Path) -> None:
    root = tmp_path / "lib" / "tmpwarden"
    shutil.copytree(REPOSITORY / "src" / "tmpwarden", root, ignore=shutil.ignore_patterns("__pycache__"))
    gone = root / missing
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    argv = [PYTHON, "-I", "-S", str(root / "hooks" / "run.py"), "claude", "PreToolUse"]
    done = subprocess.run(argv, input=json.dumps(PAYLOAD).encode(), capture_output=True, timeout=60, check=False)
    crashes = missing in ("hooks/dialects", "model")  # the line in the settings makes a question of it
    assert (done.returncode, done.stderr) == (int(crashes), b"")
    assert asks(json.loads(done.stdout or b"{}")) is (missing.startswith("guard") or missing == "hooks/events")


@needs_root
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("trouble", ["full", "read-only", "a file", "link to another user's", "another user's"])
def test_a_state_directory_in_trouble_stops_nobody(event: str, trouble: str, own_world: Path) -> None:
    state = own_world / "state"
    if trouble == "full":
        with mounts.tmpfs(state, "64k"):
            mounts.fill_bytes(state)
            _goes_on(event)
        return
    theirs = own_world / "theirs"
    theirs.mkdir(mode=0o700)
    os.chown(theirs, UID, UID)
    if trouble == "read-only":
        with mounts.mounted(state, "-t", "tmpfs", "-o", "ro", "tmpfs"):
            _goes_on(event)
        return
    if trouble == "a file":
        (state / "tmpwarden").write_text("")
    elif trouble == "another user's":
        (state / "tmpwarden").mkdir()
        os.chown(state / "tmpwarden", UID, UID)
    else:
        (state / "tmpwarden").symlink_to(theirs)
    _goes_on(event)
    assert list(theirs.iterdir()) == [], "nothing of ours is written where another user leads us"


def _goes_on(event: str) -> None:
    result = hook("claude", event, PAYLOAD)
    assert (result.returncode, result.stderr) == (0, b"")
    assert complaints("claude", event, result.stdout) == []


@pytest.mark.parametrize("event", ["PreToolUse", "Stop"])
def test_a_payload_without_an_end_is_given_up(event: str, own_world: Path) -> None:
    argv = [PYTHON, "-I", "-S", str(REPOSITORY / "src/tmpwarden/hooks/run.py"), "claude", event]
    with open("/dev/zero", "rb") as endless:
        done = subprocess.run(argv, stdin=endless, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert (b'"ask"' in done.stdout) == (event == "PreToolUse")


@pytest.mark.parametrize("event", EVENTS)
def test_a_fifo_for_a_config_keeps_no_agent_waiting(event: str, own_world: Path) -> None:
    config = own_world / "config" / "tmpwarden"
    config.mkdir(parents=True)
    os.mkfifo(config / "config.toml")
    _goes_on(event)


@pytest.mark.parametrize(
    ("agent", "word"),
    [
        ("claude", '"ask"'),
        ("copilot", '"ask"'),
        ("qwen", '"ask"'),
        ("codex", '"systemMessage"'),
        ("gemini", '"systemMessage"'),
    ],
)
def test_a_hook_that_a_signal_or_a_crash_ends_is_no_silent_pass(agent: str, word: str, tmp_path: Path) -> None:
    """The line that stands in the agent's settings, with a hook in it that dies."""
    script = tmp_path / "tmpwarden" / "hooks" / "run.py"
    script.parent.mkdir(parents=True)
    runtime = Runtime(str(tmp_path), PYTHON)
    target = next(each for each in TARGETS if each.id == agent)
    group: Any = target.groups(Wish(runtime, guard=True))[BEFORE[agent]]
    line = group["bash"] if agent == "copilot" else group["hooks"][0]["command"]
    for ends, expected in (("os.kill(os.getpid(), 9)", word), ("os._exit(0)", ""), ("import gone", word)):
        script.write_text(f"import os\n{ends}\n")
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 0
        assert (expected in done.stdout) if expected else done.stdout == ""
        assert complaints(agent, BEFORE[agent], done.stdout.encode()) == []
