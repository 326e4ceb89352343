"""A write lease is granted only if nobody has the file open, anywhere and in any way; where that proves nothing, or it
cannot be asked, nothing was measured."""

import array
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.frozen import fuse, needs_fuse
from support.hiding import HIDE, run
from support.hiding import process as hidden_process
from support.holding import process
from support.mounts import mounted, needs_root, tmpfs
from support.user import OrdinaryUser
from support.users import MAP, OPEN, fill
from tmpwarden.model.answers import Held, Nobody, NotMeasured, Users
from tmpwarden.oskit.files import kernel_word

WRITE = "import os, sys; fd = os.open(sys.argv[1], os.O_WRONLY)"
LINKED = "import os, sys; os.link(sys.argv[1], sys.argv[1] + '.2'); fd = os.open(sys.argv[1] + '.2', os.O_RDONLY)"


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    return fill(tmp_path / "unit")


def ask(path: Path) -> Users:
    fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return kernel_word.ask(fd, path.name)
    finally:
        os.close(fd)


@pytest.mark.parametrize("source", [OPEN, WRITE, MAP, LINKED], ids=["reading", "writing", "mapped", "another link"])
def test_an_open_file_is_held_while_it_is_open_and_free_after(unit: Path, source: str) -> None:
    with process(source, str(unit / "deep" / "file")):
        assert isinstance(ask(unit), Held)
    assert ask(unit) == Nobody()
    assert ask(unit / "deep" / "file") == Nobody()


def test_a_lease_of_another_process_is_a_holder(unit: Path) -> None:
    source = "import fcntl, os, signal, sys; signal.signal(signal.SIGIO, signal.SIG_IGN)\n"
    source += "fcntl.fcntl(os.open(sys.argv[1], os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)"
    with process(source, str(unit / "deep" / "file")):
        assert isinstance(ask(unit), Held)
    assert ask(unit) == Nobody()


def test_a_descriptor_that_is_on_its_way_through_a_socket_counts(unit: Path) -> None:
    fd = os.open(unit / "deep" / "file", os.O_RDONLY)
    ends = socket.socketpair()
    ends[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
    os.close(fd)
    assert isinstance(ask(unit), Held)
    for end in ends:
        end.close()
    assert ask(unit) == Nobody()


def test_a_running_program_is_held(unit: Path) -> None:
    program = unit / "sleep"
    program.write_bytes(Path("/bin/sleep").read_bytes())
    program.chmod(0o755)
    with subprocess.Popen([program, "60"]) as running:
        try:
            assert isinstance(ask(unit), Held)
        finally:
            running.kill()
    assert ask(unit) == Nobody()


@needs_root
def test_a_process_that_hides_is_seen_by_the_kernel(ordinary_user: OrdinaryUser) -> None:
    path = ordinary_user.tmp / "file"
    path.write_text("x")
    path.chmod(0o644)
    ordinary_user.tmp.chmod(0o755)
    with hidden_process(ordinary_user, HIDE + OPEN, str(path)):
        assert isinstance(ask(path), Held)
    assert ask(path) == Nobody()


def nothing_in_it(unit: Path) -> None:
    for path in unit.rglob("*"):
        if path.is_file():
            path.unlink()


def a_fifo(unit: Path) -> None:
    os.mkfifo(unit / "fifo")


def too_deep(unit: Path) -> None:
    (unit / "/".join(["d"] * 201)).mkdir(parents=True)


@pytest.mark.parametrize("change", [nothing_in_it, a_fifo, too_deep], ids=lambda change: change.__name__)
def test_what_cannot_be_asked_is_not_measured(unit: Path, change) -> None:  # type: ignore[no-untyped-def]
    change(unit)
    assert isinstance(ask(unit), NotMeasured)


@needs_root
def test_a_file_that_we_cannot_open_is_not_measured(ordinary_user: OrdinaryUser) -> None:
    (ordinary_user.tmp / "unit").mkdir()
    (ordinary_user.tmp / "unit" / "shut").write_text("x")
    (ordinary_user.tmp / "unit" / "shut").chmod(0o200)
    for path in (ordinary_user.tmp, ordinary_user.tmp / "unit"):
        path.chmod(0o755)
    source = "import os; from tmpwarden.oskit.files import kernel_word\n"
    source += f"print(kernel_word.ask(os.open({str(ordinary_user.tmp)!r}, 0), 'unit'))"
    assert run(ordinary_user, source).stdout.startswith("NotMeasured")


@needs_root
def test_on_overlayfs_a_grant_proves_nothing_and_a_refusal_counts(tmp_path: Path) -> None:
    for name in ("lower", "upper", "work"):
        (tmp_path / name).mkdir()
    options = f"lowerdir={tmp_path / 'lower'},upperdir={tmp_path / 'upper'},workdir={tmp_path / 'work'}"
    with mounted(tmp_path / "merged", "-t", "overlay", "-o", options, "overlay") as merged:
        unit = fill(merged / "unit")
        assert isinstance(ask(unit), NotMeasured)
        with process(OPEN, str(unit / "deep" / "file")):
            assert isinstance(ask(unit), Held)
    assert kernel_word.foreseen("overlay", 1) is not None


@needs_root
def test_on_tmpfs_a_grant_counts(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t") as root:
        assert ask(fill(root / "unit")) == Nobody()


@pytest.mark.parametrize("filesystem", ["overlay", "fuse.sshfs", "nfs4", "virtiofs", "9p", "zfs", None])
def test_where_a_grant_proves_nothing_is_known_before_anybody_asks(filesystem: str | None) -> None:
    assert kernel_word.foreseen(filesystem, 1) is not None


@needs_fuse
def test_a_daemon_behind_fuse_is_not_believed(tmp_path: Path) -> None:
    with fuse(tmp_path / "mount", stopped=False) as point:
        assert isinstance(ask(point), NotMeasured)


@pytest.fixture
def openers(unit: Path) -> Iterator[list[float]]:
    """A process that opens and closes the file all the time: each time it meets us, the kernel sends us SIGIO."""
    source = "import os, sys, threading\n"
    source += "def go():\n while True: os.close(os.open(sys.argv[1], os.O_RDONLY))\n"
    source += "threading.Thread(target=go, daemon=True).start()"
    with process(source, str(unit / "deep" / "file")):
        yield []


@pytest.mark.usefixtures("openers")
def test_an_opener_that_comes_meanwhile_neither_kills_us_nor_waits(unit: Path) -> None:
    source = (
        "import os, sys; from tmpwarden.oskit.files import kernel_word\n"
        "fd = os.open(sys.argv[1], 0)\n"
        "answers = {type(kernel_word.ask(fd, 'unit')).__name__ for _ in range(3000)}\n"
        "assert answers <= {'Held', 'Nobody'}, answers\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source, str(unit.parent)], capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_handler_of_sigio_is_given_back_and_no_lease_stays(unit: Path) -> None:
    seen = []
    before = signal.signal(signal.SIGIO, lambda number, frame: seen.append(number))
    try:
        assert ask(unit) == Nobody()
        os.kill(os.getpid(), signal.SIGIO)
        time.sleep(0)
        assert seen == [signal.SIGIO]
    finally:
        signal.signal(signal.SIGIO, before)
    os.close(os.open(unit / "deep" / "file", os.O_RDWR | os.O_NONBLOCK))  # would fail at once where it had to wait


def test_a_descriptor_that_was_inherited_keeps_no_opener_waiting(unit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by a fork in another thread of our host: the lease belongs to all who have the descriptor."""
    copies, plain = [], os.open

    def inherited(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        fd = plain(path, flags, mode, dir_fd=dir_fd)
        if path == "file":
            copies.append(os.dup(fd))
        return fd

    fd = os.open(unit.parent, os.O_RDONLY | os.O_DIRECTORY)
    has_asked = threading.Event()
    other = threading.Thread(target=has_asked.wait)
    other.start()
    monkeypatch.setattr(os, "open", inherited)
    kernel_word.ask(fd, "unit")
    monkeypatch.undo()
    has_asked.set()
    other.join()
    assert len(copies) == 1
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)  # a lease that is left over would kill the test, not fail it
    try:
        subprocess.run(["cat", str(unit / "deep" / "file")], check=True, capture_output=True, timeout=10)
    finally:
        for copy in (fd, *copies):
            os.close(copy)
        signal.signal(signal.SIGIO, before)


def test_another_thread_may_ask(unit: Path) -> None:
    answers: list[Users] = []
    worker = threading.Thread(target=lambda: answers.append(ask(unit)))
    worker.start()
    worker.join()
    assert answers == [Nobody()]


def test_asking_changes_nothing(unit: Path) -> None:
    paths = [unit, *unit.rglob("*")]
    before = [tuple(path.lstat()) for path in paths]
    ask(unit)
    assert [tuple(path.lstat()) for path in paths] == before
