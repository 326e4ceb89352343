"""The checks that warn: each has a state of the machine in which it speaks, and one in which it does not."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import data, tmpwarden
from support.holding import process
from support.litter import claude_session, record_dead_session
from support.mounts import mounted, needs_root
from support.user import UID, OrdinaryUser
from tmpwarden.doctor import patient
from tmpwarden.doctor.checks import Check, installation, processes, space, temp_directories
from tmpwarden.doctor.patient import HookState, Patient
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Diagnosis
from tmpwarden.sweep.store.journal import Intent, Journal

BIG = 101 << 20


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def told(check: Check, root: Path, **words: object) -> list[Diagnosis]:
    environ = words.pop("environ", {})
    someone = Patient(Request(roots=(str(root),)), environ, **words)  # type: ignore[arg-type]
    return list(check(someone))


def statuses(check: Check, root: Path, **words: object) -> list[str]:
    return [diagnosis.status for diagnosis in told(check, root, **words)]


def reserve(path: Path, size: int) -> None:
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)


def test_a_child_that_inherited_the_tmpdir_of_a_dead_session_and_keeps_it_is_named(root: Path) -> None:
    scratch = open_scratch(str(root), "claude", "dead", pid=4_000_000, start=1)
    reserve(Path(scratch.path) / "big", BIG)
    assert statuses(processes.check_inherited, root) == ["ok"]
    with process("", env={"PATH": "/bin", "TMPDIR": scratch.path}) as child:
        (found,) = told(processes.check_inherited, root)
        assert (found.status, found.remedy) == ("warn", f"kill {child.pid}; tmpwarden clean")
        assert scratch.path in found.summary


def test_a_live_agent_is_not_told_to_be_killed_for_its_own_files(root: Path) -> None:
    with process("") as agent:
        scratch = open_scratch(str(root), "claude", "live", pid=agent.pid)
        reserve(Path(scratch.path) / "big", BIG)
        with process("", env={"PATH": "/bin", "TMPDIR": scratch.path}):
            assert statuses(processes.check_inherited, root) == ["ok"]


def test_a_live_session_that_only_its_environment_names_is_not_told_to_be_killed(root: Path) -> None:
    """No lease and no registry speaks for it: its own process carries the id, and may be the agent itself."""
    unit = claude_session(root, recorded=False)
    reserve(unit / "big", BIG)
    with process("", env={"PATH": "/bin", "CLAUDE_CODE_SESSION_ID": unit.name}):
        assert statuses(processes.check_inherited, root) == ["ok"]


@needs_root
def test_a_root_without_access_times_is_said_so_and_is_no_failure(tmp_path: Path) -> None:
    for options, words in (("noatime", "is mounted noatime"), ("relatime", "counts as use")):
        with mounted(tmp_path / options, "-t", "tmpfs", "-o", f"mode=1777,{options}", "tmpfs") as point:
            (found,) = told(temp_directories.check_mounts, point)
            assert (found.status, words in found.summary) == ("ok", True)


@needs_root
def test_a_root_in_memory_is_measured_against_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with mounted(tmp_path / "t", "-t", "tmpfs", "-o", "mode=1777,size=90%", "tmpfs") as point:
        reserve(point / "big", total // 50)
        assert statuses(temp_directories.check_memory, point) == ["ok"]
        monkeypatch.setattr(temp_directories, "_MUCH_PERCENT", 2)
        (found,) = told(temp_directories.check_memory, point)
        assert (found.status, "2% of it" in found.summary) == ("warn", True)


def test_an_interrupted_run_is_named_until_the_next_one_settles_it(root: Path, own_world: Path) -> None:
    assert statuses(installation.check_journal, root) == ["ok"]
    written = Journal(str(own_world / "state" / "tmpwarden"))
    assert written.open()
    intent = Intent("0123456789abcdef.k", f"{root}/x", str(root), "claude.session", f"{root}/q", "some", 0o700, 1, 2)
    assert written.intend(intent)
    (found,) = told(installation.check_journal, root)
    assert (found.status, found.remedy) == ("warn", "tmpwarden clean")
    assert tmpwarden("clean", "--yes").returncode == 0
    assert statuses(installation.check_journal, root) == ["ok"]


def test_several_that_could_not_be_put_back_are_named_and_the_remedy_saves_one(root: Path, own_world: Path) -> None:
    quarantine = root / f"tmpwarden-{os.geteuid()}" / "q"
    quarantine.mkdir(parents=True, mode=0o700)
    names = {"0123456789abcdef.p", "1123456789abcdef.p"}
    for name in names:
        (quarantine / name).mkdir()
    (found,) = told(space.check_stuck, root)
    assert found.status == "fail"
    assert "2 items" in found.summary
    subprocess.run(["sh", "-c", found.remedy], check=True)
    (left,) = os.listdir(quarantine)
    assert [path.name for path in (own_world / "home").glob("*.p")] == list(names - {left})


@pytest.mark.parametrize("state", list(installation._WORDS))
def test_each_way_in_which_hooks_do_not_work_is_named(root: Path, state: str) -> None:
    (found,) = told(installation.check_hooks, root, hooks=(HookState("codex", state),))
    assert (found.status, "codex" in found.summary, bool(found.remedy)) == ("warn", True, True)
    assert statuses(installation.check_hooks, root, hooks=(HookState("codex", "installed"),)) == ["ok"]


def doctor_says(check: str) -> tuple[str, str]:
    (found,) = (entry for entry in data("doctor", "--no-probe")["diagnoses"] if entry["check"] == check)
    return found["status"], found["summary"]


def test_hooks_whose_interpreter_is_gone_are_found_in_real_settings(own_world: Path) -> None:
    """They end with 0 all the same, so nothing else would ever tell."""
    settings = own_world / "home" / ".claude" / "settings.json"
    settings.parent.mkdir()
    assert tmpwarden("install", "claude").returncode == 0
    assert doctor_says("hooks") == ("ok", "hooks are installed for claude.")
    (python,) = set(re.findall(r"\[ -x (\S+) \]", settings.read_text()))
    settings.write_text(settings.read_text().replace(python, "/usr/bin/python3.0-that-was-removed"))
    assert doctor_says("hooks")[0] == "warn"
    assert "no longer exists" in doctor_says("hooks")[1]
    assert tmpwarden("install", "claude").returncode == 0
    assert doctor_says("hooks")[0] == "ok"


@pytest.mark.parametrize(("kept", "status"), [(True, "ok"), (False, "warn")])
def test_a_timer_that_the_scheduler_does_not_know_any_more_is_named(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, kept: bool, status: str
) -> None:
    tools = own_world / "bin"
    tools.mkdir()
    (tools / "crontab").write_text(
        f"#!/bin/sh\ncd {own_world}\n"
        '[ "$1" != -l ] && exec cat "$1" >tab\ncat tab 2>/dev/null && exit\necho no crontab for you >&2\nexit 1\n'
    )
    (tools / "crontab").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    if os.path.isdir("/run/systemd/system"):
        pytest.skip("this machine's timers belong to systemd")
    assert doctor_says("timer")[0] == "ok"
    assert tmpwarden("install", "timer").returncode == 0
    if not kept:
        (own_world / "tab").write_text("")
    assert doctor_says("timer")[0] == status


def test_nobody_is_told_to_install_a_timer_that_cannot_be_installed(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.path.isdir("/run/systemd/system") or sys.platform == "darwin":
        pytest.skip("this machine has a scheduler that is no program on PATH")
    (own_world / "bin").mkdir()
    monkeypatch.setenv("PATH", str(own_world / "bin"))
    (found,) = (each for each in data("doctor", "--no-probe")["diagnoses"] if each["check"] == "timer")
    assert tmpwarden("install", "timer").returncode == 1
    assert found["remedy"] == "tmpwarden clean --if-due 1h --yes"


@pytest.mark.parametrize(("version", "status"), [("2.1.49", "ok"), ("2.1.100", "warn"), ("2.1.153", "ok")])
def test_a_version_of_the_native_installer_is_read_from_its_name(
    root: Path, own_world: Path, version: str, status: str
) -> None:
    program = own_world / "share" / "claude" / "versions" / version
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (own_world / "bin").mkdir()
    (own_world / "bin" / "claude").symlink_to(program)
    (found,) = told(installation.check_silent, root, environ={"PATH": str(own_world / "bin")})
    assert found.status == status
    assert version in found.summary


@pytest.mark.parametrize(
    ("line", "is_rival"),
    [
        ("find /tmp -type f -mtime +1 -delete", True),
        ("find /tmp/ -mindepth 1 -exec /bin/rm -rf {} +", True),
        ("""find "/tmp" -name 'claude-*' -delete""", True),
        ("find /tmp -name 'sess_*' -mtime +1 -delete", False),
        ("find /tmp -name 'claude-*' -mtime +1 -print", False),
        ("find /var/log -mtime +30 -delete", False),
        ("rm -rf /tmp/my-own-thing", False),
        ("tmpwarden clean --yes  # instead of find /tmp -name 'claude-*' -delete", False),
    ],
)
def test_a_line_is_a_rival_if_it_takes_agents_files(
    root: Path, own_world: Path, line: str, is_rival: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_world / "cron").write_text(f"0 * * * * root {line}\n")
    monkeypatch.setattr(installation, "_SYSTEM", (str(own_world / "cron"),))
    monkeypatch.setattr(installation, "_SPOOLS", (str(own_world / "home"),))
    assert statuses(installation.check_rivals, root) == ["warn" if is_rival else "ok"]


def test_a_rival_in_the_users_own_crontab_is_found_and_its_remedy_stops_it(
    root: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ordinary user cannot read the spool; crontab can."""
    tools = own_world / "bin"
    tools.mkdir()
    tab = own_world / "tab"
    tab.write_text("MAILTO=me\n0 * * * * rm -rf /tmp/claude-1000\n5 * * * * true\n")
    (tools / "crontab").write_text(
        f'#!/bin/sh\nif [ "$1" = -l ]; then cat {tab}; else cat >{tab}.new; mv {tab}.new {tab}; fi\n'
    )
    (tools / "crontab").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setattr(installation, "_SYSTEM", ())
    monkeypatch.setattr(installation, "_SPOOLS", (str(own_world / "unreadable"),))
    (found,) = told(installation.check_rivals, root)
    assert "crontab -l:2 " in found.summary
    subprocess.run(["sh", "-c", found.remedy], check=True)
    assert tab.read_text() == "MAILTO=me\n# 0 * * * * rm -rf /tmp/claude-1000\n5 * * * * true\n"
    assert statuses(installation.check_rivals, root) == ["ok"]


def test_who_fills_it_is_told_by_agent_session_and_owner(root: Path) -> None:
    unit = claude_session(root)
    reserve(unit / "big", 3 << 20)
    record_dead_session(unit.name)
    (found,) = told(space.check_consumers, root)
    assert "claude (dead) 3.0 MB" in found.detail
    assert f"session {unit.name} of claude (dead) 3.0 MB" in found.detail


def test_deleted_data_where_there_is_room_is_told_and_fails_nothing(root: Path) -> None:
    """Browsers and databases do that all day."""
    source = (
        "import os, sys; f = open(sys.argv[1], 'wb'); os.posix_fallocate(f.fileno(), 0, 20 << 20); os.unlink(f.name)"
    )
    with process(source, str(root / "ghost")):
        assert statuses(space.check_ghosts, root) == ["warn"]
    assert statuses(space.check_ghosts, root) == ["ok"]


def test_more_units_than_can_be_looked_at_in_time_are_told_as_at_least(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        claude_session(root)
    monkeypatch.setattr(patient, "_LOOK_S", 0.0)
    (found,) = told(space.check_consumers, root)
    assert "at least" in found.summary


WRITES = re.compile(
    r"open.*(?:O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE|O_TRUNC)|^\d+ +(?:mkdir|rmdir|unlink|rename|link|symlink|chmod|fchmod|"
    r"chown|utime|truncate|ftruncate|fallocate|mknod|setxattr)"
)


@pytest.mark.skipif(not shutil.which("strace"), reason="needs the program strace")
@pytest.mark.parametrize(("words", "is_silent"), [(["--no-probe"], True), ([], False)])
def test_no_probe_writes_nothing_at_all(own_world: Path, words: list[str], is_silent: bool) -> None:
    """Asked of the kernel; and the same trace does see the test write."""
    claude_session(own_world / "tmp")
    trace = own_world / "trace"
    argv = [
        "strace",
        "-f",
        "-o",
        str(trace),
        "-e",
        "trace=%file,%desc",
        sys.executable,
        "-B",
        "-m",
        "tmpwarden",
        "doctor",
    ]
    subprocess.run([*argv, *words], capture_output=True, check=False, timeout=120)
    lines = [line for line in trace.read_text(errors="replace").splitlines() if "ENOENT" not in line]
    lines = [line for line in lines if '"/proc/' not in line]  # whether a pipe has another end is asked by opening it
    assert len(lines) > 100
    writing = [line for line in lines if WRITES.search(line) and "/dev/null" not in line and "/dev/tty" not in line]
    assert (writing == []) == is_silent, writing


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_ordinary_user_on_a_fresh_machine_is_well(ordinary_user: OrdinaryUser, options: tuple[str, ...]) -> None:
    env = {"TMPDIR": "", "XDG_CONFIG_HOME": ""}
    done = ordinary_user.tmpwarden("doctor", *options, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    if options:
        assert json.loads(done.stdout)["ok"] is True
    else:
        assert "hint" in done.stdout
    assert os.listdir(ordinary_user.tmp) == []
    assert os.stat(ordinary_user.home).st_uid == UID
    assert os.listdir(ordinary_user.home) == []


def test_a_root_that_the_call_named_and_is_not_there_is_an_error(own_world: Path) -> None:
    done = tmpwarden("doctor", "--root", str(own_world / "missing"))
    assert (done.returncode, "there is no directory" in done.stderr) == (5, True)


def test_a_root_that_the_environment_names_and_is_not_there_is_a_finding_with_a_remedy(own_world: Path) -> None:
    missing = own_world / "missing"
    env = {"TMPWARDEN_ROOTS": f"{missing}:{own_world / 'tmp'}"}
    done = tmpwarden("doctor", "--json", env=env)
    worst = json.loads(done.stdout)["data"]["diagnoses"][0]
    assert (done.returncode, worst["check"], worst["status"]) == (2, "tmpdir", "fail")
    assert "unknown" not in {entry["status"] for entry in json.loads(done.stdout)["data"]["diagnoses"]}
    subprocess.run(["sh", "-c", worst["remedy"]], check=True)
    assert tmpwarden("doctor", env=env).returncode == 0


@pytest.mark.parametrize("words", [["doctor"], ["log"], ["clean", "--force"], ["undo"], []], ids=" ".join)
def test_a_fifo_in_the_place_of_a_file_keeps_nobody_waiting(words: list[str], own_world: Path) -> None:
    places = ("state/tmpwarden/journal.jsonl", "home/.claude/settings.json", "config/tmpwarden/config.toml")
    for place in places:
        (own_world / place).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(own_world / place)
    (own_world / "state" / "tmpwarden").chmod(0o700)
    argv = [sys.executable, "-m", "tmpwarden", *words]
    assert subprocess.run(argv, capture_output=True, timeout=60, check=False).returncode in (0, 1, 2)
