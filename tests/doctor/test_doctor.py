"""Each planted cause is named first, with a command that repairs it."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import forked
from support.command import AHEAD
from support.holding import process
from support.litter import claude_session, later
from support.mounts import fill_bytes, fill_inodes, mounted, needs_root, tmpfs
from support.user import UID
from tmpwarden.doctor import checks
from tmpwarden.doctor.checks import installation
from tmpwarden.doctor.examine import examine
from tmpwarden.doctor.patient import HookState, Patient
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Diagnosis


@pytest.fixture(autouse=True)
def no_rivals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever cron jobs the machine has that runs the tests."""
    for name in ("_SYSTEM", "_SPOOLS"):
        monkeypatch.setattr(installation, name, ())


def first(root: Path, **words: object) -> Diagnosis:
    environ = words.pop("environ", {})
    patient = Patient(Request(roots=(str(root),)), environ, **words)  # type: ignore[arg-type]
    return examine(patient)[0]


def doctor(*args: str, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    return forked.run(
        [sys.executable, "-m", "tmpwarden", "doctor", *args],
        capture_output=True,
        text=True,
        env={**os.environ, **(env or {})},
        check=False,
    )


def repair(remedy: str, env: dict[str, str]) -> None:
    """Run the remedy as printed, two hours later: ctime cannot be set back, so the whole program runs ahead."""
    program, _, words = remedy.partition(" ")
    assert program == "tmpwarden"
    ahead = [sys.executable, AHEAD, "7200", "-m", "tmpwarden", *words.split()]
    subprocess.run(ahead, env={**os.environ, **env}, check=True, capture_output=True)


def test_a_fresh_machine_is_well(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR")  # the test's own is long
    done = doctor("--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert {d["status"] for d in answer["data"]["diagnoses"] if d["check"] != "rivals"} == {"ok"}
    assert {d["check"] for d in answer["data"]["diagnoses"]} == {name for name, _ in checks.ALL}


@needs_root
def test_full_blocks_are_named_first_and_the_remedy_repairs(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="4m") as root:
        unit = claude_session(root)
        (unit / "big").write_bytes(b"x" * (3 << 20))
        old = os.stat(root).st_mtime - 7200
        for path in (unit / "big", *unit.rglob("*"), unit):
            os.utime(path, (old, old))
        fill_bytes(root)
        worst = first(root, now_ns=later(2))
        assert worst.status == "fail"
        assert "is full" in worst.summary
        assert worst.remedy == f"tmpwarden clean --yes --root {root}"
        repair(worst.remedy, {"TMPWARDEN_ROOTS": str(root), "TMPDIR": str(root)})
        assert not unit.exists()
        assert first(root).status != "fail"


@needs_root
def test_full_inodes_are_named_first(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="8m", inodes=64) as root:
        fill_inodes(root)
        assert "no inodes left" in first(root).summary


@pytest.fixture
def quota(tmp_path: Path) -> Iterator[Path]:
    """A btrfs subvolume whose group may hold 2 MB: a true EDQUOT, while df shows room."""
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(256 << 20)
    try:
        subprocess.run(["mkfs.btrfs", "-q", str(image)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"needs the program mkfs.btrfs: {error}")
    with mounted(tmp_path / "disk", "-o", "loop", str(image)) as disk:
        volume = disk / "v"
        for words in (["quota", "enable", disk], ["subvolume", "create", volume], ["qgroup", "limit", "2M", volume]):
            subprocess.run(["btrfs", *map(str, words)], check=True, capture_output=True)
        volume.chmod(0o1777)
        yield volume


@needs_root
def test_a_quota_that_df_does_not_show_is_found_by_the_test_write(quota: Path) -> None:
    for number in range(64):
        with contextlib.suppress(OSError), (quota / f"filler-{number}").open("wb") as file:
            file.write(b"x" * (1 << 20))
            os.fsync(file.fileno())
    worst = first(quota)
    assert worst.check == "probe"
    assert worst.detail == "EDQUOT"
    assert "quota" in worst.summary


def test_a_deleted_file_that_is_held_open_is_named_first(own_world: Path) -> None:
    source = (
        "import os, sys; f = open(sys.argv[1], 'wb'); f.write(b'x' * (50 << 20)); f.flush(); os.unlink(sys.argv[1])"
    )
    with process(source, str(own_world / "tmp" / "ghost")) as holder:
        worst = first(own_world / "tmp")
        assert worst.check == "ghosts"
        assert "50.0 MB" in worst.summary
        assert worst.remedy == f"kill {holder.pid}"


@needs_root
@pytest.mark.parametrize("how", ["another user", "symlink", "file", "writable by others"])
def test_a_squatted_scratch_root_is_named_first(own_world: Path, how: str) -> None:
    squat = own_world / "tmp" / f"tmpwarden-{os.geteuid()}"
    if how == "symlink":
        squat.symlink_to("/etc")
    elif how == "file":
        squat.write_text("")
    else:
        squat.mkdir(mode=0o700)
        if how == "another user":
            os.chown(squat, UID, UID)
        else:
            squat.chmod(0o777)
    assert first(own_world / "tmp").check == "squatted"


def test_a_missing_tmpdir_is_named_first_and_its_remedy_works(own_world: Path) -> None:
    missing = own_world / "no such; dir"
    worst = first(own_world / "tmp", environ={"TMPDIR": str(missing)})
    assert worst.check == "tmpdir"
    assert worst.status == "fail"
    subprocess.run(["sh", "-c", worst.remedy], check=True)
    assert first(own_world / "tmp", environ={"TMPDIR": str(missing)}).status != "fail"


def test_a_tmpdir_too_long_for_sockets_is_a_warning(own_world: Path) -> None:
    long = own_world / ("x" * 100)
    long.mkdir()
    assert "108 bytes" in first(own_world / "tmp", environ={"TMPDIR": str(long)}).summary


def test_no_probe_writes_nothing(own_world: Path) -> None:
    before = os.stat(own_world / "tmp").st_mtime_ns
    done = doctor("--no-probe")
    assert done.returncode == 0
    assert os.stat(own_world / "tmp").st_mtime_ns == before


@pytest.mark.parametrize("place", ["cron.d/sweep", "cron.daily/tmpreaper", "tmpfiles.d/agents.conf"])
def test_the_remedy_for_a_rival_cleaner_stops_it(own_world: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = own_world / "etc" / place
    file.parent.mkdir(parents=True)
    line = "D /tmp/claude-0 - - - 1d" if "tmpfiles" in place else "tmpreaper 7d /tmp"
    file.write_text(f"if ! [ -x /usr/sbin/tmpreaper ]; then\n  exit 0\nfi; . /etc/tmpreaper.conf\n{line}\n")
    file.chmod(0o755)
    monkeypatch.setattr(installation, "_SYSTEM", (str(file.parent),))
    (rival,) = installation.check_rivals(Patient(Request(), {}))
    assert f"{file}:4 " in rival.summary
    subprocess.run(["sh", "-c", rival.remedy], check=True)
    assert [d.status for d in installation.check_rivals(Patient(Request(), {}))] == ["ok"]


@pytest.mark.parametrize(
    "line",
    [
        "0 * * * * find /tmp -name 'claude-*' -mmin +120 -delete",
        "@daily rm -rf /tmp/claude-1000",
        "*/5 * * * * find /tmp -name 'cc-*' -exec rm {} +",
    ],
)
def test_a_rival_cleaner_is_named(own_world: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (own_world / "cron").write_text(f"# a comment about find /tmp -name 'claude-*' -delete\n{line}\n")
    monkeypatch.setattr(installation, "_SYSTEM", (str(own_world / "cron"),))
    worst = first(own_world / "tmp")
    assert worst.check == "rivals"
    assert f"{own_world / 'cron'}:2" in worst.summary


@pytest.mark.parametrize("state", ["untrusted", "outdated", "twice"])
def test_hooks_that_do_not_run_are_named(own_world: Path, state: str) -> None:
    assert first(own_world / "tmp", hooks=(HookState("codex", state),)).check == "hooks"


def test_what_could_not_be_put_back_is_named(own_world: Path) -> None:
    quarantine = own_world / "tmp" / f"tmpwarden-{os.geteuid()}" / "q"
    quarantine.mkdir(parents=True, mode=0o700)
    quarantine.parent.chmod(0o700)
    (quarantine / "0123456789abcdef.p").mkdir()
    assert first(own_world / "tmp").check == "stuck"


def test_a_broken_check_is_unknown_and_not_the_end(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(patient: Patient) -> Iterator[Diagnosis]:
        raise RuntimeError("broken")

    monkeypatch.setattr(checks, "ALL", (("broken", broken), *checks.ALL))
    patient = Patient(Request(roots=(str(own_world / "tmp"),)), {})
    assert [d.status for d in examine(patient) if d.check == "broken"] == ["unknown"]


@pytest.mark.parametrize(("version", "check"), [("2.1.50", "silent"), ("2.1.152", "silent"), ("2.1.153", None)])
def test_claude_versions_that_fail_in_silence_are_named(own_world: Path, version: str, check: str | None) -> None:
    package = own_world / "claude-code"
    package.mkdir()
    (package / "package.json").write_text(json.dumps({"name": "@anthropic-ai/claude-code", "version": version}))
    (package / "claude").write_text("#!/bin/sh\n")
    (package / "claude").chmod(0o755)
    worst = first(own_world / "tmp", environ={"PATH": str(package)})
    assert (worst.check if worst.status != "ok" else None) == check
