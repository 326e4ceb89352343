"""One file per host: every user as that user, what is the host's once, in a directory that only root can write."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import interpreters, planted, promtext
from support.accounts import Machine
from support.bases import base_for_all
from support.command import answer
from support.mounts import needs_root
from tmpwarden import __version__
from tmpwarden.errors import BadArgument, UnsafeMetricsDir
from tmpwarden.lifecycle import textfile
from tmpwarden.setup import runtime, timer

FEW = "import sys; from tmpwarden.metrics import series; series.{} = {}; from tmpwarden.cli.main import main; "
LIE = """
import sys
from tmpwarden.metrics import series
def report(user, *_, real=series._report):
    if user.name == "alice":
        return '[["litter_units", 7, ["claude", "keep"]], ["user_success", 0, ["root"]], ["freed_bytes_total", 1, []]]'
    if user.name == "bob":
        sys.exit("no")
    return real(user, *_)
series._report = report
from tmpwarden.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def litter(machine: Machine) -> None:
    for account in (machine.alice, machine.bob):
        account.owns(planted.staging(machine.tmp, f"moat-claude-staging-{account.uid}"))


def test_each_user_is_told_apart_and_the_host_once(machine: Machine) -> None:
    litter(machine)
    ran = machine.tmpwarden("metrics", "--all-users", later_s=planted.DAYS)
    assert (ran.returncode, ran.stderr) == (0, "")
    found = promtext.read(ran.stdout)  # which refuses a series that comes twice
    users = ("root", "alice", "bob")
    assert promtext.named(found, "user_success") == {(f"user={user}",): 1 for user in users}
    assert promtext.named(found, "root_size_bytes").keys() == {("root=other-1",)}
    units = {
        user: sum(value for key, value in promtext.named(found, "litter_units").items() if f"user={user}" in key)
        for user in users
    }
    assert units == {"root": 0, "alice": 1, "bob": 1}
    assert (found["users",], found["users_omitted",]) == (3, 0)
    assert {key[1] for key in promtext.named(found, "doctor_check_status")} > {"check=room", "check=timer"}


def test_a_child_that_lies_or_dies_costs_its_own_user_alone(machine: Machine) -> None:
    litter(machine)
    ran = machine.code(LIE, "metrics", "--all-users")
    found = promtext.read(ran.stdout)
    assert promtext.named(found, "user_success") == {("user=root",): 1, ("user=alice",): 1, ("user=bob",): 0}
    assert promtext.named(found, "litter_units")["user=alice", "agent=claude", "verdict=keep"] == 7
    assert not any("user=bob" in key and key[0] != "user_success" for key in found)


@pytest.mark.parametrize(("limit", "value", "told"), [("MOST_USERS", 1, 1), ("HOST_LIMIT_S", -1.0, 0)])
def test_users_beyond_the_limits_are_counted_and_not_looked_at(
    machine: Machine, limit: str, value: float, told: int
) -> None:
    litter(machine)
    ran = machine.code(FEW.format(limit, value) + "sys.exit(main(['metrics', '--all-users']))")
    found = promtext.read(ran.stdout)
    assert (found["users",], found["users_omitted",]) == (told, 4 - told)  # web has an account, too


def ticked(machine: Machine, directory: Path) -> "subprocess.CompletedProcess[str]":
    tick = str(machine.library / "tmpwarden" / "metrics" / "tick.py")
    return machine.run(interpreters.plain(), "-I", "-S", tick, "--all-users", "--metrics", str(directory))


def safe_directory(machine: Machine) -> Path:
    """Below a base of root's that others can enter and not write."""
    directory = machine.base / "textfile"
    directory.mkdir(mode=0o755)
    return directory


def test_the_tick_of_root_cleans_and_writes_one_whole_file_that_users_can_only_read(machine: Machine) -> None:
    litter(machine)
    directory = safe_directory(machine)
    ran = ticked(machine, directory)
    assert (ran.returncode, ran.stderr) == (0, "")
    [file] = directory.iterdir()
    found = promtext.read(file.read_text())
    assert {key[0] for key in promtext.named(found, "last_clean_success")} == {"user=root", "user=alice", "user=bob"}
    assert promtext.named(found, "timer_success") == {(f"user={user}",): 1 for user in ("root", "alice", "bob")}
    assert (file.stat().st_uid, file.stat().st_mode & 0o777) == (0, 0o644)
    first = file.stat().st_ino
    assert ticked(machine, directory).returncode == 0
    assert file.stat().st_ino != first  # another file under the same name: a reader has the old one or the new one
    assert list(directory.iterdir()) == [file]


def test_a_tick_that_may_not_write_there_says_so_and_has_cleaned_all_the_same(machine: Machine) -> None:
    directory = safe_directory(machine)
    directory.chmod(0o777)
    ran = ticked(machine, directory)
    assert ran.returncode == 1
    assert f"metrics: cannot write metrics into {directory}: others can write to it (mode 0777)" in ran.stderr
    assert list(directory.iterdir()) == []
    assert (machine.root_home / ".local/state/tmpwarden/last-clean").exists()


@pytest.fixture
def own_root() -> Iterator[Path]:
    """A directory of root's that others can enter and not write."""
    with base_for_all() as base:
        yield base


@needs_root
@pytest.mark.parametrize("shape", ["theirs", "for a group", "sticky", "a link", "below theirs", "missing", "a file"])
def test_a_directory_that_others_can_change_is_refused(own_root: Path, shape: str) -> None:
    directory = own_root / "d"
    directory.mkdir(mode=0o755)
    match shape:
        case "theirs":
            os.chown(directory, 23_001, 0)
        case "for a group":
            directory.chmod(0o775)
        case "sticky":
            directory.chmod(0o1777)
        case "a link":
            directory.rmdir()
            directory.symlink_to(own_root)
        case "below theirs":
            os.chown(directory, 23_001, 0)
            directory = directory / "below"
            directory.mkdir(mode=0o755)
        case "missing":
            directory.rmdir()
        case "a file":
            directory.rmdir()
            directory.write_text("")
    with pytest.raises(UnsafeMetricsDir):
        textfile.write(str(directory), "")
    assert not list(own_root.rglob("*.prom"))


@needs_root
def test_a_timer_that_is_taken_away_leaves_no_file_that_nobody_writes_any_more(
    own_root: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timer, "TMPFILES", str(own_world / "tmpfiles.conf"))
    monkeypatch.setattr(timer, "SYSTEM_UNITS", str(own_root / "units"))
    monkeypatch.setattr(timer.schedulers, "SYSTEM_UNITS", str(own_root / "units"))
    monkeypatch.setattr(runtime, "FOR_ALL", str(own_root / "lib"))
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)
    calls = lambda argv: subprocess.CompletedProcess(argv, 0, "", "")  # noqa: E731
    one, two = own_root / "one", own_root / "two"
    for directory in (one, two):
        directory.mkdir()
        timer.install(system=True, metrics=str(directory), kind="systemd", call=calls)
        textfile.write(str(directory), "x 1\n")
        assert timer.activity(calls) == "installed"
    unit = (own_root / "units" / "tmpwarden.service").read_text()
    script = f"{own_root}/lib/{__version__}/tmpwarden/metrics/tick.py"
    assert f"-I -S {script} --all-users --metrics {two}\n" in unit
    assert [path.parent for path in own_root.glob("*/*.prom")] == [two]
    timer.install(system=True, kind="systemd", call=calls)
    assert not list(own_root.glob("*/*.prom"))
    timer.install(system=True, metrics=str(one), kind="systemd", call=calls)
    textfile.write(str(one), "x 1\n")
    timer.uninstall(call=calls)
    assert not list(own_root.rglob("*.prom")) and not (own_root / "units" / "tmpwarden.service").exists()


@pytest.mark.parametrize("words", [["timer"], ["claude"], ["claude", "--system"], []])
def test_metrics_go_with_the_timer_of_the_machine_only(words: list[str]) -> None:
    status, envelope = answer("install", *words, "--metrics", "/var/lib/x")
    assert (status, envelope["error"]["code"]) == (BadArgument.exit_code, "bad-argument")
