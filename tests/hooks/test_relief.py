"""A root that runs out of room is relieved where that happens: when a session ends, at the next start, at a tick."""

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from hooks.calling import PYTHON, RUN, hook, said, wait_for_jobs
from hooks.talking import Session as Talker
from hooks.test_jobs import later
from hooks.test_session import payload, put_off, scratches
from support.bases import base_for_all
from support.command import AHEAD, tmpwarden
from support.holding import process
from support.litter import claude_session, in_quarantine
from support.mounts import fill_bytes, fill_inodes, needs_root, tmpfs
from support.one_disk import one_disk
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import clean

pytestmark = needs_root
MB = 1 << 20


@pytest.fixture
def root(own_world: Path, packed: None) -> Iterator[Path]:
    """The only temp root: 8 MB of memory. No clean is due within the hour."""
    put_off(own_world)
    with tmpfs(own_world / "tmp", size="8m", inodes=500) as point:
        point.chmod(0o700)
        yield point


class Session:
    """A session of an agent, through its hooks."""

    def __init__(self, world: Path) -> None:
        self.world, self.id = world, str(uuid.uuid4())
        self.agent = subprocess.Popen(["sleep", "600"])
        self.env_file = world / "home" / ".claude" / "session-env" / self.id / "sessionstart-hook-0.sh"
        self.env_file.parent.mkdir(parents=True)

    def _call(self, event: str, **more: str) -> str:
        env = {"CLAUDE_ENV_FILE": str(self.env_file), "CLAUDE_PID": str(self.agent.pid)}
        answer = said(hook("claude", event, payload(event, self.id, **more), env=env))
        return str(answer.get("systemMessage", ""))

    def starts(self) -> str:
        """What its user reads."""
        told = self._call("SessionStart", source="startup")
        wait_for_jobs(self.world)
        return told

    def ends(self) -> None:
        self._call("SessionEnd", reason="prompt_input_exit")
        self.dies()
        wait_for_jobs(self.world)

    def dies(self) -> None:
        self.agent.kill()
        self.agent.wait()


@pytest.fixture
def sessions(own_world: Path) -> Iterator[list[Session]]:
    made = [Session(own_world) for _ in range(3)]
    yield made
    for each in made:
        each.dies()


def percent(root: Path) -> int:
    room = os.statvfs(root)
    used = room.f_blocks - room.f_bfree
    return 100 * used // (used + room.f_bavail)


def scratch_of(root: Path) -> Path:
    (found,) = scratches(root.parent)
    return found


@pytest.mark.parametrize("short_of", ["bytes", "inodes"])
def test_a_session_that_filled_a_root_and_ended_leaves_room_and_the_next_one_tells(
    root: Path, sessions: list[Session], short_of: str
) -> None:
    first, second, third = sessions
    first.starts()
    (fill_bytes if short_of == "bytes" else fill_inodes)(scratch_of(root))
    first.ends()
    assert percent(root) < 60
    assert os.statvfs(root).f_favail > 200
    told = second.starts()
    if short_of == "bytes":
        assert told.startswith(f"tmpwarden: {root} was 100% full: removed 8.0 MB"), told
        assert told.endswith("of ended sessions for good, now 1%."), told
    else:
        assert told.startswith(f"tmpwarden: {root} was at 100% of its inodes: removed 4"), told
    assert third.starts() == "", "told once"


def test_what_lies_in_quarantine_with_room_left_waits_for_undo(root: Path, sessions: list[Session]) -> None:
    """Below `[pressure] high` a session's files can be brought back for a day."""
    sessions[0].starts()
    (scratch_of(root) / "notes").write_bytes(b"x" * 5 * MB)
    sessions[0].ends()
    assert len(in_quarantine(root)) == 1
    assert sessions[1].starts() == ""
    assert len(in_quarantine(root)) == 1


def test_a_start_relieves_what_filled_up_since_the_last_clean(root: Path, sessions: list[Session]) -> None:
    """Nobody's session ended by a hook: a unit was put into quarantine, and then others filled the root."""
    unit = claude_session(root)
    (unit / "big").write_bytes(b"x" * 4 * MB)
    clean(Request(), now_ns=lambda: time.time_ns() + 100 * 3600 * 10**9)
    (root / "filler").write_bytes(b"x" * 3 * MB)
    assert percent(root) >= 85 and in_quarantine(root)
    sessions[0].starts()
    assert percent(root) < 60 and (root / "filler").exists()
    told = said(hook("claude", "PostToolUse", payload("PostToolUse", sessions[0].id)))
    assert "now 3" in str(told["systemMessage"]) or "now 4" in str(told["systemMessage"]), told


def test_what_a_person_put_into_quarantine_has_its_day_however_full_the_root_is(
    root: Path, sessions: list[Session]
) -> None:
    """They were told that undo can bring it back within a day; nobody is provably gone there."""
    named = root / "results"
    named.mkdir()
    (named / "table.csv").write_text("1,2\n")
    (root / "old.log").write_text("one\n")
    assert tmpwarden("clean", "--yes", str(named), str(root / "old.log"), later_s=100 * 3600).returncode == 0
    assert len(in_quarantine(root)) == 2
    fill_bytes(root)
    for each in sessions:
        each.starts()
    assert len(in_quarantine(root)) == 2
    assert tmpwarden("undo").returncode == 0
    assert (named / "table.csv").read_text() == "1,2\n"


def test_a_birth_in_quarantine_is_never_hurried(root: Path, own_world: Path) -> None:
    report = root / "report.md"
    with process("") as agent:
        talker = Talker(own_world, agent.pid, root)
        talker.say("SessionStart", source="startup")
        talker.write(report, "what you asked for")
        talker.noted(report)
        talker.all_noted()
    assert tmpwarden("clean", "--yes", "--all", later_s=100 * 3600).returncode == 0
    assert not report.exists()
    fill_bytes(root)
    assert tmpwarden("clean", "--yes", "--if-due", "1s", later_s=1800).returncode == 0
    (token,) = (path.name for path in in_quarantine(root) if path.is_file())
    assert tmpwarden("undo", token).returncode == 0
    assert report.read_text() == "what you asked for"


def test_what_only_a_person_can_do_is_said_at_each_start(root: Path, sessions: list[Session]) -> None:
    fill_bytes(root, "my-film")
    first, second, third = sessions
    assert first.starts() != ""
    first.ends()
    told = second.starts()
    assert told.endswith(
        f"{root} is 100% full: nothing else of ended sessions can be removed; `tmpwarden doctor` says what fills it."
    ), told
    assert "full" in third.starts()
    assert (root / "my-film").stat().st_size > 7 * MB


def test_a_live_sessions_files_are_not_relief(root: Path, sessions: list[Session]) -> None:
    living, ending, _ = sessions
    living.starts()
    mine = scratch_of(root)
    fill_bytes(mine, "work")
    size = (mine / "work").stat().st_size
    ending.starts()
    ending.ends()
    assert (mine / "work").stat().st_size == size


def test_who_switched_the_automatic_off_is_told_and_nothing_goes(
    root: Path, own_world: Path, sessions: list[Session]
) -> None:
    (own_world / "config" / "tmpwarden").mkdir()
    (own_world / "config" / "tmpwarden" / "config.toml").write_text("[periodic]\nenabled = false\n")
    sessions[0].starts()
    fill_bytes(scratch_of(root))
    sessions[0].ends()
    assert len(in_quarantine(root)) == 1
    assert f"{root} is full, so commands may fail. Run: tmpwarden doctor" in sessions[1].starts()


def test_a_backlog_from_before_us_waits_for_a_person_and_the_start_says_so(
    root: Path, own_world: Path, sessions: list[Session]
) -> None:
    """Law 11 holds under pressure too: what is older than our first run goes after one confirmed clean."""
    unit = claude_session(root)
    fill_bytes(unit, "big")
    later("SessionStart", session=sessions[0].id, seconds=120)
    wait_for_jobs(own_world)
    assert unit.exists()
    told = later("PostToolUse", session=sessions[0].id, seconds=121)
    assert "1 older leftover, 8.0 MB" in str(told["systemMessage"]), told
    assert "need one `tmpwarden clean` from you first" in str(told["systemMessage"]), told


def test_a_tick_relieves_though_somebody_has_just_cleaned(root: Path, own_world: Path, sessions: list[Session]) -> None:
    clean(Request())
    unit = claude_session(root)
    (unit / "big").write_bytes(b"x" * 3 * MB)
    clean(Request(), now_ns=lambda: time.time_ns() + 100 * 3600 * 10**9)
    assert in_quarantine(root)
    (root / "filler").write_bytes(b"x" * 4 * MB)
    tick = Path(__file__).parents[2] / "src" / "tmpwarden" / "lifecycle" / "tick.py"
    done = subprocess.run([sys.executable, "-I", "-S", str(tick)], capture_output=True, text=True, check=True)
    assert f"{root} was 8" in done.stdout, done
    assert percent(root) < 60
    assert sessions[0].starts().startswith(f"tmpwarden: {root} was 8")


def test_the_first_start_on_a_disk_that_is_full_with_the_home_on_it_makes_room(own_world: Path) -> None:
    """Nothing of ours is there, and nothing can be made: neither notes nor the lock of the job."""
    with base_for_all() as base, one_disk(base, "tmpfs", "inodes", 0, "markers", sessions=1) as world:

        def start() -> int:
            payload = {"session_id": str(uuid.uuid4()), "hook_event_name": "SessionStart", "cwd": "/"}
            argv = [PYTHON, "-I", "-S", AHEAD, "360000", str(RUN), "claude", "SessionStart"]
            return subprocess.run(argv, input=json.dumps(payload).encode(), check=False, capture_output=True).returncode

        assert world.as_owner(start) == 0
        deadline = time.monotonic() + 90
        while any(marker.exists() for marker in world.markers):
            assert time.monotonic() < deadline, "nothing went"
            time.sleep(0.02)
