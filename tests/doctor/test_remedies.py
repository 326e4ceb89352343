"""The remedy that doctor prints first, run as it stands by the user who was told, repairs the machine."""

import contextlib
import json
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.command import AHEAD
from support.mounts import ext4, fill_bytes, fill_inodes, mounted, needs_root, tmpfs
from support.user import AS_HIM, UID, OrdinaryUser
from tmpwarden.doctor.checks import installation, space, temp_directories
from tmpwarden.doctor.patient import Patient
from tmpwarden.model.request import Request

pytestmark = needs_root
SESSION = str(uuid.uuid4())  # of this test process alone: others look at all processes too


class Machine:
    """One user on whose temp root an ended session left all that is there."""

    def __init__(self, user: OrdinaryUser) -> None:
        self.user = user
        tools = user.base / "bin"
        tools.mkdir()
        ahead = shutil.copy(AHEAD, tools)  # ctime cannot be set back, so the program runs two hours ahead
        (tools / "tmpwarden").write_text(f'#!/bin/sh\nexec {user.python} {ahead} 7200 -m tmpwarden "$@"\n')
        (tools / "tmpwarden").chmod(0o755)
        self.env = {"PATH": f"{tools}:{user.env['PATH']}", "TMPDIR": ""}

    def plant(self, sizes: list[int]) -> Path:
        unit = self.user.tmp / f"claude-{UID}" / "-work-shop" / SESSION
        script = (
            "import os, sys; os.makedirs(sys.argv[1])\n"
            "for n, size in enumerate(sys.argv[2:]):\n"
            "    with open(f'{sys.argv[1]}/{n}', 'wb') as f: f.write(b'x' * int(size)); os.fsync(f.fileno())"
        )
        done = self.user.code(script, str(unit), *map(str, sizes))
        assert done.returncode == 0, done.stderr
        registry = self.user.home / ".claude" / "sessions"  # a record names its owner, and that is gone
        registry.mkdir(parents=True)
        record = {"pid": 4_000_000, "sessionId": SESSION, "procStart": "1", "startedAt": int(time.time() * 1000)}
        (registry / "4000000.json").write_text(json.dumps(record))
        for path in (registry.parent, *registry.parent.rglob("*")):
            os.chown(path, UID, UID)
        return unit

    def doctor(self, *words: str) -> tuple[int, dict[str, str]]:
        done = self.user.run(["tmpwarden", "doctor", "--json", *words], env=self.env)
        found = [d for d in json.loads(done.stdout)["data"]["diagnoses"] if d["check"] != "rivals"]
        return done.returncode, found[0]

    def repair(self, remedy: str) -> None:
        done = self.user.run(["sh", "-c", remedy], env=self.env)
        assert done.returncode == 0, (remedy, done.stdout, done.stderr)


@pytest.fixture
def machine(ordinary_user: OrdinaryUser) -> Machine:
    return Machine(ordinary_user)


def as_user(fill: Callable[[Path], object], root: Path) -> None:
    """A quota bites only who it is for."""
    child = os.fork()
    if child == 0:
        os.setgid(UID)
        os.setuid(UID)
        with contextlib.suppress(OSError):
            fill(root)
        os._exit(0)
    os.waitpid(child, 0)


def assert_repaired(machine: Machine, unit: Path, said: str, check: str = "room") -> None:
    status, worst = machine.doctor()
    assert (status, worst["check"]) == (2, check), worst
    assert said in worst["summary"]
    assert worst["remedy"].startswith("tmpwarden clean --yes")
    machine.repair(worst["remedy"])
    assert not unit.exists()
    status, worst = machine.doctor()
    assert (status, worst["status"] != "fail") == (0, True), worst


def test_full_blocks(machine: Machine) -> None:
    with tmpfs(machine.user.tmp, size="8m"):
        unit = machine.plant([7 << 20])
        fill_bytes(machine.user.tmp)
        assert_repaired(machine, unit, "is full")


def test_full_inodes(machine: Machine) -> None:
    with tmpfs(machine.user.tmp, size="8m", inodes=300):
        unit = machine.plant([1] * 250)
        fill_inodes(machine.user.tmp)
        assert_repaired(machine, unit, "has no inodes left")


@contextlib.contextmanager
def tmpfs_quota(root: Path) -> Iterator[None]:
    """As on the server of the story: tmpfs with a limit per user, while df shows room."""
    words = ("-t", "tmpfs", "-o", "size=64m,mode=1777,usrquota,usrquota_block_hardlimit=8m", "tmpfs")
    try:
        with mounted(root, *words):
            yield
    except subprocess.CalledProcessError as error:
        pytest.skip(f"this kernel has no quota on tmpfs: {error.stderr!r}")


@contextlib.contextmanager
def ext4_quota(root: Path) -> Iterator[None]:
    image = root.with_suffix(".img")
    with image.open("wb") as file:
        file.truncate(64 << 20)
    for tool in ("mkfs.ext4", "setquota"):
        if not shutil.which(tool):
            pytest.skip(f"needs the program {tool}")
    make = ["mkfs.ext4", "-q", "-F", "-O", "quota", "-E", "quotatype=usrquota", str(image)]
    subprocess.run(make, check=True, capture_output=True)
    try:
        with mounted(root, "-o", "loop,usrquota", str(image)):
            root.chmod(0o1777)
            limits = [str(UID), "8192", "8192", "0", "0"]
            subprocess.run(["setquota", "-u", *limits, str(root)], check=True, capture_output=True)
            yield
    except subprocess.CalledProcessError as error:
        pytest.skip(f"this kernel has no quota format: {error.stderr!r}")


@pytest.mark.parametrize("limited", [tmpfs_quota, ext4_quota])
def test_a_quota_of_the_user(
    machine: Machine, limited: Callable[[Path], contextlib.AbstractContextManager[None]]
) -> None:
    with limited(machine.user.tmp):
        unit = machine.plant([7 << 20])
        as_user(fill_bytes, machine.user.tmp)
        assert_repaired(machine, unit, "has reached your quota")


@pytest.fixture
def qgroup(machine: Machine) -> Iterator[Machine]:
    """A btrfs subvolume whose group may hold 16 MB: only a write tells."""
    image, disk = machine.user.base / "image", machine.user.base / "disk"
    if not shutil.which("mkfs.btrfs"):
        pytest.skip("needs the program mkfs.btrfs")
    with image.open("wb") as file:
        file.truncate(256 << 20)
    subprocess.run(["mkfs.btrfs", "-q", str(image)], check=True, capture_output=True)
    with mounted(disk, "-o", "loop", str(image)):
        volume = machine.user.tmp = disk / "v"
        for words in (["quota", "enable", disk], ["subvolume", "create", volume], ["qgroup", "limit", "16M", volume]):
            subprocess.run(["btrfs", *map(str, words)], check=True, capture_output=True)
        volume.chmod(0o1777)
        yield machine


def test_a_quota_that_no_number_shows(qgroup: Machine) -> None:
    unit = qgroup.plant([1 << 20] * 12)
    for number in range(64):  # several files: btrfs lets a file that it has begun to write go on
        with contextlib.suppress(OSError), (qgroup.user.tmp / f"filler-{number}").open("wb") as file:
            file.write(b"x" * (256 << 10))
            os.fsync(file.fileno())
    assert_repaired(qgroup, unit, "your disk quota there is used up", "probe")


def test_a_deleted_file_that_fills_the_root(machine: Machine) -> None:
    """It is what fills it, so no clean helps: the processes that hold it are named, all of them."""
    with tmpfs(machine.user.tmp, size="60m") as root:
        source = (
            "import os, sys; f = open(sys.argv[1], 'wb'); f.write(b'x' * (50 << 20)); f.flush(); os.unlink(f.name)\n"
            "os.fork(); os.write(1, b'ready\\n'); sys.stdin.read()"
        )
        argv = [machine.user.python, "-c", source, str(root / "ghost")]
        holder = subprocess.Popen(argv, **AS_HIM, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            assert holder.stdout
            assert [holder.stdout.readline() for _ in range(2)] == [b"ready\n"] * 2
            status, worst = machine.doctor()
            assert (status, worst["check"]) == (2, "ghosts")
            assert "50.0 MB" in worst["summary"]
            machine.repair(worst["remedy"])
            assert holder.stdout.read() == b"", "both are gone"
            assert machine.doctor()[0] == 0
        finally:
            holder.kill()
            holder.communicate()


def test_where_nothing_may_go_the_remedy_is_no_clean(machine: Machine) -> None:
    """What fills it is not one of ours: a command that shows it."""
    with tmpfs(machine.user.tmp, size="8m") as root:
        (root / "database").mkdir()
        fill_bytes(root / "database")
        status, worst = machine.doctor()
        assert (status, worst["remedy"]) == (2, f"du -xh -d 1 {root} | sort -h | tail")
        done = machine.user.run(["sh", "-c", worst["remedy"]])
        assert "/database" in done.stdout


@pytest.mark.parametrize("what", ["a link of ours", "a file", "open to all"])
def test_a_squatted_scratch_root(machine: Machine, what: str) -> None:
    squat = machine.user.tmp / f"tmpwarden-{UID}"
    if what == "a link of ours":
        squat.symlink_to("/etc")
    elif what == "a file":
        squat.write_text("")
    else:
        squat.mkdir()
    os.chown(squat, UID, UID, follow_symlinks=False)
    if what == "open to all":
        squat.chmod(0o777)
    status, worst = machine.doctor()
    assert (status, worst["check"]) == (2, "squatted")
    machine.repair(worst["remedy"])
    assert machine.doctor()[0] == 0
    assert machine.user.tmpwarden("run", "--", "true").stderr == ""


@pytest.mark.parametrize("name", ["claude", "claude-settings-0123456789abcdef.json"])
def test_a_name_that_every_user_wants_and_another_one_has_is_told(machine: Machine, name: str) -> None:
    """Versions that use one name for all: the second user's agent gets EACCES, and nothing said why."""
    with tmpfs(machine.user.tmp):
        taken = machine.user.tmp / name
        taken.touch(0o644) if name.endswith(".json") else taken.mkdir(0o755)
        status, worst = machine.doctor()
        assert (status, worst["check"], worst["status"]) == (0, "squatted", "warn")
        assert str(taken) in worst["summary"] and "belongs to another user (uid 0)" in worst["summary"]


def test_a_scratch_root_of_another_user_is_moved_aside_by_root(machine: Machine) -> None:
    with tmpfs(machine.user.tmp):
        (machine.user.tmp / f"tmpwarden-{UID}").mkdir()
        status, worst = machine.doctor()
        assert (status, worst["check"]) == (2, "squatted")
        assert worst["remedy"].startswith("sudo mv -T ")
        subprocess.run(["sh", "-c", worst["remedy"].removeprefix("sudo ")], check=True)
        assert machine.doctor()[0] == 0


@pytest.mark.parametrize("what", ["read-only", "not writable"])
def test_a_root_that_cannot_be_written(machine: Machine, what: str) -> None:
    root = machine.user.tmp
    mount = (
        mounted(root, "-t", "tmpfs", "-o", "ro,mode=1777", "tmpfs") if what == "read-only" else tmpfs(root, mode="755")
    )
    with mount:
        status, worst = machine.doctor()
        assert (status, worst["check"]) == (2, "probe"), worst
        subprocess.run(["sh", "-c", worst["remedy"].removeprefix("sudo ")], check=True)
        assert machine.doctor()[0] == 0


@pytest.mark.parametrize("what", ["the journal is root's", "the directory is read-only"])
def test_a_journal_that_cannot_be_written(machine: Machine, what: str) -> None:
    user = machine.user
    assert user.tmpwarden("clean", "--yes").returncode == 0
    state = user.home / ".local" / "state" / "tmpwarden"
    if what == "the journal is root's":
        os.chown(state / "journal.jsonl", 0, 0)
    else:
        state.chmod(0o500)
    status, worst = machine.doctor()
    assert (status, worst["check"]) == (2, "journal"), worst
    if worst["remedy"].startswith("sudo "):
        command = worst["remedy"].removeprefix("sudo ").replace("$(id -u)", str(UID))
        subprocess.run(["sh", "-c", command], check=True)
    else:
        machine.repair(worst["remedy"])
    assert machine.doctor()[0] == 0


def test_a_user_without_a_home_gets_a_state_and_nobody_loses_anything(machine: Machine) -> None:
    """As nobody and www-data are: what exists of the way to it belongs to root, and may be the root directory."""
    done = machine.user.run(["tmpwarden", "doctor", "--json"], env={**machine.env, "HOME": "/nonexistent"})
    (found,) = [d for d in json.loads(done.stdout)["data"]["diagnoses"] if d["check"] == "journal"]
    state = Path("/nonexistent/.local/state/tmpwarden")
    assert found["remedy"] == f"sudo install -d -m 700 -o $(id -u) {state}"
    remedy = found["remedy"].removeprefix("sudo ").replace("$(id -u)", str(UID))
    subprocess.run(["sh", "-c", remedy.replace("/nonexistent", str(machine.user.base / "srv"))], check=True)
    made = machine.user.base / "srv" / state.relative_to("/nonexistent")
    assert (made.stat().st_uid, made.parent.stat().st_uid) == (UID, 0)


def test_a_directory_of_the_systems_is_never_opened_to_everybody(machine: Machine) -> None:
    """Somebody has set a wrong variable: that makes no temp directory of it."""
    closed = machine.user.library
    env = {**machine.env, "TMPWARDEN_ROOTS": str(closed)}
    done = machine.user.run(["tmpwarden", "doctor", "--json"], env=env)
    (found,) = [d for d in json.loads(done.stdout)["data"]["diagnoses"] if d["check"] == "probe"]
    assert (found["status"], found["remedy"]) == ("fail", f"ls -ld {closed}")


def test_a_read_only_root_with_blanks_in_its_name(own_world: Path) -> None:
    root = own_world / "my temp  files"
    root.mkdir()
    with mounted(root, "-t", "tmpfs", "-o", "ro", "tmpfs"):
        someone = Patient(Request(roots=(str(root),)), {})
        (found,) = space.check_probe(someone)
        assert "read-only" in found.summary
        subprocess.run(["sh", "-c", found.remedy], check=True)
        assert [d.status for d in space.check_probe(someone)] == ["ok"]


def test_what_was_moved_aside_the_last_time_stays(own_world: Path) -> None:
    """Whoever squats a name once does it again."""
    squat = own_world / "tmp" / f"tmpwarden-{os.geteuid()}"
    for number in range(3):
        squat.mkdir()
        (squat / f"{number}").write_text("")
        os.chown(squat, UID, UID)
        (found,) = temp_directories.check_squatted(Patient(Request(roots=(str(squat.parent),)), {}))
        subprocess.run(["sh", "-c", found.remedy], check=True)
        assert not squat.exists()
    assert sorted(path.name for path in squat.parent.rglob("?")) == ["0", "1", "2"]


@pytest.mark.parametrize("name", [b"-rf", b"b\xff", b"it's\x1b[2J", b"two\nlines"])
def test_a_missing_tmpdir_of_any_name_is_made(own_world: Path, name: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own_world)
    missing = f"{own_world}/{os.fsdecode(name)}"
    someone = Patient(Request(roots=(str(own_world / "tmp"),)), {"TMPDIR": missing})
    (found,) = temp_directories.check_tmpdir(someone)
    assert found.remedy.replace("\n", "").isprintable(), "it may be shown on a terminal"
    subprocess.run(["bash", "-c", found.remedy], check=True)
    assert os.path.isdir(missing)


@pytest.mark.parametrize("what", ["a file", "below a file", "relative", "a dead link", "read-only", "full", "closed"])
def test_a_tmpdir_that_no_mkdir_can_mend_is_unset(ordinary_user: OrdinaryUser, what: str) -> None:
    """The remedy, as its user runs it, leaves a directory that can be written to."""
    base = ordinary_user.tmp / "base"
    base.mkdir()
    os.chown(base, UID, UID)
    (base / "file").touch()
    (base / "link").symlink_to("nowhere")
    named = {
        "a file": base / "file",
        "below a file": base / "file" / "x",
        "relative": "tmp",
        "a dead link": base / "link",
    }
    words = {
        "a file": "which is not a directory",
        "relative": "a relative path",
        "a dead link": "a link that leads nowhere",
    }
    mount = (
        mounted(base / "ro", "-t", "tmpfs", "-o", "ro,mode=1777", "tmpfs") if what == "read-only" else tmpfs(base / "m")
    )
    with mount as point:
        if what == "full":
            fill_bytes(point)
        if what == "closed":
            point.chmod(0o755)
        path = str(named.get(what, point if what == "read-only" else point / "missing"))
        env = {"TMPDIR": path, "FALLBACK": str(ordinary_user.tmp)}
        done = ordinary_user.tmpwarden("doctor", "--json", env=env)
        (found,) = [d for d in json.loads(done.stdout)["data"]["diagnoses"] if d["check"] == "tmpdir"]
        assert (found["status"], found["remedy"]) == ("fail", "unset TMPDIR")
        assert words.get(what, "which ") in found["summary"]
        ends = f'{found["remedy"]}; test -d "${{TMPDIR:-$FALLBACK}}" && : > "${{TMPDIR:-$FALLBACK}}/true"'
        assert ordinary_user.run(["sh", "-c", ends], env=env).returncode == 0


def test_a_state_directory_on_a_read_only_disk_is_not_chmodded(machine: Machine) -> None:
    user = machine.user
    with tmpfs(user.home, mode="700") as home:
        os.chown(home, UID, UID)
        assert user.tmpwarden("clean", "--yes").returncode == 0
        subprocess.run(["mount", "-o", "remount,ro", str(home)], check=True)
        status, worst = machine.doctor()
        assert (status, worst["check"]) == (2, "journal")
        assert f"is on a file system that is mounted read-only (tmpfs at {home})" in worst["summary"]
        assert worst["remedy"] == f"sudo mount -o remount,rw {home}"
        subprocess.run(["sh", "-c", worst["remedy"].removeprefix("sudo ")], check=True)
        assert machine.doctor()[0] == 0


def test_a_disk_that_the_kernel_made_read_only_for_its_errors_is_for_a_person(machine: Machine) -> None:
    """Mounted again as it is, it may lose what could still be saved."""
    with ext4(machine.user.tmp, machine.user.base / "image") as root:
        device = os.path.basename(
            os.path.realpath(f"/sys/dev/block/{os.major(root.stat().st_dev)}:{os.minor(root.stat().st_dev)}")
        )
        root.chmod(0o1777)
        trigger = Path("/sys/fs/ext4", device, "trigger_fs_error")
        try:
            trigger.write_text("a test")
        except OSError as error:
            pytest.skip(f"this kernel has no such switch: {error}")
        subprocess.run(["mount", "-o", "remount,ro", str(root)], check=True)
        _, worst = machine.doctor()
        assert (worst["check"], worst["remedy"]) == ("probe", "")
        assert "1 error was recorded on it" in worst["detail"]


def test_the_line_of_a_rival_is_counted_as_sed_counts(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = own_world / "cron"
    lines = ["# one page\x0c", "# old\rMac", "0 1 * * * backup", "0 * * * * find /tmp -delete", ""]
    with table.open("w", newline="") as file:
        file.write("\n".join(lines))
    monkeypatch.setattr(installation, "_SYSTEM", (str(table),))
    monkeypatch.setattr(installation, "_SPOOLS", (str(own_world / "home"),))
    (found,) = installation.check_rivals(Patient(Request(), {}))
    subprocess.run(["sh", "-c", found.remedy], check=True)
    assert table.read_bytes() == "\n".join((*lines[:3], f"# {lines[3]}", "")).encode()
