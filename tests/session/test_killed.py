"""After SIGKILL the next run clears up: by a free lock and a dead lease, never by age, and never a live session."""

import contextlib
import fcntl
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import forked, hiding
from support.mounts import needs_root
from support.program import HOLDS, Programs
from support.user import OrdinaryUser

NEXT_RUN = 'import tmpwarden\nwith tmpwarden.session("mycli"): pass'
# Enters, fills a directory, checks again and again that nobody touched it, leaves.
WORKS = """
import os, sys, time, tmpwarden
with tmpwarden.session("mycli") as s:
    names = [f"f{n}" for n in range(20)]
    for name in names:
        with open(s.file(name), "w") as file: file.write(name)
    os.close(os.open(s.dir("deep") + "/x", os.O_CREAT))
    for _ in range(int(sys.argv[1])):
        time.sleep(0.01)
        for name in names:
            with open(f"{s.path}/{name}") as file: assert file.read() == name
    assert sorted(os.listdir(s.path)) == sorted([*names, "deep"])
"""


def test_the_next_run_removes_a_killed_session_and_no_live_one(programs: Programs) -> None:
    with programs.started(HOLDS) as live, programs.started(HOLDS) as killed:
        live_path, killed_path = live.stdout.readline().strip(), killed.stdout.readline().strip()
        killed.kill()
        killed.wait()
        assert os.path.isdir(killed_path)
        programs.run(NEXT_RUN)
        assert programs.sessions() == sorted([os.path.basename(live_path), os.path.basename(live_path) + ".lease"])
        assert os.listdir(live_path) == ["work"]


def test_a_directory_that_a_surviving_child_works_in_stays_until_the_child_ends(programs: Programs) -> None:
    source = """
import sys, tmpwarden
with tmpwarden.session("mycli") as s:
    child = s.popen(["sleep", "300"], cwd=s.path)
    print("ready", flush=True)
    print(child.pid, s.path, flush=True)
    sys.stdin.read()
"""
    with programs.started(source) as process:
        pid, path = process.stdout.readline().split()
        process.kill()
        process.wait()
        try:
            programs.run(NEXT_RUN)
            assert os.path.isdir(path)
        finally:
            os.kill(int(pid), signal.SIGKILL)
    for _ in range(200):
        if not os.path.exists(f"/proc/{pid}"):
            break
        time.sleep(0.02)
    programs.run(NEXT_RUN)
    assert programs.sessions() == []


@pytest.mark.parametrize(
    ("moment", "source"),
    [
        ("made, not yet locked", "locks.flock = die"),
        ("locked, not yet leased", "directory._write_lease = die"),
        ("lease made, not yet written", "os.write = die"),
        ("leased", "signals.deliver_pending = die"),
        ("emptied, lease still there", "directory.remove_lease = die"),
    ],
)
def test_whatever_moment_a_run_is_killed_in_the_next_one_clears_up(
    programs: Programs, moment: str, source: str
) -> None:
    strike = f"""
import os, signal, sys, tmpwarden
from tmpwarden.oskit.proc import locks
from tmpwarden.session import directory, signals
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
{source}
with tmpwarden.session("mycli"): pass
"""
    for umask in (0o022, 0o777):
        result = programs.run(strike, umask=umask)
        assert result.returncode == -signal.SIGKILL, result.stderr
    assert programs.sessions() != []
    programs.run(NEXT_RUN)
    assert programs.sessions() == []


def test_a_lease_torn_in_the_middle_of_its_writing_is_no_reason_to_keep_an_empty_directory(programs: Programs) -> None:
    programs.root.mkdir(mode=0o700)
    (programs.root / "s0a1b2c3d").mkdir(mode=0o700)
    (programs.root / "s0a1b2c3d.lease").write_text('{"path": "/tm')
    programs.run(NEXT_RUN)
    assert programs.sessions() == []


def _leave_behind(programs: Programs, **changes: object) -> Path:
    """A session with a file in it, whose owner was killed, and its lease changed."""
    with programs.started(HOLDS) as process:
        path = Path(process.stdout.readline().strip())
        process.kill()
        process.wait()
    lease = Path(f"{path}.lease")
    lease.write_text(json.dumps({**json.loads(lease.read_text()), **changes}))
    return path


@pytest.mark.parametrize(
    ("doubt", "changes"),
    [
        ("the owner lives", {"pid": os.getpid(), "start": None}),
        ("another machine's", {"boot": "0" * 36, "machine": "1" * 32}),
        ("nobody knows whose boot", {"boot": None, "machine": "1" * 32}),
        ("the lease names no process", {"pid": None}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_doubt_keeps(programs: Programs, doubt: str, changes: dict[str, object]) -> None:
    path = _leave_behind(programs, **changes)
    programs.run(NEXT_RUN)
    assert (path / "work").exists(), doubt


def test_files_without_a_lease_are_nobodys_to_judge(programs: Programs) -> None:
    path = _leave_behind(programs)
    Path(f"{path}.lease").unlink()
    programs.run(NEXT_RUN)
    assert (path / "work").exists()


@pytest.mark.parametrize(
    "changes", [{}, {"boot": "0" * 36}, {"pidns": "pid:[1]"}], ids=["killed", "rebooted", "another-container"]
)
def test_the_dead_go(programs: Programs, changes: dict[str, object]) -> None:
    path = _leave_behind(programs, **changes)
    programs.run(NEXT_RUN)
    assert not path.exists()
    assert programs.sessions() == []


def test_a_held_lock_alone_keeps(programs: Programs) -> None:
    path = _leave_behind(programs)
    fd = os.open(path, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    blind = "from tmpwarden.session import leftovers; leftovers._is_used = lambda *_: False\n"  # not even our open fd
    programs.run(blind + NEXT_RUN)
    assert (path / "work").exists()
    os.close(fd)
    programs.run(NEXT_RUN)
    assert not path.exists()


def test_names_that_are_not_ours_are_left_alone(programs: Programs) -> None:
    programs.root.mkdir(mode=0o700)
    for name in ("s0A1B2C3D", "s0a1b2c3", "session", "notes.lease"):
        (programs.root / name).mkdir()
    (programs.root / "s0a1b2c3d").symlink_to(programs.tmp)
    (programs.root / "s0a1b2c3e").write_text("a file")
    before = programs.sessions()
    programs.run(NEXT_RUN)
    assert programs.sessions() == before


@pytest.mark.parametrize("move", ["replaced", "vanished"])
def test_a_name_that_changes_between_the_look_and_the_lock_is_left_alone(programs: Programs, move: str) -> None:
    path = _leave_behind(programs)
    strike = f"""
import os, tmpwarden
from tmpwarden.session import leftovers
def window(name):
    os.rename({str(path)!r}, {str(path) + ".moved"!r})
    if {move!r} == "replaced":
        os.mkdir({str(path)!r}); open({str(path / "mine")!r}, "w")
leftovers._race_window = window
with tmpwarden.session("mycli"): pass
"""
    result = programs.run(strike)
    assert (result.returncode, result.stderr) == (0, "")
    assert (path.with_name(path.name + ".moved") / "work").exists()
    assert (path / "mine").exists() == (move == "replaced")


def test_a_sweeper_that_meets_a_directory_in_the_making_does_not_break_its_maker(programs: Programs) -> None:
    strike = """
import os, tmpwarden
from tmpwarden.oskit.proc import locks
flock, struck = locks.flock, []
def window(fd):
    if not struck:
        struck.append(fd)
        if os.fork() == 0:
            with tmpwarden.session("mycli"): pass
            os._exit(0)
        assert os.wait()[1] == 0
    flock(fd)
locks.flock = window
with tmpwarden.session("mycli") as s:
    s.file("work")
    name = os.path.basename(s.path)
    print(sorted(os.listdir(os.path.dirname(s.path))) == [name, name + ".lease"])
"""
    result = programs.run(strike)
    assert (result.returncode, result.stdout, result.stderr) == (0, "True\n", "")


@pytest.mark.parametrize("count", [60, pytest.param(500, marks=pytest.mark.long)])
def test_of_many_parallel_runs_the_killed_leave_nothing_and_the_living_lose_nothing(
    programs: Programs, count: int
) -> None:
    dice = random.Random(count)
    env = {**os.environ, "TMPDIR": str(programs.tmp)}
    waiting = [(dice.random() < 1 / 3, dice.uniform(0.02, 0.5)) for _ in range(count)]
    running: list[tuple[subprocess.Popen[bytes], float | None]] = []
    killed = 0
    while waiting or running:
        while waiting and len(running) < 12:
            dies, after_s = waiting.pop()
            process = forked.Popen([sys.executable, "-c", WORKS, "20"], env=env, stderr=subprocess.PIPE)
            running.append((process, time.monotonic() + after_s if dies else None))
        time.sleep(0.005)
        for process, dies_at in list(running):
            if dies_at is not None and time.monotonic() >= dies_at:
                process.kill()
            if process.poll() is not None:
                running.remove((process, dies_at))
                err = process.communicate()[1]
                assert process.returncode in ((0, -9) if dies_at is not None else (0,)), err.decode()
                killed += process.returncode == -9
    assert killed > count / 10
    programs.run(NEXT_RUN)
    assert programs.sessions() == []


WITH_A_CHILD = """
import sys, tmpwarden
with tmpwarden.session("mycli") as s:
    s.file("work")
    child = s.popen(["sleep", "300"], cwd=s.path, env={"PATH": "/usr/bin:/bin"}, stdin=-3, stdout=-3, stderr=-3)
    print("ready", flush=True)
    print(child.pid, s.path, flush=True)
    sys.stdin.read()
"""
# An empty file over the kernel's, in a mount namespace of its own.
EMPTIED = 'mount --bind /dev/null /proc/sys/kernel/random/boot_id && exec "$@"'
NO_BOOT_ID = ["unshare", "--mount", "sh", "-c", EMPTIED, "sh"]


@contextlib.contextmanager
def _orphaned_child(programs: Programs, tmpdir: Path) -> Iterator[Path]:
    """The directory of a session whose owner was killed while a child of it works there: nothing but its cwd tells."""
    with programs.started(WITH_A_CHILD, env={"TMPDIR": str(tmpdir)}) as process:
        assert process.stdout
        pid, path = process.stdout.readline().split()
        grip = os.pidfd_open(int(pid))
        process.kill()
        process.wait()
    try:
        yield Path(path)
    finally:
        signal.pidfd_send_signal(grip, signal.SIGKILL)
        select.select([grip], [], [], 60)
        os.close(grip)


def _next_run(programs: Programs, tmpdir: Path, *under: str) -> None:
    env = {**os.environ, "TMPDIR": str(tmpdir)}
    subprocess.run([*under, sys.executable, "-c", NEXT_RUN], env=env, cwd="/", check=True, timeout=60)


@pytest.mark.parametrize("where", ["the last", "above", "a chain"])
def test_a_child_that_works_on_is_seen_where_tmpdir_leads_through_a_link(programs: Programs, where: str) -> None:
    """/proc names directories as the kernel does: a path through a link is never among them."""
    (programs.tmp / "real" / "tmp").mkdir(parents=True)
    (programs.tmp / "link").symlink_to("real" if where == "above" else "real/tmp")
    (programs.tmp / "second").symlink_to(programs.tmp / "link")
    tmpdir = programs.tmp / {"the last": "link", "above": "link/tmp", "a chain": "second"}[where]
    with _orphaned_child(programs, tmpdir) as path:
        _next_run(programs, tmpdir)
        assert (path / "work").exists()
    _next_run(programs, tmpdir)
    assert not path.exists(), "with its last child it goes"


@needs_root
def test_a_child_that_works_on_is_seen_where_there_is_no_boot_id(programs: Programs) -> None:
    with _orphaned_child(programs, programs.tmp) as path:
        _next_run(programs, programs.tmp, *NO_BOOT_ID)
        assert (path / "work").exists()
    _next_run(programs, programs.tmp, *NO_BOOT_ID)
    assert not path.exists(), "with its last child it goes"


def test_a_killed_session_stays_where_nobody_can_be_asked_who_uses_it(programs: Programs) -> None:
    """As on a Mac: neither /proc nor psutil. The child has another name for its own directory, which nobody can see."""
    path = _leave_behind(programs)
    blind = "import os, tmpwarden\nfrom tmpwarden.oskit.proc import holders, namespaces, procs\n"
    blind += "namespaces.boot_id = namespaces.mount_namespace = lambda *_: None\n"
    blind += "holders.look_by_psutil = lambda *_: False\n"
    done = programs.run(blind + 'with tmpwarden.session("mycli"): pass')
    assert (done.returncode, done.stderr) == (0, "")
    assert (path / "work").exists()
    programs.run(NEXT_RUN)
    assert not path.exists()


def test_a_killed_session_stays_while_a_process_of_the_user_cannot_be_looked_at(ordinary_user: OrdinaryUser) -> None:
    """The kernel's word speaks of open files. A working directory it does not tell, and here nothing comes back."""
    hiding.hand_over(ordinary_user)
    kills_itself = HOLDS.replace("sys.stdin.read()", "import os; os.kill(os.getpid(), 9)")
    said = hiding.run(ordinary_user, kills_itself).stdout.splitlines()
    path = Path(said[-1])
    assert (path / "work").exists()
    with hiding.process(ordinary_user, f"import os; os.chdir({str(path)!r})\n" + hiding.HIDE):
        assert hiding.run(ordinary_user, NEXT_RUN).returncode == 0
        assert (path / "work").exists()
    assert hiding.run(ordinary_user, NEXT_RUN).returncode == 0
    assert not path.exists()


def test_a_descriptor_that_is_on_its_way_keeps(programs: Programs) -> None:
    """Sent through a socket and not yet received: no process has it in a table."""
    path = _leave_behind(programs)
    near, far = socket.socketpair()
    with near, far:
        fd = os.open(path / "work", os.O_RDONLY)
        socket.send_fds(near, [b"x"], [fd])
        os.close(fd)
        programs.run(NEXT_RUN)
        assert (path / "work").exists()
    programs.run(NEXT_RUN)
    assert not path.exists()
