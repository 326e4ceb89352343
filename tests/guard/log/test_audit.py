"""The audit: one private line a decision, rotated, and a note when an agent ran something else than it was told."""

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from tmpwarden.guard.log import audit
from tmpwarden.model.hot import Decision, ToolCall


def call(command: str = "rm -rf /tmp/x", session: str = "s1") -> ToolCall:
    return ToolCall("claude", "shell", command=command, session=session, cwd="/home/u")


def lines(state: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(audit.log_path(str(state))).read_text().splitlines()]


@pytest.fixture
def state(own_world: Path) -> Path:
    return own_world / "state" / "tmpwarden"


def test_a_decision_is_one_line_that_says_everything_and_that_nobody_else_can_read(state: Path) -> None:
    os.umask(0o000)
    audit.record(
        str(state),
        call(),
        Decision("allow", "inside", rule="sandbox:arguments[0]", rewritten="rm -rf /tmp/s/x"),
        now_s=1800000000.25,
    )
    assert lines(state) == [
        {
            "time": "2027-01-15T08:00:00.250Z",
            "session": "s1",
            "agent": "claude",
            "tool": "shell",
            "cwd": "/home/u",
            "before": "rm -rf /tmp/x",
            "after": "rm -rf /tmp/s/x",
            "decision": "allow",
            "rule": "sandbox:arguments[0]",
            "reason": "inside",
        }
    ]
    path = Path(audit.log_path(str(state)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("command", ["a\nb", "\udcff\x00\x1b[31m", 'say "hi" \\', "ü" * 10])
def test_whatever_a_command_holds_the_line_stays_one_line_of_json(state: Path, command: str) -> None:
    audit.record(str(state), call(command), Decision("pass"))
    assert [line["before"] for line in lines(state)] == [command]


def test_a_log_that_is_full_moves_aside_and_only_five_stay(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MAX_BYTES", 200)
    for number in range(40):
        audit.record(str(state), call(f"c{number}"), Decision("pass"))
    names = sorted(path.name for path in (state / "guard").iterdir())
    assert names == ["audit.jsonl", *(f"audit.jsonl.{n}" for n in range(1, audit.KEEP + 1))]
    assert lines(state)[-1]["before"] == "c39"


def test_a_log_that_is_a_symlink_is_not_written_through(state: Path, tmp_path: Path) -> None:
    (state / "guard").mkdir(parents=True, mode=0o700)
    (tmp_path / "victim").write_text("mine")
    Path(audit.log_path(str(state))).symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="symbolic links"):
        audit.record(str(state), call(), Decision("pass"))
    assert (tmp_path / "victim").read_text() == "mine"


def test_lines_of_many_writers_do_not_mix(state: Path) -> None:
    def write(name: int) -> None:
        for _ in range(50):
            audit.record(str(state), call(str(name) * 3000), Decision("pass"))

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines(state)) == 200


def test_an_agent_that_ran_its_own_text_is_noted(state: Path) -> None:
    audit.record(str(state), call(), Decision("pass", rewritten="rm -rf /tmp/s/x"))
    assert audit.check_ran(str(state), call("rm -rf /tmp/s/x"))
    assert audit.check_ran(str(state), call(session="another"))
    assert audit.check_ran(str(state), call("rm -rf /tmp/x2"))
    assert len(lines(state)) == 1
    assert not audit.check_ran(str(state), call())
    assert lines(state)[-1]["decision"] == "mismatch"


def test_what_was_denied_or_left_alone_cannot_be_a_mismatch(state: Path) -> None:
    audit.record(str(state), call(), Decision("deny", rewritten="rm -rf /tmp/s/x"))
    audit.record(str(state), call("ls"), Decision("pass"))
    assert audit.check_ran(str(state), call())
    assert audit.check_ran(str(state), call("ls"))


def test_the_memory_of_what_was_told_stays_small(state: Path) -> None:
    for number in range(60):
        audit.record(str(state), call(f"{number} " + "x" * 10_000), Decision("pass", rewritten="y"))
    assert (state / "guard" / "told").stat().st_size < audit.MAX_TOLD_BYTES + 20_000
