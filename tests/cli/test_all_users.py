"""`--all-users`: as each user, with that user's rights and home; never as root over other people's files."""

import fcntl
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from support import interpreters, planted
from support.accounts import Account, Machine
from support.command import tmpwarden
from support.mounts import needs_root
from support.user import UID, OrdinaryUser
from tmpwarden.lifecycle import per_user
from tmpwarden.lifecycle.users import User, switch_to

LOOKS = ["scan", "status", "doctor"]
# One line on stderr for each module that a child loads once it is somebody else.
WATCHED = """
import sys
from tmpwarden.lifecycle import per_user
def switch_to(user, real=per_user.switch_to):
    real(user)
    sys.addaudithook(lambda event, args: event == "import" and print("LATE", args[0], file=sys.stderr))
per_user.switch_to = switch_to
from tmpwarden.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def litter_of(account: Account, machine: Machine) -> Path:
    return account.owns(planted.staging(machine.tmp, f"moat-claude-staging-{account.uid}"))


def answered(machine: Machine, *args: str, status: int = 0, later_s: float = planted.DAYS) -> dict[str, Any]:
    """The envelope, with its users by name."""
    result = machine.tmpwarden(*args, "--all-users", "--json", later_s=later_s)
    envelope = json.loads(result.stdout)
    assert result.returncode == status, envelope
    return envelope | {"users": {each["user"]: each for each in envelope["data"]["users"]}}


def test_an_install_that_only_root_can_read_cleans_for_everybody(machine: Machine) -> None:
    mine = planted.staging(machine.tmp, "moat-claude-staging-0")
    theirs = [litter_of(account, machine) for account in (machine.alice, machine.bob)]
    users = answered(machine, "clean", "--yes")["users"]
    assert [path for path in (mine, *theirs) if path.exists()] == []
    assert [[unit["path"] for unit in users[name]["data"]["removed"]] for name in ("root", "alice", "bob")] == [
        [str(path)] for path in (mine, *theirs)
    ]
    journal = machine.alice.home / ".local/state/tmpwarden/journal.jsonl"
    assert journal.stat().st_uid == machine.alice.uid


@pytest.mark.parametrize("command", LOOKS)
def test_each_user_has_a_table_of_their_own(machine: Machine, command: str) -> None:
    litter_of(machine.alice, machine)
    result = machine.tmpwarden(command, "--all-users", later_s=planted.DAYS)
    assert result.returncode == 0, result.stderr
    headings = [line for line in result.stdout.splitlines() if line and not line.startswith(" ")]
    assert headings == ["root (uid 0)", f"alice (uid {machine.alice.uid})"]
    assert "  " in result.stdout.split(f"alice (uid {machine.alice.uid})\n")[1]


def test_a_look_at_all_users_tells_each_users_findings_apart(machine: Machine) -> None:
    unit = litter_of(machine.alice, machine)
    users = answered(machine, "scan")["users"]
    assert [each["path"] for each in users["alice"]["data"]["findings"]] == [str(unit)]
    assert [each["reason"] for each in users["root"]["data"]["findings"]] == ["another-user"]


@pytest.mark.parametrize("command", [["clean", "--yes"], *([each] for each in LOOKS)], ids=lambda words: words[0])
def test_a_child_loads_nothing_once_it_is_somebody_else(machine: Machine, command: list[str]) -> None:
    """Root's own Python may lie below /root as well; then not even the standard library could be read any more."""
    litter_of(machine.alice, machine)
    planted.marker(machine.tmp)
    machine.alice.owns(planted.marker(machine.tmp, 0x2B3C))
    config = machine.alice.home / ".config" / "tmpwarden"
    config.mkdir(parents=True)
    (config / "config.toml").write_text("[pressure\n")
    machine.alice.owns(machine.alice.home)
    result = machine.code(WATCHED, *command, "--all-users")
    assert f"alice (uid {machine.alice.uid})" in result.stdout
    assert [line for line in result.stderr.splitlines() if "LATE" in line] == []


def test_who_has_litter_at_home_only_is_served_too_and_who_has_none_is_not_bothered(machine: Machine) -> None:
    (machine.alice.home / ".codex").mkdir()
    machine.alice.owns(machine.alice.home)
    users = answered(machine, "clean", "--yes")["users"]
    assert list(users) == ["root", "alice"]
    assert list(machine.bob.home.iterdir()) == []


def test_who_has_no_home_of_their_own_is_left_out_and_that_is_said_and_no_failure(machine: Machine) -> None:
    unit = litter_of(machine.web, machine)
    envelope = answered(machine, "clean", "--yes")
    assert envelope["users"]["web"]["skipped"] == "no-home"
    assert [sentence for sentence in envelope["warnings"] if sentence.startswith("web was skipped")]
    assert unit.exists()


def test_the_passwd_home_is_for_those_whose_home_is_not_in_the_environment(machine: Machine) -> None:
    """Root keeps its journal where its own `clean` does; alice, of whom the environment says nothing, in hers."""
    elsewhere = machine.base / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    planted.staging(machine.tmp, "moat-claude-staging-0")
    litter_of(machine.alice, machine)
    result = machine.tmpwarden("clean", "--all-users", "--yes", later_s=planted.DAYS, env={"HOME": str(elsewhere)})
    assert result.returncode == 0, result.stderr
    assert (elsewhere / ".local/state/tmpwarden/journal.jsonl").exists()
    assert (machine.alice.home / ".local/state/tmpwarden/journal.jsonl").exists()


def test_warnings_of_children_are_shown_with_their_names(machine: Machine) -> None:
    litter_of(machine.alice, machine)
    config = machine.alice.home / ".config" / "tmpwarden"
    config.mkdir(parents=True)
    (config / "config.toml").write_text("[pressure]\nhigh = 'very'\n")
    machine.alice.owns(machine.alice.home)
    result = machine.tmpwarden("scan", "--all-users")
    assert "warning: alice: " in result.stderr
    assert "config.toml" in result.stderr


IMPATIENT = """
import sys
from support.later import now_ns
from tmpwarden.cli.main import main
from tmpwarden.sweep import compose
compose._A_PERSON_WAITS_S = 0.1
sys.exit(main(sys.argv[1:], now_ns=now_ns))
"""


def test_a_failure_says_whose_and_why(machine: Machine) -> None:
    state = machine.alice.home / ".local/state/tmpwarden"
    state.mkdir(parents=True, mode=0o700)
    machine.alice.owns(machine.alice.home)
    litter_of(machine.alice, machine)
    lock = os.open(state, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    words = (interpreters.plain(), "-c", IMPATIENT, "clean", "--all-users", "--yes")
    result = machine.run(*words, env={"LATER_S": str(planted.DAYS)})
    os.close(lock)
    assert result.returncode == 2
    assert "it failed for alice: another tmpwarden is cleaning up right now\n" in result.stderr
    assert "hint: wait for it" in result.stderr


def test_a_child_cannot_get_its_privileges_back(machine: Machine) -> None:
    pid = os.fork()
    if pid == 0:
        switch_to(User(UID, UID, "nobody", "/nonexistent"))
        ours = os.getresuid() == (UID, UID, UID) and os.getresgid() == (UID, UID, UID) and 0 not in os.getgroups()
        try:
            os.setuid(0)
        except PermissionError:
            os._exit(0 if ours and os.environ["HOME"] == "/nonexistent" else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


SOMEBODY = User(UID, UID, "nobody", "/nonexistent")


def said(work: Any, **limits: Any) -> per_user.Heard:
    return per_user.as_user(SOMEBODY, work, **{"limit_s": 30, **limits})


@needs_root
def test_roots_environment_and_terminal_stay_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """git shows its environment to the user whose repository it inspects, and could type into a terminal it has."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "root's")
    leader, terminal = os.openpty()
    heard = said(
        lambda: json.dumps([dict(os.environ), os.getsid(0) == os.getpid(), [os.isatty(fd) for fd in (0, 1, 2)]])
    )
    os.close(leader)
    os.close(terminal)
    environ, is_alone, terminals = json.loads(heard.answer)
    assert "AWS_SECRET_ACCESS_KEY" not in environ
    assert environ["HOME"] == "/nonexistent"
    assert (is_alone, terminals) == (True, [False, False, False])


@needs_root
def test_the_memory_of_a_child_was_roots_and_stays_closed_to_its_user() -> None:
    source = "import sys; open(f'/proc/{sys.argv[1]}/mem', 'rb')"

    def try_it() -> str:
        return str(
            subprocess.run(
                [interpreters.for_everybody(), "-c", source, str(os.getpid())], capture_output=True
            ).returncode
        )

    assert said(try_it).answer == "1"


@needs_root
@pytest.mark.parametrize(
    ("number", "why"),
    [(signal.SIGSTOP, "its process was paused (SIGSTOP)"), (signal.SIGKILL, "its process was ended by signal 9")],
)
def test_who_stops_or_kills_a_child_costs_that_user_alone(
    monkeypatch: pytest.MonkeyPatch, number: int, why: str
) -> None:
    monkeypatch.setattr(per_user, "_STOPPED_S", 0.2)

    def work() -> str:
        os.kill(os.getpid(), number)
        return "never"

    assert said(work).why == why
    assert said(lambda: "next") == per_user.Heard("next")


@needs_root
def test_a_child_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    def work() -> str:
        started = subprocess.Popen(["sleep", "600"])
        os.write(1, f"{started.pid}\n".encode())
        time.sleep(600)
        return "never"

    heard = said(work, limit_s=1)
    assert heard.why == "it took longer than 1s"
    until = time.monotonic() + 10
    while Path("/proc", heard.talk).exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not Path("/proc", heard.talk).exists()


@needs_root
def test_a_signal_is_passed_on_to_the_child() -> None:
    heard = said(lambda: str(time.sleep(600)), wanted=lambda: signal.SIGTERM)
    assert heard.why == "its process was ended by signal 15"


@needs_root
def test_a_child_that_breaks_says_how() -> None:
    def work() -> str:
        raise ValueError("no such thing")

    assert said(work).why == "no such thing"


def test_an_ordinary_user_is_refused(ordinary_user: OrdinaryUser) -> None:
    for command in ("clean", *LOOKS):
        result = ordinary_user.tmpwarden(command, "--all-users", *(["--yes"] if command == "clean" else []))
        assert result.returncode == 7
        assert "for root only" in result.stderr


@needs_root
def test_without_yes_nobody_is_swept(own_world: Path) -> None:
    unit = planted.session(own_world / "tmp")
    result = tmpwarden("clean", "--all-users", later_s=planted.DAYS)
    assert result.returncode == 4
    assert unit.exists()
