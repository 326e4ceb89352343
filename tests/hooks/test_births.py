"""What appears in a temp root while a tool call runs is noted, told by `why`, and owned where the call names it."""

import json
import os
import time
import uuid
from pathlib import Path

import pytest

from hooks.calling import hook
from support.command import data, tmpwarden
from support.holding import process
from support.litter import record_dead_session
from support.mounts import needs_root, tmpfs
from support.planted import DAYS
from tmpwarden.hooks import notebook
from tmpwarden.leases import births, claims
from tmpwarden.lifecycle.births import FinishedCall, is_named, note
from tmpwarden.model.belongings import Birth
from tmpwarden.oskit.files.dated import dated_tree

SESSION = str(uuid.uuid4())  # of this test process alone: others look at all processes too


class Agent:
    """An agent that has made one call already: its temp root has been seen."""

    def __init__(self, world: Path) -> None:
        self.root, self.state = world / "tmp", world / "state" / "tmpwarden"
        self.called("true", "")

    def called(self, command: str, output: str, duration_ms: int = 30_000) -> None:
        payload = {
            "session_id": SESSION,
            "hook_event_name": "PostToolUse",
            "cwd": "/",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_response": {"stdout": output},
            "duration_ms": duration_ms,
        }
        assert hook("claude", "PostToolUse", payload).returncode == 0

    def births(self, count: int) -> dict[str, Birth]:
        """The background is waited for."""
        until = time.monotonic() + 20
        while len(found := births.read(str(self.state))) < count and time.monotonic() < until:
            time.sleep(0.02)
        return found


@pytest.fixture
def agent(own_world: Path) -> Agent:
    return Agent(own_world)


def test_what_the_command_or_its_output_names_is_owned_and_all_else_is_only_told(agent: Agent) -> None:
    names = {"out.txt": True, "from-output": True, "layout.txt": False, "browser-download": False}
    for name in names:
        (agent.root / name).write_text("x")
    agent.called(f"python3 make.py > {agent.root}/out.txt", f"wrote {agent.root}/from-output\n")
    found = agent.births(4)
    assert {Path(path).name: birth.owned for path, birth in found.items() if Path(path).name in names} == names
    one = found[str(agent.root / "out.txt")]
    status = os.lstat(one.path)
    assert (one.inode, one.device, one.session) == (status.st_ino, status.st_dev, SESSION)
    assert one.command.startswith("python3 make.py")


def ticked(world: Path, past_ns: int) -> int:
    """A time after that one by the kernel's clock for files, which ticks every few milliseconds."""
    now_ns = past_ns
    while now_ns <= past_ns:
        (world / "tick").write_text("x")
        now_ns = (world / "tick").stat().st_ctime_ns
    return now_ns


def test_what_was_there_before_the_call_is_not_its_birth(own_world: Path) -> None:
    root, state = own_world / "tmp", own_world / "state"
    (root / "old.txt").write_text("x")
    since_ns = ticked(own_world, (root / "old.txt").stat().st_ctime_ns)
    (root / "new.txt").write_text("x")
    (root / "old.txt").write_text("changed, and born before all the same")
    command = f"cat {root}/old.txt > {root}/new.txt"
    call = {"agent": "claude", "session": SESSION, "command": command, "output": ""}
    until_ns = time.time_ns()
    found = note(
        str(state), str(root), FinishedCall(**call, since_ns=since_ns, until_ns=until_ns, window=(since_ns, until_ns))
    )
    assert [(Path(birth.path).name, birth.owned) for birth in found] == [("new.txt", True)]
    ticked(own_world, until_ns)
    (root / "newer.txt").write_text("x")
    late = call | {"command": f"cat > {root}/newer.txt"}
    found = note(
        str(state),
        str(root),
        FinishedCall(**late, since_ns=since_ns, until_ns=time.time_ns(), window=(since_ns, until_ns)),
    )
    assert [(Path(birth.path).name, birth.owned) for birth in found] == [("newer.txt", False)], "after the call"
    (root / "late.txt").write_text("x")
    found = note(str(state), str(root), FinishedCall(**call, since_ns=since_ns - 2, until_ns=since_ns - 1))
    assert found == []


def test_why_tells_the_call_and_that_nobody_has_used_it_since(agent: Agent) -> None:
    path = agent.root / "out.txt"
    path.write_text("x")
    agent.called(f"python3 make.py > {path}", "")
    agent.births(1)
    told = tmpwarden("why", str(path)).stdout
    assert f"while claude session {SESSION[:8]} ran `python3 make.py" in told
    assert "; it was not used since" in told
    assert data("why", str(path))["birth"]["session"] == SESSION


def owned(agent: Agent, name: str = "out.txt") -> Path:
    path = agent.root / name
    path.write_text("x")
    agent.called(f"make > {path}", "")
    agent.births(1)
    return path


def test_an_owned_birth_is_a_unit_that_only_goes_when_asked_and_comes_back(agent: Agent) -> None:
    path = owned(agent)
    record_dead_session(SESSION)
    (found,) = data("scan", later_s=DAYS)["findings"]
    assert (found["litter"], found["reason"], found["undoable"]) == ("birth", "only-when-asked", False)
    data("clean", "--yes", later_s=DAYS)
    assert path.exists()
    data("clean", "--yes", "--all", later_s=3600)
    assert path.exists(), "not 72 hours after its session"
    (gone,) = data("clean", "--yes", "--all", later_s=DAYS)["removed"]
    assert (gone["path"], gone["undoable"]) == (str(path), True)
    assert tmpwarden("undo").returncode == 0
    assert path.read_text() == "x"


def test_with_tier_auto_it_goes_by_itself_after_its_session_and_not_while_that_lives(
    agent: Agent, own_world: Path
) -> None:
    path = owned(agent)
    config = own_world / "config" / "tmpwarden"
    config.mkdir(exist_ok=True, mode=0o700)
    (config / "config.toml").write_text('[births]\ntier = "auto"\n')
    with process("", env={"PATH": "/bin", "CLAUDE_CODE_SESSION_ID": SESSION}):
        data("clean", "--yes", later_s=DAYS)
        assert path.exists()
        assert data("clean", "--yes", str(path), later_s=DAYS)["kept"], "nor when it is named"
    record_dead_session(SESSION)
    data("clean", "--yes", later_s=3600)
    assert path.exists(), "the first look that finds it gone"
    assert [each["undoable"] for each in data("clean", "--yes", later_s=DAYS)["removed"]] == [True]


def test_another_entry_of_that_name_is_nobodys(agent: Agent) -> None:
    path = owned(agent)
    replacement = agent.root / "new"
    replacement.write_text("mine")
    replacement.rename(path)
    record_dead_session(SESSION)
    assert data("scan", later_s=DAYS)["findings"] == []
    assert "birth" not in data("why", str(path))
    assert not births.is_owned(str(agent.state), SESSION, str(path))


def test_the_guard_can_ask_what_a_session_owns(agent: Agent) -> None:
    path = owned(agent)
    assert births.is_owned(str(agent.state), SESSION, str(path))
    assert not births.is_owned(str(agent.state), "another", str(path))


def test_a_root_that_has_not_changed_costs_no_job(own_world: Path) -> None:
    notes, root = str(own_world / "state" / "tmpwarden" / "hooks"), own_world / "tmp"
    environ = {b"TMPDIR": os.fsencode(root)}
    notebook.saw_root(notes, str(root))
    assert not notebook.has_births(notes, environ, b"/tmp" + os.fsencode(root))
    (root / "new").touch()
    assert notebook.has_births(notes, environ, b'{"command":"touch ' + os.fsencode(root) + b'/new"}')
    assert not notebook.has_births(notes, environ, b'{"command":"true"}'), "not for each marker of an agent"


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({}, "/tmp"),
        ({"TMPDIR": "/var/tmp/"}, "/var/tmp"),
        ({"TMPDIR": "/tmp/tmpwarden-{uid}/0a1b2c3d"}, "/tmp"),
        ({"TMPDIR": "/tmp/agent-{uid}/tw/0a1b2c3d"}, "/tmp"),
        ({"TMPDIR": "relative"}, "/tmp"),
        ({"TMPWARDEN_ROOTS": "/a:/b", "TMPDIR": "/c"}, "/a"),
    ],
)
def test_the_root_that_is_watched_is_the_one_above_a_scratch(environ: dict[str, str], root: str) -> None:
    spelled = {name.encode(): value.format(uid=os.geteuid()).encode() for name, value in environ.items()}
    assert notebook.temp_root(spelled) == root


@pytest.mark.parametrize(
    ("name", "text", "is_there"),
    [
        ("out.txt", "wrote /tmp/out.txt\n", True),
        ("out.txt", "cd /tmp && make >out.txt", True),
        ("out.txt", "/tmp/layout.txt", False),
        ("out.txt", "/tmp/out.txt.bak", False),
        ("out", "/tmp/out.txt", False),
        ("a", "a b c", False),
        ("a", "touch /tmp/a", True),
    ],
)
def test_a_name_stands_in_a_text_as_a_whole(name: str, text: str, is_there: bool) -> None:
    assert is_named("/tmp", name, text) == is_there


def test_a_torn_or_alien_record_is_passed_over(agent: Agent) -> None:
    path = owned(agent)
    with (agent.state / births.FILE).open("a") as file:
        file.write('{"path": 1}\n[]\n{"torn')
    assert births.read(str(agent.state))[str(path)].owned
    assert json.loads(tmpwarden("scan", "--json").stdout)["ok"]


@needs_root
def test_a_full_disk_does_not_hurry_what_a_session_made(tmp_path: Path, own_world: Path) -> None:
    """Pressure destroys for good; a birth is never a proof, so it waits its time and goes into quarantine."""
    config = own_world / "config" / "tmpwarden"
    config.mkdir(mode=0o700)
    (config / "config.toml").write_text('[births]\ntier = "auto"\n')
    record_dead_session(SESSION)
    with tmpfs(tmp_path / "t", size="4m") as root:
        path = root / "out.bin"
        path.write_bytes(b"x" * (3900 << 10))
        ((_, seen),) = dated_tree(str(path))
        assert seen is not None
        assert seen.born_ns is not None
        state = own_world / "state" / "tmpwarden"
        state.mkdir(mode=0o700)
        birth = Birth(str(path), seen.device, seen.inode, seen.born_ns, "claude", SESSION, "make", owned=True)
        births.note(str(state), [birth])
        (state / "hooks").mkdir(mode=0o700)
        claims.note_call(str(state), SESSION, (seen.born_ns, time.time_ns()))
        (found,) = data("scan", "--root", str(root), later_s=7200)["findings"]
        assert (found["litter"], found["reason"]) == ("birth", "too-young")
        data("clean", "--yes", "--root", str(root), later_s=7200)
        assert path.exists()
