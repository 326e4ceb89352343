"""A secret in what an agent runs is in no file of ours afterwards."""

import subprocess
from pathlib import Path

import pytest

from hooks.calling import PYTHON, wait_for_jobs
from hooks.talking import Session
from support.command import AHEAD, tmpwarden
from support.holding import process

pytestmark = pytest.mark.usefixtures("packed")

TOKEN = "ghp_" + "aB3dE5fG7hI9" * 3
SHORT = "hunter2-and-more"


TICK = Path(__file__).parents[2] / "src" / "tmpwarden" / "lifecycle" / "tick.py"


def tick(days: int) -> None:
    """What a timer does, so many days from now."""
    command = [PYTHON, "-I", "-S", AHEAD, str(days * 86400), str(TICK)]
    assert subprocess.run(command, timeout=60, check=False, capture_output=True).stderr == b""


def kept(state: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in state.rglob("*") if path.is_file()}


def test_no_file_of_ours_keeps_a_secret_of_a_call(own_world: Path) -> None:
    with process("") as agent:
        session = Session(own_world, agent.pid)
        session.say("SessionStart", source="startup")
        root = session.root
        session.bash(f"echo --token {TOKEN} > {root}/made")
        session.noted(root / "made")
        session.bash(f"curl -H 'Authorization: Bearer {SHORT}' https://x > {root}/answer; true")
        session.asked(f"rm -rf /etc/x --password={SHORT}")
        session.asked(f"GH_TOKEN={TOKEN} git push --force")
        session.bash(f"export MY_SECRET={SHORT}; true")
        session.before(session.call("mcp__db__query", url=f"postgres://app:{SHORT}@db/app", password=SHORT))
        call = session.call("Bash", command=f"echo {TOKEN} > {root}/unnamed")
        del call["tool_use_id"]  # the command itself is the call's name then
        session.before(call)
        session.after(call)
        wait_for_jobs(own_world)
        files = kept(own_world / "state")
        assert any(b"[hidden]" in data for path, data in files.items() if path.name == "audit.jsonl")
        assert any(b"[hidden]" in data for path, data in files.items() if path.name == "births.jsonl")
        for path, data in files.items():
            assert TOKEN[4:].encode() not in data, path
            assert SHORT.encode() not in data, path
        assert "[hidden]" in tmpwarden("guard", "log").stdout


def test_what_commands_were_is_forgotten_after_ninety_days(own_world: Path) -> None:
    state = own_world / "state" / "tmpwarden"
    with process("") as agent:
        session = Session(own_world, agent.pid)
        session.say("SessionStart", source="startup")
        session.bash(f"echo made-by-a-command > {session.root}/made")
        session.noted(session.root / "made")
        wait_for_jobs(own_world)
    audit, notes = state / "guard" / "audit.jsonl", state / "births.jsonl"
    for days, files in ((29, 1), (31, 0), (59, 0), (91, 0)):
        tick(days)
        assert audit.exists() == bool(files)
        assert b"made-by-a-command" in notes.read_bytes() or days > 90
    assert not any(b"made-by-a-command" in data for data in kept(state).values())
    assert (session.root / "made").read_text() == "made-by-a-command\n"


def test_a_decision_of_two_months_ago_can_still_be_read(own_world: Path) -> None:
    with process("") as agent:
        Session(own_world, agent.pid).asked("rm -rf /etc/x")
    for days in (20, 40):
        tick(days)
        assert "rm -rf /etc/x" in tmpwarden("guard", "log").stdout
