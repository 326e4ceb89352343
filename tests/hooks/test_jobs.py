"""What hooks start in the background: stale markers, left-overs of the dead, the scratch of an ended session.

Time is moved from outside (support/ahead.py): a ctime cannot be set.
"""

import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from hooks.calling import PYTHON, RUN, said, wait_for_jobs
from hooks.test_session import OTHER, SESSION, mktemp, payload, put_off, scratches, start
from support.command import AHEAD, answer
from support.mounts import needs_root

LATER_S = 120
SEED_NAMES = {  # of seed 000: what its reviewers accepted and what they refused
    "claude-abcd-cwd": True,
    "claude-1234-cwd": True,
    "claude-ABCD-cwd": False,
    "claude-abcde-cwd": False,
    "claude-abc-cwd": False,
    "claude-my-backup-cwd": False,
    "claude--cwd": False,
}


def later(event: str, *, session: str = SESSION, seconds: int = LATER_S, **env: str) -> dict[str, object]:
    """Call a hook `seconds` from now."""
    argv = [PYTHON, "-I", "-S", AHEAD, str(seconds), str(RUN), "claude", event]
    raw = json.dumps(payload(event, session)).encode()
    return said(subprocess.run(argv, input=raw, env=os.environ | env, capture_output=True, timeout=60, check=False))


def marker(world: Path, number: int, *, is_fresh: bool = False) -> Path:
    path = world / "tmp" / f"claude-{number:04x}-cwd"
    path.write_text("/home/agent/project\n")
    if is_fresh:  # by the clock of `later`
        os.utime(path, (time.time() + LATER_S - 5,) * 2)
    return path


@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure", "Stop"])
def test_fifteen_stale_markers_go_and_ten_fresh_ones_stay(own_world: Path, event: str) -> None:
    for number in range(15):
        marker(own_world, number)
    fresh = {marker(own_world, number, is_fresh=True) for number in range(15, 25)}
    assert later(event) == {}, "nothing is told before it is done"
    wait_for_jobs(own_world)
    assert set((own_world / "tmp").glob("claude-*-cwd")) == fresh
    assert later("PostToolUse", seconds=LATER_S + 1) == {"systemMessage": "tmpwarden: removed 15 stale cwd files"}
    assert later("PostToolUse", seconds=LATER_S + 2) == {}


def test_the_seven_names_of_the_report_are_judged_as_it_says(own_world: Path) -> None:
    for name in SEED_NAMES:
        (own_world / "tmp" / name).write_text("/home/agent/project\n")
    later("PostToolUse")
    wait_for_jobs(own_world)
    assert {name for name in SEED_NAMES if not (own_world / "tmp" / name).exists()} == {
        name for name, goes in SEED_NAMES.items() if goes
    }


def test_a_marker_that_is_a_link_a_directory_or_somebody_elses_stays(own_world: Path) -> None:
    precious = own_world / "home" / "precious"
    precious.write_text("x")
    (own_world / "tmp" / "claude-aaaa-cwd").symlink_to(precious)
    (own_world / "tmp" / "claude-bbbb-cwd").mkdir()
    foreign = marker(own_world, 0xCCCC)
    if os.geteuid() == 0:
        os.chown(foreign, 65534, 65534)
    stale = marker(own_world, 0xDDDD)
    later("PostToolUse")
    wait_for_jobs(own_world)
    assert not stale.exists()
    assert precious.exists() and (own_world / "tmp" / "claude-aaaa-cwd").is_symlink()
    assert (own_world / "tmp" / "claude-bbbb-cwd").is_dir()
    assert foreign.exists() or os.geteuid() != 0


def test_nothing_is_said_when_nothing_was_done(own_world: Path) -> None:
    later("PostToolUse")
    wait_for_jobs(own_world)
    assert later("PostToolUse", seconds=LATER_S + 1) == {}


def test_an_observing_hook_removes_nothing_and_writes_down_what_would_have_gone(own_world: Path) -> None:
    """Each thing is told once, with whether anybody has used it since."""
    spared, used = marker(own_world, 1), marker(own_world, 2)
    for later_s in ("120", "240"):  # the second job sees the same things again
        argv = [PYTHON, "-I", "-S", AHEAD, later_s, str(RUN), "claude", "PostToolUse", "--observe"]
        subprocess.run(argv, input=json.dumps(payload("PostToolUse")).encode(), check=True)
        wait_for_jobs(own_world)
    assert spared.exists() and used.exists()
    told = observed()
    assert (told["observed"], told["would_have_been_wrong"]) == (1, 0)
    assert [(entry["count"], entry["used_since"]) for entry in told["entries"]] == [(2, False)]
    used.write_text("/somewhere/else\n")
    assert observed()["would_have_been_wrong"] == 1
    for path in (spared, used):
        path.unlink()
    assert observed()["would_have_been_wrong"] == 0, "what went by itself was not in use"


def observed() -> dict[str, Any]:
    status, envelope = answer("log", "--observed")
    assert status == 0
    data: dict[str, Any] = envelope["data"]
    return data


@pytest.mark.parametrize("count", [300, pytest.param(200_000, marks=pytest.mark.long)])
def test_a_backlog_makes_no_hook_wait_and_later_jobs_go_on(own_world: Path, count: int) -> None:
    for number in range(count):
        (own_world / "tmp" / f"claude-{number % 65536:04x}-cwd{'' if number < 65536 else number}").touch()
    for number in range(min(count, 65536)):
        (own_world / "tmp" / f"claude-{number:04x}-cwd").write_text("/\n")
    turn, left = 0, _markers(own_world)
    while left:  # a job ends after 8 s: how far it comes is the machine's business, that it comes further is ours
        before, turn = left, turn + 1
        later("PostToolUse", seconds=LATER_S * turn)
        wait_for_jobs(own_world)
        left = _markers(own_world)
        assert left < before, "a job took nothing away"


def _markers(world: Path) -> int:
    return sum(re.fullmatch("claude-[0-9a-f]{4}-cwd", name) is not None for name in os.listdir(world / "tmp"))


def ended(world: Path, agent: "subprocess.Popen[bytes]") -> None:
    """The session ends, then its agent."""
    environ = {**os.environ, "CLAUDE_PID": str(agent.pid)}
    argv = [PYTHON, "-I", "-S", str(RUN), "claude", "SessionEnd"]
    subprocess.run(argv, input=json.dumps(payload("SessionEnd", reason="other")).encode(), env=environ, check=True)
    agent.kill()
    agent.wait()
    wait_for_jobs(world)


def told_by(world: Path) -> list[str]:
    """What a job that did not do its work has written down about it."""
    state = world / "state" / "tmpwarden"
    return [file.read_text()[-2000:] for file in (state / "journal.jsonl", state / "hooks" / "log") if file.exists()]


@pytest.fixture
def agents():  # type: ignore[no-untyped-def]
    """Processes that stand for agents."""
    made = [subprocess.Popen(["sleep", "600"]) for _ in range(2)]
    yield made
    for process in made:
        process.kill()
        process.wait()


def test_a_scratch_with_files_is_quarantined_and_a_resumed_session_has_it_back(
    own_world: Path, agents: "list[subprocess.Popen[bytes]]"
) -> None:
    put_off(own_world)
    start(own_world, agents[0])
    kept = Path(mktemp(own_world))
    kept.write_text("work")
    ended(own_world, agents[0])
    assert scratches(own_world) == [], told_by(own_world)
    told = start(own_world, agents[1], source="resume")
    assert kept.read_text() == "work"
    assert "is gone" not in told


def test_an_empty_scratch_is_no_loss(own_world: Path, agents: "list[subprocess.Popen[bytes]]") -> None:
    put_off(own_world)
    start(own_world, agents[0])
    ended(own_world, agents[0])
    assert scratches(own_world) == [], told_by(own_world)
    assert "is gone" not in start(own_world, agents[1], source="resume")


def test_the_scratch_of_a_session_beside_it_is_not_touched(
    own_world: Path, agents: "list[subprocess.Popen[bytes]]"
) -> None:
    put_off(own_world)
    start(own_world, agents[0])
    start(own_world, agents[1], session=OTHER)
    mine, theirs = Path(mktemp(own_world)), Path(mktemp(own_world, session=OTHER))
    ended(own_world, agents[0])
    assert not mine.exists()
    assert theirs.exists()


def test_a_scratch_that_a_child_still_uses_stays(own_world: Path, agents: "list[subprocess.Popen[bytes]]") -> None:
    put_off(own_world)
    start(own_world, agents[0])
    file = Path(mktemp(own_world))
    with file.open("w"):
        ended(own_world, agents[0])
        assert file.exists()


@needs_root
@pytest.mark.parametrize("seconds", [pytest.param(100, id="no clean is due"), pytest.param(4000, id="a clean is due")])
def test_the_next_start_clears_what_a_killed_session_left(
    own_world: Path, agents: "list[subprocess.Popen[bytes]]", seconds: int
) -> None:
    start(own_world, agents[0])
    wait_for_jobs(own_world)
    left = Path(mktemp(own_world))
    agents[0].kill()
    agents[0].wait()
    later("SessionStart", session=OTHER, seconds=seconds, CLAUDE_PID=str(agents[1].pid))
    wait_for_jobs(own_world)
    assert not left.exists()


def test_a_start_leaves_the_clean_to_whoever_has_just_done_it(own_world: Path) -> None:
    """A timer or a person: their stamp counts for hooks as well."""
    stamp = own_world / "state" / "tmpwarden" / "last-clean"
    for seconds, is_cleaned in ((0, True), (100, False), (4000, True)):
        before = stamp.stat().st_mtime_ns if stamp.exists() else None
        (own_world / "state" / "tmpwarden" / "hooks" / "clean.due").unlink(missing_ok=True)
        later("SessionStart", seconds=seconds)
        wait_for_jobs(own_world)
        assert (stamp.stat().st_mtime_ns != before) is is_cleaned


def test_a_job_that_hangs_is_ended(own_world: Path) -> None:
    """First as Ctrl-C would, so that it can tidy up; one that does not listen is ended for good."""
    source = (
        "from tmpwarden.lifecycle.background import Deadline\nimport time\n"
        "with Deadline(0.2):\n  try:\n    time.sleep(60)\n  except KeyboardInterrupt:\n    print('tidy', flush=True)\n"
        "    time.sleep(60)\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(RUN.parents[2])}
    done = subprocess.run([PYTHON, "-c", source], capture_output=True, text=True, timeout=30, env=environ, check=True)
    assert done.stdout == "tidy\n"
