"""A session's way through the hooks: start, tool calls, stop, end, and again."""

import json
import os
import stat
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from hooks.calling import PYTHON, RUN, hook, said
from support.mounts import mounted
from tmpwarden.leases.scratch import open_scratch

# Of this test process alone: in another one a recorded payload's environment names its session, and whoever carries a
# session's name keeps its scratch.
SESSION, OTHER = str(uuid.uuid4()), str(uuid.uuid4())


def payload(event: str, session: str = SESSION, **more: object) -> dict[str, object]:
    return {"session_id": session, "hook_event_name": event, "cwd": "/", **more}


@pytest.fixture
def world(own_world: Path, packed: None) -> Path:
    """Nothing due, so that no job runs unless a test wants one."""
    put_off(own_world)
    return own_world


def put_off(world: Path) -> None:
    notes = world / "state" / "tmpwarden" / "hooks"
    notes.mkdir(parents=True, mode=0o700, exist_ok=True)
    for name, seconds in (("markers.due", 55), ("clean.due", 3000)):
        (notes / name).touch()
        os.utime(notes / name, (time.time() + seconds, time.time() + seconds))


@pytest.fixture
def agent():  # type: ignore[no-untyped-def]
    """A process that stands for the agent."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def start(world: Path, agent: "subprocess.Popen[bytes]", *, session: str = SESSION, source: str = "startup") -> str:
    env_file = world / "home" / ".claude" / "session-env" / session / "sessionstart-hook-0.sh"
    env_file.parent.mkdir(parents=True, exist_ok=True)
    environ = {"CLAUDE_ENV_FILE": str(env_file), "CLAUDE_PID": str(agent.pid)}
    answer = said(hook("claude", "SessionStart", payload("SessionStart", session, source=source), env=environ))
    specific = answer["hookSpecificOutput"]
    assert isinstance(specific, dict)
    return str(specific["additionalContext"])


def env_file(world: Path, session: str = SESSION) -> Path:
    return world / "home" / ".claude" / "session-env" / session / "sessionstart-hook-0.sh"


def scratches(world: Path) -> list[Path]:
    return [path for path in (world / "tmp" / f"tmpwarden-{os.geteuid()}").glob("????????") if path.is_dir()]


def mktemp(world: Path, shell: str = "bash", session: str = SESSION) -> str:
    command = f". '{env_file(world, session)}'; mktemp"
    return subprocess.run([shell, "-c", command], capture_output=True, text=True, check=True).stdout.strip()


def test_a_start_gives_a_private_scratch_and_tells_the_model(world: Path, agent: "subprocess.Popen[bytes]") -> None:
    told = start(world, agent)
    (scratch,) = scratches(world)
    assert told == (
        f"Temp files: use $TMPDIR ({scratch}). It is deleted after this session; files to keep belong in the project."
    )
    assert stat.S_IMODE(scratch.stat().st_mode) == 0o700
    lease = json.loads(scratch.with_name(scratch.name + ".lease").read_text())
    assert (lease["pid"], lease["session"], lease["agent"]) == (agent.pid, SESSION, "claude")


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_a_command_that_sources_the_env_file_makes_its_temp_files_in_the_scratch(
    world: Path, agent: "subprocess.Popen[bytes]", shell: str
) -> None:
    start(world, agent)
    assert Path(mktemp(world, shell)).parent == scratches(world)[0]


def test_the_env_file_is_the_same_after_a_compaction_and_keeps_the_lines_of_others(
    world: Path, agent: "subprocess.Popen[bytes]"
) -> None:
    env_file(world).parent.mkdir(parents=True)
    env_file(world).write_text("export OTHER=1\n")
    start(world, agent)
    once = env_file(world).read_text()
    start(world, agent, source="compact")
    assert env_file(world).read_text() == once
    assert once.startswith("export OTHER=1\n")
    assert once.count("TMPDIR=") == 1


def test_the_env_file_makes_a_cleared_scratch_again(world: Path, agent: "subprocess.Popen[bytes]") -> None:
    start(world, agent)
    (scratch,) = scratches(world)
    scratch.rmdir()
    assert Path(mktemp(world)).parent == scratch


@pytest.mark.parametrize("squat", ["symlink", "another user"])
def test_the_env_file_leaves_tmpdir_alone_when_somebody_else_took_the_name(
    world: Path, agent: "subprocess.Popen[bytes]", squat: str, tmp_path: Path
) -> None:
    start(world, agent)
    base = scratches(world)[0].parent
    subprocess.run(["rm", "-rf", str(base)], check=True)
    if squat == "symlink":
        (tmp_path / "trap").mkdir()
        base.symlink_to(tmp_path / "trap")
    else:
        if os.geteuid() != 0:
            pytest.skip("needs root to make another user's directory")
        base.mkdir(mode=0o777)
        os.chown(base, 65534, 65534)
    command = f"unset TMPDIR; . '{env_file(world)}'; echo \"${{TMPDIR-unset}}\""
    assert subprocess.run(["bash", "-c", command], capture_output=True, text=True).stdout == "unset\n"


def decision(agent: str, world: Path, command: str = "rm -rf $TMPDIR/x", **env: str) -> object:
    """What the guard lets this session do."""
    asked = payload("PreToolUse", tool_name="Bash", tool_input={"command": command}) | {"cwd": str(world / "home")}
    answer = said(hook(agent, "PreToolUse", asked, env=env)).get("hookSpecificOutput", {})
    assert isinstance(answer, dict)
    return answer.get("permissionDecision")


def test_the_guard_knows_tmpdir_of_a_session_whose_start_set_it(world: Path, agent: "subprocess.Popen[bytes]") -> None:
    start(world, agent)
    assert decision("claude", world) == "allow"
    assert decision("claude", world, "rm -rf $TMPDIR/../x") == "ask"


def test_the_guard_believes_no_tmpdir_of_a_session_whose_start_it_did_not_see(world: Path) -> None:
    """It gets a scratch with the first call, but its commands have another TMPDIR, or none: $TMPDIR/x may be /x."""
    assert [decision("claude", world) for _ in range(2)] == ["ask", "ask"]
    (scratch,) = scratches(world)
    assert decision("claude", world, f"rm -rf {scratch}/x") == "allow"


def test_the_guard_knows_tmpdir_of_an_agent_that_runs_under_run(world: Path) -> None:
    """Codex is told a no, and nothing where it may go on."""
    leased = open_scratch(str(world / "tmp"), "codex", "s-1", pid=os.getpid()).path
    assert decision("codex", world, TMPDIR=leased) is None
    assert decision("codex", world, f"rm -rf {leased}/x", TMPDIR=leased) is None
    stranger = Path(leased).with_name("0a0a0a0a")
    stranger.mkdir(mode=0o700)
    assert decision("codex", world, TMPDIR=str(stranger)) == "deny"


def test_a_continued_session_finds_its_scratch_though_it_was_handed_a_dropped_env_file(
    world: Path, agent: "subprocess.Popen[bytes]"
) -> None:
    """`claude -p --continue`: CLAUDE_ENV_FILE is that of a start-up id, commands source the resumed id's."""
    dropped = env_file(world, OTHER)
    dropped.parent.mkdir(parents=True)
    environ = {"CLAUDE_ENV_FILE": str(dropped), "CLAUDE_PID": str(agent.pid)}
    hook("claude", "SessionStart", payload("SessionStart", source="resume"), env=environ)
    assert Path(mktemp(world)).parent == scratches(world)[0]


def test_two_sessions_have_two_scratches(world: Path, agent: "subprocess.Popen[bytes]") -> None:
    start(world, agent)
    start(world, agent, session=OTHER)
    assert len(scratches(world)) == 2


@pytest.mark.parametrize("reason", ["clear", "resume"])
def test_a_session_that_only_makes_way_for_another_keeps_its_scratch(
    world: Path, agent: "subprocess.Popen[bytes]", reason: str
) -> None:
    start(world, agent)
    said(hook("claude", "SessionEnd", payload("SessionEnd", reason=reason), env={"CLAUDE_PID": str(agent.pid)}))
    assert len(scratches(world)) == 1


def test_an_empty_scratch_goes_when_its_session_ends(world: Path, agent: "subprocess.Popen[bytes]") -> None:
    start(world, agent)
    said(hook("claude", "SessionEnd", payload("SessionEnd", reason="other"), env={"CLAUDE_PID": str(agent.pid)}))
    assert len(scratches(world)) == 1, "while the agent lives, a command of it may still write there"
    agent.kill()
    agent.wait()
    deadline = time.monotonic() + 120
    while scratches(world):
        assert time.monotonic() < deadline, "the background job did not take it"
        time.sleep(0.05)


def test_a_lost_scratch_is_told(world: Path, agent: "subprocess.Popen[bytes]") -> None:
    start(world, agent)
    (scratch,) = scratches(world)
    (scratch / "result").write_text("x")
    subprocess.run(["rm", "-rf", str(scratch), f"{scratch}.lease"], check=True)
    assert "was removed" in start(world, agent, source="resume")


def test_a_second_copy_of_us_is_inert(world: Path, agent: "subprocess.Popen[bytes]", tmp_path: Path) -> None:
    """Plugin and settings hook at once: the model is told once."""
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", str(RUN.parents[2]), str(copy)], check=True)
    start(world, agent)
    raw = json.dumps(payload("SessionStart", source="startup")).encode()
    again = subprocess.run(
        [PYTHON, "-I", "-S", str(copy / "tmpwarden" / "hooks" / "run.py"), "claude", "SessionStart"],
        input=raw,
        env={**os.environ, "CLAUDE_PID": str(agent.pid)},
        capture_output=True,
        check=True,
    )
    assert (again.stdout, again.stderr) == (b"", b"")


def test_a_resumed_session_may_be_served_by_another_copy(world: Path, agent: "subprocess.Popen[bytes]") -> None:
    claim = world / "state" / "tmpwarden" / "hooks" / f"{SESSION}.claim"
    claim.write_text("1 /somewhere/else")
    assert "Temp files" in start(world, agent, source="resume")


def test_a_sandboxed_session_gets_a_scratch_where_its_commands_can_write(
    world: Path, agent: "subprocess.Popen[bytes]"
) -> None:
    (world / "home" / ".claude").mkdir()
    (world / "home" / ".claude" / "settings.json").write_text('{"sandbox": {"enabled": true}}')
    assert f"/claude-{os.geteuid()}/tw/" in start(world, agent)


def test_the_owner_is_the_first_ancestor_that_is_no_shell(world: Path) -> None:
    """Codex, Gemini and Qwen do not name themselves: this test process stands for the agent."""
    raw = json.dumps(payload("SessionStart", source="startup"))
    command = f"sh -c \"{PYTHON} -I -S '{RUN}' codex SessionStart; :\"; :"
    subprocess.run(["bash", "-c", command], input=raw, text=True, capture_output=True, check=True)
    (lease,) = (world / "tmp").glob("tmpwarden-*/*.lease")
    assert json.loads(lease.read_text())["pid"] == os.getpid()


def test_an_agent_without_an_env_file_is_told_the_path_itself(world: Path) -> None:
    answer = said(hook("gemini", "SessionStart", payload("SessionStart", source="startup")))
    assert f"use {scratches(world)[0]}." in json.dumps(answer)


def test_opencode_gets_the_variables_for_its_commands(world: Path) -> None:
    given = {"input": {"sessionID": "ses_e2211ea41ffe", "cwd": "/"}, "pid": os.getpid()}
    answer = said(hook("opencode", "shell.env", given))
    (path,) = scratches(world)
    assert answer["env"] == dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(path))
    assert f"$TMPDIR ({path})" in str(answer["context"])  # which our plugin adds to what its model is told


def test_an_output_past_a_gigabyte_is_told_once(world: Path) -> None:
    tasks = world / "tmp" / f"claude-{os.geteuid()}" / "-home" / SESSION / "tasks"
    tasks.mkdir(parents=True)
    with open(tasks / "b1234567.output", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 1100 << 20)
    environ = {"CLAUDE_CODE_TMPDIR": str(world / "tmp")}
    first = said(hook("claude", "Stop", payload("Stop"), env=environ))
    again = said(hook("claude", "Stop", payload("Stop"), env=environ))
    (tasks / "b1234567.output").unlink()
    assert "has grown to 1.1 GB" in str(first["systemMessage"])
    assert again == {}


def test_a_note_is_told_by_the_next_hook_and_only_once(world: Path) -> None:
    note = world / "state" / "tmpwarden" / "hooks" / f"{SESSION}.note"
    note.write_text("tmpwarden: removed 15 stale cwd files\n")
    first = said(hook("claude", "PostToolUse", payload("PostToolUse")))
    again = said(hook("claude", "PostToolUse", payload("PostToolUse")))
    assert (first, again) == ({"systemMessage": "tmpwarden: removed 15 stale cwd files"}, {})


def test_a_session_id_cannot_lead_out_of_the_notebook(world: Path) -> None:
    (world / "state" / "tmpwarden" / "x.note").write_text("secret\n")
    assert said(hook("claude", "PostToolUse", payload("PostToolUse", "../x"))) == {}


def test_disabled_means_that_nothing_is_made(own_world: Path) -> None:
    result = hook("claude", "SessionStart", payload("SessionStart"), env={"TMPWARDEN_DISABLE": "1"})
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")
    assert not list((own_world / "state").iterdir()) and not list((own_world / "tmp").iterdir())


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"session_id": 3}', b"[" * 100_000, b'{"session_id":' * 9999]
)
def test_bad_json_is_passed(world: Path, raw: bytes) -> None:
    result = hook("claude", "PostToolUse", raw)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_huge_json_is_passed(world: Path) -> None:
    result = hook("claude", "PostToolUse", payload("PostToolUse", tool_response="x" * (40 << 20)))
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_closed_streams_are_passed(world: Path) -> None:
    command = f"{PYTHON} -I -S '{RUN}' claude SessionStart <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 0


def test_an_unknown_dialect_or_event_is_passed(world: Path) -> None:
    for arguments in (("nobody", "SessionStart"), ("claude", "Nonsense")):
        result = hook(*arguments, payload("SessionStart"))
        assert (result.returncode, result.stdout) == (0, b"")


def test_a_squatted_scratch_is_told_and_does_not_stop_the_session(world: Path, tmp_path: Path) -> None:
    (tmp_path / "trap").mkdir()
    (world / "tmp" / f"tmpwarden-{os.geteuid()}").symlink_to(tmp_path / "trap")
    answer = said(hook("claude", "SessionStart", payload("SessionStart"), env={"CLAUDE_ENV_FILE": "/dev/null"}))
    assert "symbolic link" in str(answer["systemMessage"])
    assert not list((tmp_path / "trap").iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
@pytest.mark.parametrize("event", ["SessionStart", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"])
def test_a_full_or_read_only_home_does_not_stop_the_session(own_world: Path, event: str) -> None:
    for options in ("size=64k,nr_inodes=2", "ro"):
        with mounted(own_world / "state", "-t", "tmpfs", "-o", options, "tmpfs") as state:
            given = payload(event, tool_name="Bash", tool_input={"command": "ls"})
            result = hook("claude", event, given, env={"XDG_STATE_HOME": str(state)})
            assert (result.returncode, result.stderr) == (0, b"")


def test_a_subagent_is_told_the_scratch_that_its_session_has(own_world: Path, agent: "subprocess.Popen[bytes]") -> None:
    start(own_world, agent)
    (path,) = scratches(own_world)
    answer = said(hook("claude", "SubagentStart", payload("SubagentStart"), env={"CLAUDE_PID": str(agent.pid)}))
    specific = answer["hookSpecificOutput"]
    assert isinstance(specific, dict)
    assert specific["hookEventName"] == "SubagentStart"
    assert f"$TMPDIR ({path})" in specific["additionalContext"]


@pytest.mark.parametrize(("agent", "event"), [("codex", "SubagentStart"), ("qwen", "SubagentStart"),
                                              ("copilot", "UserPromptSubmit")])  # fmt: skip
def test_who_hears_no_start_is_told_the_directory_that_its_agent_was_started_with(
    own_world: Path, agent: str, event: str
) -> None:
    """Copilot's model hears what is said with a prompt, not what is said at the start."""
    path = open_scratch(str(own_world / "tmp"), agent, "s-1", pid=os.getpid()).path
    answer = said(hook(agent, event, payload(event), env={"TMPDIR": path}))
    assert f"$TMPDIR ({path})" in json.dumps(answer)
    assert said(hook(agent, event, payload(event))) == {}


def test_a_subagent_of_a_session_without_a_scratch_is_told_nothing(own_world: Path) -> None:
    assert said(hook("claude", "SubagentStart", payload("SubagentStart"))) == {}
