"""The timer in the words of systemd, launchd and cron, and the tools' own opinion of them."""

import json
import os
import plistlib
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from support import ahead, interpreters, planted
from support.accounts import Machine as Accounts
from support.mounts import needs_root
from support.user import OrdinaryUser
from tmpwarden import __version__
from tmpwarden.errors import SetupFailed
from tmpwarden.lifecycle import per_user, tick, timers
from tmpwarden.oskit.files import places
from tmpwarden.setup import runtime, schedulers, timer

COMMAND = ["/usr/bin/python3", "-I", "-S", "/home/a b/50%/$x/tick.py"]
ENVIRON = {"TMPDIR": "/scratch dir", "CLAUDE_CONFIG_DIR": '/home/a\'b/"c"'}


@pytest.fixture(autouse=True)
def no_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)


class Machine:
    """Records what would be called; answers as crontab does."""

    def __init__(self, crontab: str = "") -> None:
        self.crontab = crontab
        self.calls: list[list[str]] = []

    def __call__(self, argv: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        self.calls.append(list(argv))
        if argv[0] == "crontab" and argv[1] != "-l":
            self.crontab = Path(argv[1]).read_text()
        return subprocess.CompletedProcess(argv, 0, self.crontab if argv[-1] == "-l" else "", "")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs the program systemd-analyze")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    script = tmp_path / "a b" / "tick.py"
    script.parent.mkdir()
    script.touch()
    service = timers.systemd_service(["/usr/bin/python3", str(script)], ENVIRON)
    (tmp_path / "tmpwarden.service").write_text(service)
    (tmp_path / "tmpwarden.timer").write_text(timers.systemd_timer())
    argv = ["systemd-analyze", "verify", "--man=no", str(tmp_path / "tmpwarden.timer")]
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert "tmpwarden." not in result.stderr, result.stderr


def test_launchd_reads_back_what_was_meant() -> None:
    plist = plistlib.loads(timers.launchd_plist(COMMAND, ENVIRON).encode())
    assert (plist["ProgramArguments"], plist["EnvironmentVariables"]) == (COMMAND, ENVIRON)


def test_cron_runs_what_was_meant_and_keeps_other_lines() -> None:
    text = timers.crontab("# mine\n0 5 * * * backup\n", COMMAND, ENVIRON)
    *others, line = text.splitlines()
    assert others == ["# mine", "0 5 * * * backup"]
    shell = line.split(maxsplit=5)[5].replace("\\%", "%").removesuffix(f" >/dev/null 2>&1 {timers.CRON_MARK}")
    assert shlex.split(shell) == ["env", *(f"{k}={v}" for k, v in ENVIRON.items()), *COMMAND]
    assert timers.crontab(text, COMMAND, ENVIRON) == text
    assert timers.crontab(text, None, ENVIRON) == "# mine\n0 5 * * * backup\n"


@pytest.mark.skipif(not shutil.which("systemd-tmpfiles"), reason="needs the program systemd-tmpfiles")
def test_the_drop_in_keeps_the_systems_ageing_off_our_directories_and_nothing_else(tmp_path: Path) -> None:
    for name in ("tmpwarden-0/1a2b3c4d", "other"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_text("x")
    config = tmp_path / "both.conf"
    config.write_text(f"e {tmp_path} - - - 0\n" + timers.tmpfiles((str(tmp_path),)) + f"x {config}\n")
    subprocess.run(["systemd-tmpfiles", "--clean", str(config)], check=False, capture_output=True)
    assert (tmp_path / "tmpwarden-0" / "1a2b3c4d" / "file").exists()
    assert not (tmp_path / "other" / "file").exists()


def test_the_installers_roots_and_homes_are_written_in(monkeypatch: pytest.MonkeyPatch, own_world: Path) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/elsewhere/claude")
    monkeypatch.setattr(timer, "TMPFILES", str(own_world / "tmpfiles.conf"))
    done = timer.install(kind="systemd", call=Machine())
    service = (own_world / "config" / "systemd" / "user" / "tmpwarden.service").read_text()
    assert "Environment=CLAUDE_CONFIG_DIR=/elsewhere/claude\n" in service
    assert f"Environment=TMPWARDEN_ROOTS={own_world / 'tmp'}\n" in service
    assert done.kind == "systemd"


@pytest.mark.parametrize("kind", ["systemd", "launchd", "cron"])
def test_a_timer_comes_and_goes(kind: str, monkeypatch: pytest.MonkeyPatch, own_world: Path) -> None:
    monkeypatch.setattr(timer, "TMPFILES", str(own_world / "tmpfiles.conf"))
    machine = Machine("0 5 * * * backup\n")
    before = {path for path in own_world.rglob("*") if path.is_file() and "data" not in path.parts}
    timer.install(kind=kind, call=machine)
    assert timer.state() == "installed"
    timer.uninstall(call=machine)
    assert timer.state() == "absent"
    assert machine.crontab == "0 5 * * * backup\n"
    after = {path for path in own_world.rglob("*") if path.is_file() and "data" not in path.parts}
    assert after == before


def test_what_the_timer_starts_cleans_with_the_standard_library_alone(own_world: Path) -> None:
    tick = Path(timers.__file__).with_name("tick.py")
    result = subprocess.run(
        [interpreters.plain(), "-I", "-S", str(tick)], capture_output=True, text=True, env=os.environ
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert (own_world / "state" / "tmpwarden").is_dir()


def ticked(
    machine: Accounts, *, later_s: int = 0, env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """The system's timer fires; its code lies where only root can read it."""
    tick = str(machine.library / "tmpwarden" / "lifecycle" / "tick.py")
    argv = [interpreters.plain(), "-I", "-S", str(ahead.__file__), str(later_s), tick, "--all-users"]
    return machine.run(*argv, env=env)


def test_a_timer_for_all_users_clears_each_as_that_user(machine: Accounts) -> None:
    theirs = [each.owns(planted.marker(machine.tmp, each.uid)) for each in (machine.alice, machine.bob)]
    machine.web.owns(planted.marker(machine.tmp, machine.web.uid))  # it has no home: it costs nobody a failure
    result = ticked(machine, later_s=planted.DAYS)
    assert (result.returncode, result.stderr) == (0, "")
    assert [path for path in theirs if path.exists()] == []
    assert "alice: removed 1 leftover item" in result.stdout
    assert not list(machine.tmp.glob("tmpwarden-0/q/*"))


def test_a_timer_that_failed_says_for_whom_and_why_in_the_journal_and_in_status(machine: Accounts) -> None:
    closed = machine.base / "closed"
    closed.mkdir()
    os.chown(closed, 0, machine.bob.uid)
    closed.chmod(0o750)
    machine.alice.owns(planted.marker(machine.tmp))
    machine.bob.owns(planted.marker(machine.tmp, 0x2B3C))
    result = ticked(machine, env={"TMPWARDEN_ROOTS": f"{machine.tmp}:{closed}"})
    assert result.returncode == 1
    assert result.stderr == f"tmpwarden: alice: cannot clean {closed}: it cannot be read\n"
    status = machine.tmpwarden("status").stdout
    assert "FAILED for alice: cannot clean" in status
    document = json.loads(machine.tmpwarden("status", "--json").stdout)
    assert list(document["data"]["timer_last_run"]["failed"]) == ["alice"]


def test_a_broken_config_of_a_user_costs_the_journal_a_few_lines_that_name_the_user(machine: Accounts) -> None:
    """Each wrong row is a sentence, and there may be as many as somebody likes."""
    agents = machine.alice.home / ".config" / "tmpwarden" / "agents.d"
    agents.mkdir(parents=True)
    for number in range(300):
        (agents / f"a{number}.toml").write_text("broken = [\n" + "x" * 5000)
    machine.alice.owns(machine.alice.home / ".config")
    machine.bob.owns(planted.marker(machine.tmp, machine.bob.uid))
    machine.alice.owns(planted.marker(machine.tmp, machine.alice.uid))
    result = ticked(machine, later_s=planted.DAYS)
    lines = result.stdout.splitlines()
    of_alice = [line for line in lines if line.startswith("alice: ")]
    assert 3 < len(of_alice) <= 21
    assert len(set(of_alice)) == len(of_alice)
    assert all(len(line) < 600 for line in lines)
    assert "messages were left out" in of_alice[-1]
    assert all(line.startswith(("alice: ", "bob: ", "root: ")) for line in lines), result.stdout[:2000]
    assert "bob: removed 1 leftover item" in result.stdout


def test_an_answer_that_is_cut_short_stops_no_other_user(capsys: pytest.CaptureFixture[str]) -> None:
    """Root listens to so much of a child and no further."""
    for answer in ('[["' + "x" * 100, "7", "[[1], 2, 3]", ""):
        assert tick._decode_answer(per_user.Heard(answer)) == ([], "its process returned an invalid answer")
    tick._print("alice: ", ["a\nroot: all is well", "b", "b"], "c\nd" * 1000)
    told = capsys.readouterr()
    assert told.out.splitlines() == ["alice: $'a\\nroot: all is well'", "alice: b"]
    assert len(told.err.splitlines()) == 1 and len(told.err) < 600


@pytest.fixture
def for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """/usr/local/lib, /etc/systemd/system and /etc/tmpfiles.d of this test."""
    monkeypatch.setattr(runtime, "FOR_ALL", str(tmp_path / "lib" / "tmpwarden"))
    for module in (schedulers, timer):
        monkeypatch.setattr(module, "SYSTEM_UNITS", str(tmp_path / "units"))
    monkeypatch.setattr(timer, "TMPFILES", str(tmp_path / "tmpfiles.d" / "tmpwarden.conf"))
    return tmp_path


@needs_root
def test_the_timer_of_all_users_runs_what_all_can_read_whatever_roots_umask_is(for_all: Path) -> None:
    os.umask(0o077)
    timer.install(system=True, kind="systemd", call=Machine())
    service = (for_all / "units" / "tmpwarden.service").read_text()
    tick = for_all / "lib" / "tmpwarden" / __version__ / "tmpwarden" / "lifecycle" / "tick.py"
    assert f"-I -S {tick} --all-users\n" in service
    made = [*(for_all / "lib" / "tmpwarden").rglob("*"), for_all / "lib" / "tmpwarden"]
    assert {path.stat().st_mode & 0o777 for path in made} == {0o755, 0o644}
    written = [for_all / "units" / "tmpwarden.timer", for_all / "tmpfiles.d" / "tmpwarden.conf"]
    assert [path.stat().st_mode & 0o777 for path in written] == [0o644, 0o644]
    timer.uninstall(call=Machine())
    assert [path for path in for_all.rglob("*") if path.is_file() and "tmpwarden" in path.name] == []
    assert not (for_all / "lib" / "tmpwarden").exists()


@needs_root
@pytest.mark.parametrize("squat", ["file", "link", "writable", "foreign"])
def test_root_runs_nothing_from_where_somebody_else_can_write(for_all: Path, squat: str) -> None:
    base = for_all / "lib" / "tmpwarden"
    base.parent.mkdir()
    if squat == "file":
        base.touch()
    elif squat == "link":
        base.symlink_to(for_all)
    else:
        base.mkdir()
        base.chmod(0o777 if squat == "writable" else 0o755)
        os.chown(base, 65534 if squat == "foreign" else 0, 0)
    with pytest.raises(SetupFailed, match="only root can write"):
        timer.install(system=True, kind="systemd", call=Machine())


def test_a_user_cannot_install_for_all(ordinary_user: OrdinaryUser) -> None:
    result = ordinary_user.tmpwarden("install", "timer", "--system")
    assert (result.returncode, "for root only" in result.stderr) == (7, True)


@needs_root
def test_a_user_sees_the_timer_that_root_installed(for_all: Path) -> None:
    assert timer.state() == "absent"
    (for_all / "units").mkdir()
    (for_all / "units" / "tmpwarden.timer").touch()
    assert timer.state() == "installed by root, for all users"
    assert timer.activity(Machine()) == "installed"


@pytest.fixture
def no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with systemd, called from su, sudo -u or cron. Programs are those of `bin`; sessions lie in `user`."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    program(tmp_path, "systemctl")
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(schedulers, "_RUNTIME_DIRS", str(tmp_path / "user"))
    monkeypatch.setattr(schedulers, "_BOOTED", str(tmp_path))
    return tmp_path


def program(world: Path, name: str, script: str = "exit 0") -> None:
    (world / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
    (world / "bin" / name).chmod(0o755)


def session_of(world: Path, uid: int) -> Path:
    """What systemd makes for a user who is logged in or lingers."""
    directory = world / "user" / str(uid)
    (directory / "systemd").mkdir(parents=True)
    (directory / "systemd" / "private").touch()
    os.chown(directory, uid, -1) if os.geteuid() == 0 else None
    return directory


def test_the_users_systemd_is_found_where_the_environment_does_not_name_it(no_session: Path) -> None:
    directory = session_of(no_session, os.geteuid())
    program(no_session, "systemctl", 'printf %s "$XDG_RUNTIME_DIR"')
    assert schedulers.best(system=False) == "systemd"
    assert schedulers.ask_scheduler(["systemctl", "--user"]).stdout == str(directory)


@needs_root
def test_a_runtime_directory_that_su_left_in_the_environment_is_not_ours(
    no_session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, ours = session_of(no_session, 65534), session_of(no_session, 0)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(theirs))
    assert schedulers.runtime_dir() == str(ours)


def test_without_a_systemd_of_the_users_cron_does_it_and_the_way_to_one_is_told(no_session: Path) -> None:
    program(no_session, "crontab")
    assert schedulers.best(system=False) == "cron"
    assert schedulers.best(system=True) == "systemd"
    assert "loginctl enable-linger" in schedulers.advice("cron", system=False)[0]


def test_without_cron_either_the_error_says_what_helps(no_session: Path) -> None:
    with pytest.raises(SetupFailed, match="no systemd of") as failed:
        schedulers.best(system=False)
    assert "loginctl enable-linger" in failed.value.hint


@pytest.mark.parametrize("kind", ["systemd", "launchd"])
def test_a_timer_that_cannot_be_started_leaves_nothing(
    kind: str, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timer, "TMPFILES", str(own_world / "tmpfiles.conf"))

    def refuse(argv: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(argv, 1, "", "Failed to connect to bus: No medium found")

    with pytest.raises(SetupFailed, match="No medium found"):
        timer.install(kind=kind, call=refuse)
    assert timer.state() == "absent"
    assert [path for path in own_world.rglob("tmpwarden.*") if path.is_file()] == []


def test_what_cron_did_is_taken_over_by_something_better(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timer, "TMPFILES", str(own_world / "tmpfiles.conf"))
    machine = Machine("0 5 * * * backup\n")
    timer.install(kind="cron", call=machine)
    assert "tick.py" in machine.crontab
    timer.install(kind="systemd", call=machine)
    assert machine.crontab == "0 5 * * * backup\n"


def test_the_runtime_goes_with_the_timer_that_alone_needed_it(own_world: Path) -> None:
    machine = Machine()
    timer.install(kind="cron", call=machine)
    assert list((own_world / "data" / "tmpwarden").iterdir())
    timer.uninstall(call=machine)
    assert not (own_world / "data" / "tmpwarden").exists()
    assert machine.crontab == ""


def test_crontab_is_no_program_of_the_directory_that_one_works_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says and writes what runs every hour."""
    (tmp_path / "bin").mkdir()
    for directory in (tmp_path, tmp_path / "bin"):
        (directory / "crontab").write_text("#!/bin/sh\n")
        (directory / "crontab").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "bin::.")
    assert (places.crontab_program() or "/").startswith(
        ("/usr/", "/bin/", "/sbin/")
    ) or places.crontab_program() is None
    monkeypatch.setenv("PATH", f".:{tmp_path}/bin")
    assert os.path.isabs(places.crontab_program() or "")
