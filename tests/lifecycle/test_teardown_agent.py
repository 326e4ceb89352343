"""`teardown --agent A`, an orchestrator's call: one call takes what is known to be gone, and tells about the rest."""

import json
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

import tmpwarden
from support.command import tmpwarden as run
from support.holding import ended_pid, process
from support.litter import claude_session, in_quarantine, later
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.model.terms import Reason
from tmpwarden.oskit.files import places
from tmpwarden.sweep.store.undo import undo


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def leased(root: Path, session: str) -> Path:
    scratch = Path(open_scratch(str(root), "claude", session, pid=ended_pid(), start=1).path)
    (scratch / "work").write_text("x" * 4000)
    return scratch


def test_one_call_takes_all_that_is_known_to_be_gone(root: Path) -> None:
    """On a machine where no clean was ever confirmed, and although it is more than half of the root."""
    dead = [*(leased(root, f"dead-{number}") for number in range(6)), *(claude_session(root) for _ in range(6))]
    done = run("teardown", "--agent", "claude", "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)["data"]
    assert [path for path in dead if path.exists()] == [], "the names are free when the call is over"
    assert {item["path"] for item in data["removed"]} >= {str(path) for path in dead}
    assert {item["path"] for item in data["pending"]} >= {str(path) for path in dead}
    assert {item["receipt"] for item in data["pending"]} <= {item["receipt"] for item in data["removed"]}
    assert data["freed_bytes"] >= 0
    undo()


def test_with_wait_nothing_is_pending_and_the_second_call_has_nothing_to_do(root: Path) -> None:
    dead = [leased(root, "dead"), claude_session(root)]
    result = tmpwarden.teardown(agent="claude", wait=True)
    assert result.error is None
    assert result.pending == []
    assert {receipt.finding.path for receipt in result.removed} >= {str(path) for path in dead}
    assert tmpwarden.teardown(agent="claude", wait=True).removed == []


def test_what_only_seems_to_be_gone_goes_by_the_rules_of_a_timer_and_is_told(root: Path) -> None:
    """No record names the process of these: the caller's word says nothing about them."""
    claude_session(root)  # so that Claude has a registry
    absent = [claude_session(root, recorded=False) for _ in range(4)]
    result = tmpwarden.teardown(agent="claude", wait=True, now_ns=later(100))
    reasons = {receipt.finding.path: receipt.reason for receipt in result.kept}
    assert {reasons[str(path)] for path in absent} == {Reason.BACKLOG}
    assert all(path.exists() for path in absent)
    assert len(result.removed) >= 1


def test_what_lives_is_in_use_or_belongs_to_another_agent_stays(root: Path) -> None:
    with process("") as agent:
        live = open_scratch(str(root), "claude", "live", pid=agent.pid)
        other = open_scratch(str(root), "codex", "dead", pid=ended_pid(), start=1)
        used = claude_session(root)
        for path in (live.path, other.path):
            (Path(path) / "work").write_text("x")
        with process("", cwd=used):
            result = tmpwarden.teardown(agent="claude", wait=True)
            assert used.exists()
        assert Path(live.path).exists()
        assert Path(other.path).exists()
        reasons = {receipt.finding.path: receipt.reason for receipt in result.kept}
        assert reasons[str(used)] is Reason.WORKING_DIRECTORY
    assert result.error is None


def test_git_work_of_a_dead_session_comes_back_and_is_told(root: Path) -> None:
    unit = claude_session(root)
    repository = unit / "scratchpad" / "repo"
    repository.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / "only-copy").write_text("work")
    result = tmpwarden.teardown(agent="claude", wait=True)
    assert (repository / "only-copy").read_text() == "work"
    assert [receipt.reason for receipt in result.kept] == [Reason.GIT_WORK]


def test_while_somebody_else_cleans_the_dead_go_and_the_rest_is_told(root: Path, own_world: Path) -> None:
    dead = leased(root, "dead")
    state = own_world / "state" / "tmpwarden"
    state.mkdir(mode=0o700, exist_ok=True)
    with process("import fcntl, os, sys; fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)", str(state)):
        result = tmpwarden.teardown(agent="claude", wait=True)
    assert not dead.exists()
    assert result.warnings == ["another clean-up is running; only what is known to be gone was looked at"]


FROM_ANOTHER_PROCESS = """
import sys, tmpwarden
with tmpwarden.lease("claude", session=sys.argv[2], root=sys.argv[1]) as scratch:
    open(f"{scratch.path}/work", "w").write("x")
    print(scratch.path, flush=True)
    sys.stdin.read()
"""


def leased_elsewhere(world: Path) -> tuple[Path, Path, str]:
    """A root that no variable names, the directory that a killed orchestrator leased below it, and its session."""
    elsewhere, session = world / "elsewhere", str(uuid.uuid4())
    elsewhere.mkdir(mode=0o700)
    with subprocess.Popen(
        [sys.executable, "-c", FROM_ANOTHER_PROCESS, str(elsewhere), session],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as spawner:  # fmt: skip
        assert spawner.stdout is not None
        scratch = Path(spawner.stdout.readline().strip())
        spawner.kill()
    assert (scratch / "work").exists()
    return elsewhere, scratch, session


@pytest.mark.parametrize("confined", [False, True], ids=["", "TMPWARDEN_ROOTS"])
def test_a_lease_with_a_root_of_its_own_is_found_by_its_session_from_another_process(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, confined: bool
) -> None:
    if not confined:
        monkeypatch.delenv("TMPWARDEN_ROOTS")
        monkeypatch.setattr(places, "_COMMON_ROOTS", ())
    elsewhere, scratch, session = leased_elsewhere(own_world)
    result = tmpwarden.teardown(session=session, wait=True)
    assert result.released
    assert not scratch.exists()
    assert len(in_quarantine(elsewhere)) == 1


def test_a_command_finds_it_too_and_so_does_a_close(own_world: Path) -> None:
    _, scratch, session = leased_elsewhere(own_world)
    done = run("teardown", "--session", session, "--json")
    data = json.loads(done.stdout)["data"]
    assert (data["released"], [item["path"] for item in data["removed"]]) == (True, [str(scratch)])
    _, scratch, session = leased_elsewhere(own_world / "home")
    owner = json.loads((scratch.parent / f"{scratch.name}.lease").read_text())["pid"]
    done = run("lease", "close", "--session", session, "--pid", str(owner), "--json")
    assert done.returncode == 0, done.stdout
    assert not scratch.exists()


def test_what_no_session_names_stays_where_the_run_is_confined(own_world: Path) -> None:
    """A search, and a root that the call itself names, leave it alone: TMPWARDEN_ROOTS and --root say where to look."""
    root, (elsewhere, scratch, session) = own_world / "tmp", leased_elsewhere(own_world)
    assert tmpwarden.teardown(agent="claude", wait=True).removed == []
    assert tmpwarden.clean(now_ns=later(100)).removed == []
    assert not tmpwarden.teardown(session=session, roots=(str(root),), wait=True).released
    assert (scratch / "work").exists()
    assert tmpwarden.teardown(session=session, roots=(str(elsewhere),), wait=True).released


@pytest.mark.parametrize("named", ["/nonexistent", "/", "home"])
def test_a_root_that_is_none_is_told_in_one_sentence_whoever_is_asked(own_world: Path, named: str) -> None:
    root = str(own_world / "home") if named == "home" else named
    told = tmpwarden.teardown(agent="claude", roots=(root,)).error
    result = tmpwarden.clean(tmpwarden.Request(roots=(root,)))
    periodic = tmpwarden.Periodic(every="1h", roots=(root,))
    periodic._once()
    with pytest.raises(tmpwarden.errors.UnsafeRoot) as raised:
        tmpwarden.scan(tmpwarden.Request(roots=(root,)))
    assert told == periodic.last_error == result.error == f"{type(raised.value).__name__}: {raised.value}"
    assert (list(result.removed), list(result.kept), result.planned) == ([], [], [])
