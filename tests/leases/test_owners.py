"""Whose a unit is and whether that owner lives decides before any age does."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support import users
from support.answers import witnesses
from support.holding import left_behind, process
from support.litter import later
from support.mounts import needs_root, tmpfs
from support.users import SESSION
from tmpwarden.catalogue.load import load
from tmpwarden.cli.wording import explained
from tmpwarden.leases.book import OwnerBook, variables_of
from tmpwarden.lifecycle.background import clear_the_dead
from tmpwarden.model.sweep import Finding, Keep, Owner, Remove, Verdict
from tmpwarden.model.terms import Kind, OwnerRule, OwnerState, Reason, WitnessKind
from tmpwarden.oskit.proc import namespaces, procs
from tmpwarden.oskit.proc.holders import Holders
from tmpwarden.sweep.compose import clean, scan

ME = os.getpid()


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


@pytest.fixture
def home(own_world: Path) -> Path:
    return own_world / "home"


def verdict_on(unit: Path, hours: float) -> Verdict:
    (verdict,) = [verdict for verdict in scan(now_ns=later(hours)) if verdict.finding.path == str(unit)]
    return verdict


def owner_of(unit: Path) -> Owner:
    return verdict_on(unit, 2).evidence.owner


def program_called_claude(folder: Path) -> Path:
    (folder / "claude").symlink_to(sys.executable)
    return folder / "claude"


# Leases


def test_a_lease_of_a_live_process_keeps_its_scratch_at_any_age(root: Path) -> None:
    with process("") as agent:
        unit = users.leased_scratch(root, owner=(agent.pid, procs.start_ticks(agent.pid) or 0))
        verdict = verdict_on(unit, 5000)
        assert isinstance(verdict, Keep)
        assert (verdict.reason, verdict.evidence.owner.state) == (Reason.LEASE, OwnerState.ALIVE)
        assert [(one.kind, one.pid) for one in witnesses(verdict.evidence.users)] == [(WitnessKind.LEASE, agent.pid)]
    assert verdict_on(unit, 1).evidence.owner.state is OwnerState.DEAD


def test_a_lease_stays_as_long_as_its_scratch_whoever_owned_it(root: Path) -> None:
    unit = users.leased_scratch(root, owner=(os.getpid(), 1))
    verdict = verdict_on(Path(f"{unit}.lease"), 5000)
    assert isinstance(verdict, Keep)
    assert (verdict.reason, verdict.detail) == (Reason.OWNER_ALIVE, "the directory it speaks for")
    assert explained(verdict) == "it is the lease of a directory that is still there", "its session may have ended"


def test_the_lease_of_a_live_owner_is_dated_anew_before_the_system_takes_it_and_no_dead_ones(root: Path) -> None:
    """macOS removes what lay in a temp directory unread for three days; a scratch without lease has no known owner."""
    with process("") as agent:
        living = users.leased_scratch(root, owner=(agent.pid, procs.start_ticks(agent.pid) or 0))
        dead = users.leased_scratch(root, session="gone")
        days_ago = time.time() - 2 * 86400
        for unit in (living, dead):
            for path in (unit, f"{unit}.lease"):
                os.utime(path, (days_ago, days_ago))
        clear_the_dead()
        for path in (str(living), f"{living}.lease"):
            assert time.time() - os.stat(path).st_mtime < 3600, path
        assert not os.path.exists(f"{dead}.lease") or os.stat(f"{dead}.lease").st_mtime == pytest.approx(days_ago)
        Path(f"{living}.lease").unlink()
        assert owner_of(living).state is OwnerState.UNKNOWN


def test_a_recycled_pid_does_not_keep_a_dead_owners_scratch_alive(root: Path) -> None:
    """This very process has the number now, but it started at another time."""
    unit = users.leased_scratch(root, owner=(ME, (procs.start_ticks(ME) or 0) - 1))
    assert owner_of(unit).state is OwnerState.DEAD
    clean(now_ns=later(1))
    assert not unit.exists()


def test_a_dead_ones_record_does_not_kill_a_live_one(root: Path, home: Path) -> None:
    """The same session was resumed: an old registry entry is of a process that is gone, a new one lives."""
    unit = users.session_directory(root)
    pid, start = users.dead_process()
    users.register(home, pid, procStart=str(start))
    assert owner_of(unit).state is OwnerState.DEAD
    with process("") as agent:
        users.register(home, agent.pid)
        assert owner_of(unit).state is OwnerState.ALIVE


@pytest.mark.parametrize(
    "changes",
    [
        {"machine": "0" * 32, "boot": "11111111-2222-4333-8444-555555555555"},
        {"machine": None, "boot": "11111111-2222-4333-8444-555555555555"},
        {"machine": "0" * 32, "boot": None},
        {"pidns": "pid:[4026599999]"},
    ],
    ids=["other machine", "unknown machine, other boot", "other machine, unknown boot", "other pid namespace"],
)
def test_an_owner_we_cannot_see_is_unknown(root: Path, changes: dict[str, object]) -> None:
    unit = users.leased_scratch(root)
    assert owner_of(unit).state is OwnerState.DEAD
    users.write_lease(unit, **changes)
    assert owner_of(unit).state is OwnerState.UNKNOWN
    assert isinstance(verdict_on(unit, 71), Keep)
    assert isinstance(verdict_on(unit, 73), Remove)


def test_an_owner_from_an_earlier_boot_of_this_machine_is_dead(root: Path) -> None:
    unit = users.leased_scratch(root, owner=(ME, procs.start_ticks(ME) or 0))
    assert owner_of(unit).state is OwnerState.ALIVE
    users.write_lease(unit, boot="11111111-2222-4333-8444-555555555555")
    assert owner_of(unit).state is OwnerState.DEAD


def test_a_scratch_without_a_readable_lease_is_nobodys_we_know(root: Path) -> None:
    unit = users.leased_scratch(root)
    Path(f"{unit}.lease").write_text("{}")
    assert owner_of(unit).state is OwnerState.UNKNOWN


def test_a_lease_stays_as_long_as_its_scratch(root: Path) -> None:
    unit = users.leased_scratch(root)
    with users.opens_a_file(unit):
        clean(now_ns=later(100))
        assert Path(f"{unit}.lease").exists()
    clean(now_ns=later(100))
    clean(now_ns=later(100))
    assert not unit.exists()
    assert not Path(f"{unit}.lease").exists()


# The agents' own registries


def test_a_registered_session_keeps_its_directory_at_any_age(root: Path, home: Path) -> None:
    unit = users.session_directory(root)
    with process("") as agent:
        entry = users.register(home, agent.pid)
        verdict = verdict_on(unit, 5000)
        assert isinstance(verdict, Keep)
        assert (verdict.reason, verdict.detail) == (Reason.REGISTRY, str(entry))
    assert owner_of(unit) == Owner(OwnerState.DEAD, agent.pid, SESSION, str(entry))


def test_a_registry_elsewhere_is_found_through_a_live_processs_environment(root: Path, tmp_path: Path) -> None:
    """A timer has neither the user's CLAUDE_CONFIG_DIR nor, perhaps, the user's HOME."""
    unit = users.session_directory(root)
    claude = program_called_claude(tmp_path)
    for variable, place in (("CLAUDE_CONFIG_DIR", "config"), ("HOME", "home2/.claude")):
        (tmp_path / place).mkdir(parents=True)
        value = str(tmp_path / place).removesuffix("/.claude")
        with process("", env={variable: value}, python=str(claude)) as agent:
            entry = users.register(tmp_path / "made", agent.pid)
            (tmp_path / place / "sessions").mkdir()
            entry.rename(tmp_path / place / "sessions" / entry.name)
            assert owner_of(unit).state is OwnerState.ALIVE, variable
        assert owner_of(unit).state is not OwnerState.ALIVE


def test_a_registry_elsewhere_is_found_through_a_lease(root: Path, tmp_path: Path) -> None:
    unit = users.session_directory(root)
    scratch = users.leased_scratch(root, session="another")
    users.write_lease(scratch, config_home=str(tmp_path / "made" / ".claude"))
    with process("") as agent:
        users.register(tmp_path / "made", agent.pid)
        assert owner_of(unit).state is OwnerState.ALIVE


ALIEN = ["", "{", "[]", "null", "{}", '{"sessionId": 5}', '{"sessionId": "x", "pid": 1}', "\x00" * 100, "[" * 50000]


@pytest.mark.parametrize("text", ALIEN, ids=range(len(ALIEN)))
def test_an_alien_registry_entry_is_passed_over_unless_its_process_lives(root: Path, home: Path, text: str) -> None:
    """Claude Code writes it in place: a look may come in the middle. And a later version may call things otherwise."""
    unit = users.session_directory(root)
    with process("") as agent:
        entry = users.register(home, agent.pid, session="x")
        entry.write_text(text)
        assert owner_of(unit).state is OwnerState.UNKNOWN
        assert str(entry) in owner_of(unit).detail
    (home / ".claude/sessions/not-a-pid.json").write_text('{"sessionId": "x"}')
    (home / ".claude/sessions/4000000.json").mkdir()
    assert owner_of(unit).state is OwnerState.ABSENT


@pytest.mark.parametrize(
    "domain", [f"linux:{'0' * 32}:pid:[4026531836]", "darwin:abc:pid:1", f"linux:{namespaces.machine_id()}:pid:[1]"]
)
def test_a_registry_entry_from_elsewhere_is_unknown(root: Path, home: Path, domain: str) -> None:
    unit = users.session_directory(root)
    pid, start = users.dead_process()
    users.register(home, pid, procStart=str(start), pidDomain=domain)
    assert owner_of(unit).state is OwnerState.UNKNOWN


# Nobody


def test_a_session_that_nobody_carries_is_absent(root: Path) -> None:
    unit = users.session_directory(root)
    assert owner_of(unit).state is OwnerState.ABSENT


def test_a_session_is_not_absent_while_somebody_cannot_be_seen(root: Path, home: Path) -> None:
    catalogue = load()
    row = next(row for row in catalogue.rows if row.key == "claude.session")
    finding = Finding(row, str(root), str(root), SESSION, Kind.DIR, 0, 0, session=SESSION)
    holders = Holders.look(variables_of(catalogue.agents))
    holders.doubt("process 7 (x) of this user cannot be read")
    owner = OwnerBook(catalogue.agents, holders, home=str(home)).owner_of(finding)
    assert (owner.state, owner.detail) == (OwnerState.UNKNOWN, "process 7 (x) of this user cannot be read")


@needs_root
def test_an_owner_on_a_network_file_system_is_unknown(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another host may use it, whatever a lease says about processes here. No server here: tmpfs plays its part."""
    with tmpfs(root):
        unit = users.leased_scratch(root)
        assert owner_of(unit).state is OwnerState.DEAD
        monkeypatch.setattr(namespaces, "NETWORK_FILESYSTEMS", frozenset(("tmpfs",)))
        assert owner_of(unit).state is OwnerState.UNKNOWN


def test_a_running_agent_that_no_record_explains_makes_absent_unknown(root: Path, home: Path, tmp_path: Path) -> None:
    """An idle agent without registry or lease carries its session nowhere that we can see."""
    unit = users.session_directory(root)
    program = str(program_called_claude(tmp_path))
    with process("", python=program, env={"TMPDIR": str(tmp_path)}):
        assert owner_of(unit).state is OwnerState.ABSENT, "its files lie elsewhere"
    with process("", python=program, env={"TMPDIR": str(root)}) as agent:
        assert owner_of(unit).state is OwnerState.UNKNOWN
        users.register(home, agent.pid, session="another")
        assert owner_of(unit).state is OwnerState.ABSENT


# Quiet files of live sessions


def test_a_file_left_alone_for_ten_hours_survives_every_hourly_clean(root: Path, home: Path) -> None:
    unit = users.session_directory(root)
    flat = root / f"claude-{os.geteuid()}" / "tmp.s41nKzCasd"
    with process("") as agent:
        users.register(home, agent.pid)
        flat.write_text("made, closed, left alone")
        for hour in range(1, 11):
            clean(now_ns=later(hour))
            assert (unit / "deep" / "file").exists(), f"after {hour} hours"
            assert flat.exists(), f"after {hour} hours"
    clean(now_ns=later(100))
    assert not flat.exists()


def test_a_unit_untouched_since_before_every_live_session_is_none_of_theirs(root: Path, home: Path) -> None:
    catalogue = load()
    flat = next(row for row in catalogue.rows if row.owner is OwnerRule.AGENT and row.agent == "claude")
    finding = Finding(flat, str(root), str(root), "x", Kind.FILE, 0, 0)
    with process("") as agent:
        users.register(home, agent.pid)
        holders = Holders.look(variables_of(catalogue.agents))
        holders.processes = {agent.pid: holders.processes[agent.pid]}  # and nobody else's sessions on this machine
        holders.sessions = {}
        book = OwnerBook(catalogue.agents, holders, home=str(home))
        assert [living.pid for living in book.living_of("claude")] == [agent.pid]
        now_ns = time.time_ns()
        assert book.owner_of(finding, now_ns).state is OwnerState.UNKNOWN
        assert book.owner_of(finding, now_ns - 3600 * 10**9).state is OwnerState.ABSENT
        assert book.owner_of(finding).state is OwnerState.UNKNOWN


KILLED = """
import subprocess, sys
command = subprocess.Popen(
    [sys.executable, "-I", "-c", "import sys; print('ready', flush=True); sys.stdin.read()"],
    stdout=sys.stdout, stdin=sys.stdin, stderr=open(sys.argv[1], "a"), start_new_session=True, cwd="/", env={},
)
command.wait()
"""


def test_a_killed_agents_directory_stays_until_its_background_command_has_ended(root: Path, home: Path) -> None:
    unit = users.session_directory(root)
    with left_behind(KILLED, str(unit / "deep" / "out.output")) as agent:
        users.register(home, agent.pid)
        agent.send_signal(signal.SIGKILL)
        agent.wait()
        verdict = verdict_on(unit, 100)
        assert isinstance(verdict, Keep)
        assert (verdict.reason, verdict.evidence.owner.state) == (Reason.OPEN_FILE, OwnerState.DEAD)
        clean(now_ns=later(100))
        assert (unit / "deep" / "out.output").exists()
    clean(now_ns=later(100))
    assert not unit.exists()


# Numbers in names


def test_a_number_in_a_name_keeps_the_unit_while_that_process_lives(root: Path) -> None:
    folder = root / "cc-socks"
    folder.mkdir(mode=0o700)
    with process("") as agent:
        unit = folder / f"{agent.pid}.sock"
        subprocess.run([sys.executable, "-c", "import socket, sys, os; os.chdir(sys.argv[1]); "
                        "socket.socket(socket.AF_UNIX).bind(sys.argv[2])", folder, unit.name], check=True)  # fmt: skip
        assert verdict_on(unit, 2).evidence.owner.state is OwnerState.ALIVE
    assert verdict_on(unit, 2).evidence.owner.state is OwnerState.DEAD
