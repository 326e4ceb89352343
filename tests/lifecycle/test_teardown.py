"""Teardown: what the session left goes at once; what somebody still uses stays, and nothing is ever raised."""

import contextlib
import os
import socket
import subprocess
import uuid
from pathlib import Path

import pytest

import tmpwarden
from support import command
from support.holding import ended_pid, process
from support.litter import claude_session, cwd_markers, in_quarantine, later, snapshot
from support.windows import strike
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.lifecycle import teardown as module
from tmpwarden.model.request import Request
from tmpwarden.model.terms import Reason
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store.undo import undo
from tmpwarden.sweep.take import by_name
from tmpwarden.sweep.take.by_name import NamedTake

TAKEN = "taken by name, holders not yet looked for"
SESSION = str(uuid.uuid4())  # of this test process alone: others look at all processes too


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def test_scratch_and_the_agents_own_litter_go_whatever_their_age(root: Path) -> None:
    session = str(uuid.uuid4())
    scratch = open_scratch(str(root), "claude", session, pid=ended_pid(), start=1)
    (Path(scratch.path) / "work.txt").write_text("work")
    litter = claude_session(root, session=session)
    other = claude_session(root)
    result = tmpwarden.teardown(session=session, agent="claude", wait=True)
    assert result.error is None
    assert result.released
    assert not Path(scratch.path).exists()
    assert not litter.exists()
    assert other.exists(), "another session's files are none of its business"
    undo()
    assert (Path(scratch.path) / "work.txt").read_text() == "work" or litter.exists()


def test_it_is_idempotent_and_says_nothing_about_what_is_not_there(root: Path) -> None:
    session = str(uuid.uuid4())
    claude_session(root, session=session)
    assert len(tmpwarden.teardown(session=session, wait=True).removed) == 1
    again = tmpwarden.teardown(session=session, wait=True)
    assert again.receipts == []
    assert again.error is None


def test_a_file_that_a_background_command_still_holds_keeps_the_unit(root: Path) -> None:
    session = str(uuid.uuid4())
    litter = claude_session(root, session=session)
    with process("import sys; f = open(sys.argv[1])", str(litter / "tasks" / "b00000000.output")):
        result = tmpwarden.teardown(session=session, wait=True)
        assert [r.reason for r in result.kept] == [Reason.OPEN_FILE]
        assert litter.exists()
    assert tmpwarden.teardown(session=session, wait=True).removed


def test_what_was_written_after_the_rename_brings_it_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By somebody who had a directory of it open, and has closed it when the holders are looked for."""
    session = str(uuid.uuid4())
    litter = claude_session(root, session=session)

    def write_into_it() -> None:
        (taken,) = in_quarantine(root)
        while True:  # until the kernel's clock has moved on from the rename
            (taken / "tasks" / "late").write_text("fresh")
            if os.lstat(taken / "tasks" / "late").st_mtime_ns > os.lstat(taken).st_ctime_ns:
                return

    strike(monkeypatch, by_name, TAKEN, write_into_it)
    result = tmpwarden.teardown(session=session, wait=True)
    assert (litter / "tasks" / "late").read_text() == "fresh"
    assert [receipt.reason for receipt in result.kept] == [Reason.CHANGED]


def test_one_that_opens_it_in_the_window_gets_it_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = str(uuid.uuid4())
    litter = claude_session(root, session=session)
    before = snapshot(litter)
    with contextlib.ExitStack() as stack:

        def work_in_it() -> None:
            (token,) = in_quarantine(root)
            stack.enter_context(process("", cwd=token))

        strike(monkeypatch, by_name, TAKEN, work_in_it)
        result = tmpwarden.teardown(session=session, wait=True)
        assert [r.reason for r in result.kept] == [Reason.WORKING_DIRECTORY]
        assert snapshot(litter) == before


def test_git_work_inside_goes_back(root: Path) -> None:
    session = str(uuid.uuid4())
    litter = claude_session(root, session=session)
    repository = litter / "scratchpad" / "repo"
    repository.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / "only-copy.txt").write_text("work")
    result = tmpwarden.teardown(session=session, wait=True)
    assert (repository / "only-copy.txt").read_text() == "work"
    assert ([r.reason for r in result.kept], result.removed) == ([Reason.GIT_WORK], [])


@pytest.fixture
def only_copy(root: Path) -> Path:
    """In a session's unit: git work that exists nowhere else."""
    repository = claude_session(root, session=SESSION) / "scratchpad" / "repo"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / "only-copy.txt").write_text("work")
    return repository / "only-copy.txt"


def test_a_killed_judge_costs_nobody_anything(only_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was taken unjudged goes back and is heard like any; it does not expire as if it had been judged."""
    monkeypatch.setattr(module, "detach", lambda *work, **words: True)  # the machine went down
    assert tmpwarden.teardown(session=SESSION).removed
    assert not only_copy.exists()
    clean(Request())  # it might be judged right now
    assert not only_copy.exists()
    for hours in (1, 100, 200):
        clean(Request(), now_ns=later(hours))
        assert only_copy.read_text() == "work"


@pytest.mark.parametrize("request_", [Request(empty_quarantine=True), Request(budget_bytes=0)], ids=["purge", "budget"])
def test_nobody_destroys_what_is_being_judged(
    only_copy: Path, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may be short of room, and empty the quarantine meanwhile."""
    taken: list[NamedTake] = []
    monkeypatch.setattr(module, "_rest", lambda taking, *words: taken.append(taking) or [])
    assert tmpwarden.teardown(session=SESSION, wait=True).removed
    clean(request_)
    assert [receipt.reason for receipt in taken[0].finish()] == [Reason.GIT_WORK]
    assert only_copy.read_text() == "work"


def test_what_was_judged_and_not_yet_told_can_be_undone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = claude_session(root, session=SESSION)

    def die() -> None:
        raise KeyboardInterrupt

    strike(monkeypatch, by_name, "decided, not yet written down", die)
    with pytest.raises(KeyboardInterrupt):
        tmpwarden.teardown(session=SESSION, wait=True)
    clean(Request())
    assert not unit.exists()
    undo()
    assert unit.exists()


def test_the_caller_waits_for_the_rename_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk happens in another process: in ours, nothing is measured."""
    session = str(uuid.uuid4())
    litter = claude_session(root, session=session)
    ours = os.getpid()

    def measured(self: object) -> None:
        assert os.getpid() != ours

    monkeypatch.setattr(by_name.NamedTake, "finish", measured)
    result = tmpwarden.teardown(session=session)
    assert result.error is None
    assert not litter.exists()


def test_it_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "prepare", lambda *a, **k: 1 / 0)
    assert tmpwarden.teardown(session="x").error == "ZeroDivisionError: division by zero"


def test_it_can_be_switched_off(root: Path, own_world: Path) -> None:
    session = str(uuid.uuid4())
    litter = claude_session(root, session=session)
    (own_world / "config" / "tmpwarden").mkdir()
    (own_world / "config" / "tmpwarden" / "config.toml").write_text("[teardown]\nenabled = false\n")
    assert tmpwarden.teardown(session=session, wait=True).removed == []
    assert litter.exists()


def test_the_agent_alone_means_only_its_sessions_that_have_ended(root: Path) -> None:
    """Nothing but its lease speaks for an agent that waits for its user."""
    with process("") as agent:
        live = open_scratch(str(root), "claude", "live", pid=agent.pid)
        ours = open_scratch(str(root), "claude", "ours", pid=os.getpid())
        dead = open_scratch(str(root), "claude", "dead", pid=ended_pid(), start=1)
        for scratch in (live, ours, dead):
            (Path(scratch.path) / "work").write_text("x")
        assert tmpwarden.teardown(agent="claude", wait=True).error is None
        assert (Path(live.path) / "work").exists()
        assert (Path(ours.path) / "work").exists(), "the caller has named no session that it gives back"
        assert not Path(dead.path).exists()
        clean(now_ns=later(100))
        assert (Path(live.path) / "work").exists(), "its lease still names it"


def test_an_agent_that_still_lives_keeps_its_scratch_until_it_ends(root: Path) -> None:
    """Its spawner says that it is over; but the lease names the agent too, and that is there."""
    with process("") as agent:
        with tmpwarden.lease("claude", session="early") as scratch:
            scratch.adopt(agent.pid)
            (Path(scratch.path) / "work").write_text("x")
        clean(now_ns=later(100))
        assert (Path(scratch.path) / "work").exists()
    clean(now_ns=later(1))
    assert not Path(scratch.path).exists(), "the spawner, who lives on, has given it back"


def test_the_rest_of_the_agents_litter_goes_only_below_the_root_that_was_named(root: Path, own_world: Path) -> None:
    elsewhere = own_world / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (unit,), (here,) = cwd_markers(root, 1), cwd_markers(elsewhere, 1)
    result = tmpwarden.teardown(agent="claude", roots=(str(elsewhere),), wait=True, now_ns=later(100))
    assert result.error is None
    assert unit.exists()
    assert not here.exists()


REAL_NAMES = {
    "claude.session": f"claude-{os.geteuid()}/-work-shop/{{session}}/tasks/",
    "claude.message-socket": "cc-socks/{pid}.sock",
    "claude.mux-socket": "srt-mux-{pid}-0.sock",
    "claude.upload": "claude-plugin-{pid}-x7k2p9.zip",
    "codex.hook-output": "hook_outputs/{session}/",
    "copilot.tool-output": "1794821935123-copilot-tool-output-{pid}-1b4e28ba-2fa1-41d2-883f-0016d3cca427.txt",
    "gemini.ide-server": "gemini/ide/gemini-ide-server-{pid}.json",
}


@pytest.mark.parametrize("key", REAL_NAMES)
def test_what_the_agents_leave_under_their_own_names_goes_by_session_and_by_pid(key: str, root: Path) -> None:
    session, pid = str(uuid.uuid4()), ended_pid()
    path = root / REAL_NAMES[key].format(session=session, pid=pid)
    path.parent.mkdir(parents=True, exist_ok=True)
    if REAL_NAMES[key].endswith("/"):
        path.mkdir(parents=True)
        (path / "output").write_text("spilled")
    elif path.suffix == ".sock":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    else:
        path.write_text("{}")
    by = {"session": session} if "{session}" in REAL_NAMES[key] else {"pid": pid}
    result = tmpwarden.teardown(**by, wait=True)  # type: ignore[arg-type]
    assert [receipt.finding.litter.key for receipt in result.removed] == [key]
    assert not path.exists()
    assert tmpwarden.teardown(**by, wait=True).receipts == []  # type: ignore[arg-type]


def test_an_adopted_agents_own_pid_names_its_litter_and_the_spawners_does_not(root: Path) -> None:
    """The spawner lives on, and what carries its pid is not the session's."""
    with tmpwarden.lease("claude", session="s") as scratch, process("") as agent:
        scratch.adopt(agent.pid)
        (root / f"claude-plugin-{agent.pid}-x7k2p9.zip").write_text("of the agent")
        spawners = root / f"claude-plugin-{os.getpid()}-x7k2p9.zip"
        spawners.write_text("of the spawner")
    result = tmpwarden.teardown(session="s", wait=True)
    assert result.error is None
    assert spawners.exists()
    assert not (root / f"claude-plugin-{agent.pid}-x7k2p9.zip").exists()


ACME = """
schema = 1
[agent]
id = "acme"
name = "Acme Agent"
session_env = ["{variable}"]
[[litter]]
id = "session"
in = "{{tmp}}"
name = "acme-session-(?P<session>[0-9a-f-]{{36}})"
kind = "dir"
tier = "auto"
worth = "some"
owner = "session-in-name"
why = "one session"
seen = ["acme 1"]
verified = "1"
matches = ["acme-session-3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11"]
spares = ["acme-session-"]
[[litter]]
id = "marker"
in = "{{tmp}}"
name = "acme-[0-9a-f]{{4}}-cwd"
kind = "file"
tier = "auto"
worth = "none"
owner = "none"
checks = ["one-line-path"]
why = "one call"
seen = ["acme 1"]
verified = "1"
matches = ["acme-1a2b-cwd"]
spares = ["acme-1A2B-cwd"]
"""


class Acme:
    """An agent of this test alone: no other test, and nobody on this machine, runs a session of it."""

    def __init__(self, world: Path) -> None:
        self.root = world / "tmp"
        self.variable = f"ACME_SESSION_{uuid.uuid4().hex}"
        drop_ins = world / "config" / "tmpwarden" / "agents.d"
        drop_ins.mkdir(parents=True)
        (drop_ins / "acme.toml").write_text(ACME.format(variable=self.variable))

    def session(self) -> str:
        name = str(uuid.uuid4())
        (self.root / f"acme-session-{name}").mkdir()
        (self.root / f"acme-session-{name}" / "out").write_text("x")
        return name

    def markers(self, count: int) -> list[Path]:
        found = [self.root / f"acme-{number:04x}-cwd" for number in range(count)]
        for marker in found:
            marker.write_text("/work\n")
        return found


@pytest.fixture
def acme(own_world: Path) -> Acme:
    return Acme(own_world)


def test_markers_go_at_once_when_no_session_of_their_agent_lives(acme: Acme) -> None:
    name, markers = acme.session(), acme.markers(3)
    (acme.root / "acme-ffff-cwd").write_text("notes of a person\nin two lines\n")
    result = tmpwarden.teardown(session=name, wait=True)
    assert not any(marker.exists() for marker in markers), "a second old"
    assert (acme.root / "acme-ffff-cwd").exists(), "it has the name and not the shape"
    assert len(result.removed) == 4


def test_markers_stay_while_another_session_of_their_agent_lives(acme: Acme) -> None:
    name = acme.session()
    with process("", env={"PATH": "/bin", acme.variable: str(uuid.uuid4())}):
        (marker,) = acme.markers(1)
        tmpwarden.teardown(session=name, wait=True)
        assert marker.exists()
        assert not (acme.root / f"acme-session-{name}").exists()


def test_a_few_markers_are_told_in_one_line_and_a_backlog_is_left_to_the_ordinary_laws(acme: Acme) -> None:
    acme.markers(3)
    assert command.tmpwarden("teardown", "--agent", "acme").stdout == (
        f"removed  {acme.root}/ (3 files such as acme-0000-cwd)\nRemoved 3 items, kept 0 items.\n"
    )
    backlog = acme.markers(100)
    assert command.tmpwarden("teardown", "--agent", "acme").stdout == (
        f"kept     {acme.root}/ (100 files such as acme-0000-cwd): too new\nRemoved 0 items, kept 100 items.\n"
    )
    assert all(path.exists() for path in backlog)
