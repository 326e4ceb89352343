"""The timer in the words of systemd, launchd and cron, and the tools' own opinion of them."""

import os
import plistlib
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from support import interpreters
from support.mounts import needs_root
from support.user import OrdinaryUser
from tmpwarden.lifecycle import timers
from tmpwarden.setup import runtime, timer

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
    timer.uninstall(kind=kind, call=machine)
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


@needs_root
def test_a_timer_for_all_users_clears_each_as_that_user(ordinary_user: OrdinaryUser) -> None:
    """nobody has an account here, and a home that is not his: his state must not become root's."""
    tick = ordinary_user.library / "tmpwarden" / "lifecycle" / "tick.py"
    (ordinary_user.tmp / "mine").touch()
    os.chown(ordinary_user.tmp / "mine", 65534, 65534)
    ordinary_user.tmp.chmod(0o1777)
    environ = {**ordinary_user.env, "HOME": os.environ["HOME"]}
    argv = [ordinary_user.python, "-I", "-S", str(tick), "--all-users"]
    result = subprocess.run(argv, capture_output=True, text=True, env=environ, check=False)
    assert "Traceback" not in result.stderr
    assert not list(ordinary_user.tmp.glob("tmpwarden-0/q/*"))


def test_the_runtime_goes_with_the_timer_that_alone_needed_it(own_world: Path) -> None:
    machine = Machine()
    timer.install(kind="cron", call=machine)
    assert list((own_world / "data" / "tmpwarden").iterdir())
    timer.uninstall(kind="cron", call=machine)
    assert list((own_world / "data" / "tmpwarden").iterdir()) == []
    assert machine.crontab == ""
