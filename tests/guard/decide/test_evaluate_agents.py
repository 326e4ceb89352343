"""The guard as each agent meets it: what it is told, and what it can do with an answer."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tmpwarden.guard.decide.filetools import patch_paths
from tmpwarden.guard.log import audit

RUN = str(Path(__file__).parents[3] / "src" / "tmpwarden" / "hooks" / "run.py")
SESSION = "4ccb12f1-61e7-48ad-9bec-1437a2f881f7"


def test_a_patch_is_judged_by_every_file_it_names() -> None:
    patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: /etc/hosts\n*** Move to: b c\n*** Delete File: a\n"
    assert patch_paths(patch) == ("a", "/etc/hosts", "b c")


def hook(
    agent: str, event: str, tool: str, tool_input: dict[str, object], cwd: Path, **environ: str
) -> dict[str, object]:
    payload = {
        "session_id": SESSION,
        "cwd": str(cwd),
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": tool_input,
    }
    done = subprocess.run(
        [sys.executable, "-I", "-S", RUN, agent, event],
        input=json.dumps(payload | {"source": "startup"}),
        env={**os.environ, "AI_AGENT": "claude-code_2-1-325_harness", "CLAUDE_PID": str(os.getpid())} | environ,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    answer = json.loads(done.stdout) if done.stdout.strip() else {}
    return answer.get("hookSpecificOutput", answer)  # type: ignore[no-any-return]


def test_codex_may_not_patch_a_file_outside(own_world: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: /etc/x\n+1\n*** End Patch"
    assert hook("codex", "PreToolUse", "apply_patch", {"command": patch}, own_world)["permissionDecision"] == "deny"
    inside = patch.replace("/etc/x", "src/x")
    assert hook("codex", "PreToolUse", "apply_patch", {"command": inside}, own_world) == {}


def test_an_agent_that_cannot_ask_is_told_what_to_do_instead(own_world: Path) -> None:
    hook("codex", "SessionStart", "", {}, own_world)
    (own_world / "tmp" / "old").write_text("somebody's")
    said = hook("codex", "PreToolUse", "Bash", {"command": f"echo x > {own_world}/tmp/old"}, Path("/usr"))
    assert said["permissionDecision"] == "deny"
    assert "Instead: write to /" in str(said["permissionDecisionReason"])
    fresh = {"command": f"echo x > {own_world}/tmp/new"}
    assert hook("codex", "PreToolUse", "Bash", fresh, Path("/usr")) == {}


def leading(own_world: Path, target: str = "session") -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir()
    config.write_text(f'[redirect]\ntmp = true\ntarget = "{target}"\n')


def test_a_led_name_is_told_and_an_agent_that_ran_its_own_text_is_noted(own_world: Path) -> None:
    leading(own_world)
    hook("claude", "SessionStart", "", {}, Path("/"))
    name = f"/tmp/twtest-{os.getpid()}-out"
    said = hook("claude", "PreToolUse", "Bash", {"command": f"cat x > {name}"}, Path("/"))
    told = said["updatedInput"]
    assert isinstance(told, dict)
    real = str(told["command"]).removeprefix("cat x > ")
    assert said["additionalContext"] == f"tmpwarden: {name} is {real}. Use that path from now on."
    hook("claude", "PostToolUse", "Bash", told, Path("/"))
    log = Path(audit.log_path(str(own_world / "state" / "tmpwarden")))
    assert "mismatch" not in log.read_text()
    hook("claude", "PostToolUse", "Bash", {"command": f"cat x > {name}"}, Path("/"))
    assert json.loads(log.read_text().splitlines()[-1])["decision"] == "mismatch"


def test_a_later_call_that_is_left_is_told_where_a_led_name_is(own_world: Path) -> None:
    leading(own_world)
    hook("claude", "SessionStart", "", {}, Path("/"))
    name = f"/tmp/twtest-{os.getpid()}-out"
    place = hook("claude", "PreToolUse", "Bash", {"command": f"cat x > {name}"}, Path("/"))["updatedInput"]["command"][
        8:
    ]
    code = {"command": f"python3 -c 'print(open(\"{name}\").read())'"}
    assert hook("claude", "PreToolUse", "Bash", code, Path("/")) == {}, "nothing was made yet"
    Path(place).write_text("x")
    said = hook("claude", "PreToolUse", "Bash", code, Path("/"))
    assert said.keys() == {"hookEventName", "additionalContext"}
    assert f"{name} is {place}." in said["additionalContext"]


def test_a_shared_target_is_made_private_and_a_squatted_one_is_not_used(own_world: Path) -> None:
    target = f"/tmp/twtest-{os.getpid()}"
    leading(own_world, target)
    makes = {"command": f"mkdir {target}-x"}
    try:
        said = hook("claude", "PreToolUse", "Bash", makes, Path("/"))
        assert said["updatedInput"] == {"command": f"mkdir {target}{target.removeprefix('/tmp')}-x"}
        assert os.stat(target).st_mode & 0o777 == 0o700
        os.rmdir(target)
        os.symlink("/etc", target)
        said = hook("claude", "PreToolUse", "Bash", makes, Path("/"))
        assert said["permissionDecision"] == "ask"
        assert "updatedInput" not in said
    finally:
        os.unlink(target) if os.path.islink(target) else os.rmdir(target)


def test_an_allow_holds_in_the_shell_that_claude_starts(own_world: Path) -> None:
    hook("claude", "SessionStart", "", {}, own_world)
    (scratch,) = (own_world / "tmp" / f"tmpwarden-{os.geteuid()}").glob("[0-9a-f]" * 8)
    removes, moves = {"command": f"rm -rf {scratch}/x"}, {"command": f"cd {scratch}/x && cd full && rm -f *"}
    assert hook("claude", "PreToolUse", "Bash", removes, own_world)["permissionDecision"] == "allow"
    assert hook("claude", "PreToolUse", "Bash", moves, own_world)["permissionDecision"] == "allow"
    assert hook("claude", "PreToolUse", "Bash", moves, own_world, CDPATH="/srv")["permissionDecision"] == "ask"
    assert "permissionDecision" not in hook("claude", "PreToolUse", "Bash", removes, own_world, BASH_ENV="/x")
    snapshots = Path(os.environ["HOME"]) / ".claude" / "shell-snapshots"
    snapshots.mkdir(parents=True)
    (snapshots / "snapshot-bash-1762000000000-abcdef.sh").write_text("alias -- rm='rm -i'\n")
    assert hook("claude", "PreToolUse", "Bash", removes, own_world)["permissionDecision"] == "allow"
    (snapshots / "snapshot-zsh-1762000000001-abcdef.sh").write_text("rm () {\n\tcommand trash $@\n}\n")
    assert "permissionDecision" not in hook("claude", "PreToolUse", "Bash", removes, own_world)
