"""Locks of every kind are seen, sockets are asked without their server noticing."""

import fcntl
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.holding import process
from support.mounts import needs_root
from support.user import OrdinaryUser
from support.users import LISTEN
from tmpwarden.model.answers import Held, Nobody, NotMeasured
from tmpwarden.oskit.files import kernel_word
from tmpwarden.oskit.proc import locks
from tmpwarden.oskit.system.linux.locks import parse_locks

FLOCK = "import fcntl, os, sys; fd = os.open(sys.argv[1], os.O_RDWR); fcntl.flock(fd, fcntl.LOCK_{kind})"
POSIX = "import fcntl, os, sys; fd = os.open(sys.argv[1], os.O_RDWR); fcntl.lockf(fd, fcntl.LOCK_EX, 10, 5)"
OFD = (
    "import fcntl, os, struct, sys; fd = os.open(sys.argv[1], os.O_RDWR); "
    "fcntl.fcntl(fd, 37, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0))"
)
LEASE = (
    "import fcntl, os, sys; fd = os.open(sys.argv[1], os.O_RDONLY); fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)"
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "file").write_text("x" * 100)
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def is_listed(path: Path) -> bool:
    found = locks.locked_inodes()
    assert isinstance(found, frozenset)
    status = path.stat()
    return (status.st_dev, status.st_ino) in found


@pytest.mark.parametrize(
    "source",
    [FLOCK.format(kind="EX"), FLOCK.format(kind="SH"), POSIX, OFD, LEASE],
    ids=["EX", "SH", "POSIX", "OFD", "LEASE"],
)
def test_a_locked_file_is_listed_while_it_is_locked(tmp_path: Path, folder: int, source: str) -> None:
    assert not is_listed(tmp_path / "file")
    with process(source, str(tmp_path / "file")):
        assert is_listed(tmp_path / "file")
        assert isinstance(kernel_word.ask(folder, "file"), Held), "whoever locks it has it open"
    assert not is_listed(tmp_path / "file")


def test_our_own_locks_can_be_left_out(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        status = os.fstat(file.fileno())
        all_locks, others = locks.locked_inodes(), locks.locked_inodes(except_pids=(os.getpid(),))
        assert isinstance(all_locks, frozenset) and (status.st_dev, status.st_ino) in all_locks
        assert isinstance(others, frozenset) and (status.st_dev, status.st_ino) not in others


def test_a_taken_flock_is_not_taken_twice(tmp_path: Path) -> None:
    first, second = (os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY) for _ in range(2))
    assert locks.try_flock(first)
    assert not locks.try_flock(second)
    os.close(first)
    assert locks.try_flock(second)
    os.close(second)


def test_every_kind_of_line_is_read_and_waiters_count() -> None:
    text = (
        "1: POSIX  ADVISORY  WRITE 3548 fe:00:12 0 EOF\n"
        "1: -> POSIX  ADVISORY  WRITE 3549 fe:00:12 0 EOF\n"
        "2: FLOCK  ADVISORY  WRITE 4 00:1b:13 0 EOF\n"
        "3: OFDLCK ADVISORY  READ -1 08:01:14 0 9\n"
        "4: LEASE  ACTIVE    READ 5 08:01:15 0 EOF\n"
        "nonsense\n5: x\n"
    )
    assert parse_locks(text) == {
        (os.makedev(0xFE, 0), 12),
        (os.makedev(0, 0x1B), 13),
        (os.makedev(8, 1), 14),
        (os.makedev(8, 1), 15),
    }
    assert (os.makedev(0xFE, 0), 12) in parse_locks(text, except_pids=(3548,)), "somebody else waits for it"


@given(st.text())
def test_no_text_is_too_strange(text: str) -> None:
    parse_locks(text)


def test_where_the_kernel_names_another_device_than_stat_the_number_alone_counts() -> None:
    found = locks.LockedInodes({(os.makedev(0, 50), 7)})
    found.numbers, found.plain_devices = frozenset((7,)), frozenset((os.makedev(8, 1),))
    assert (os.makedev(0, 50), 7) in found
    assert (os.makedev(0, 61), 7) in found, "a btrfs subvolume, as stat names it"
    assert (os.makedev(8, 1), 7) not in found, "on ext4 the device is told as it is"
    assert (os.makedev(0, 61), 8) not in found
    fresh = locks.newly_locked(frozenset(), found)
    assert (os.makedev(0, 61), 7) in fresh
    assert not locks.newly_locked(found, found)


@needs_root
def test_outside_the_initial_pid_namespace_the_list_is_not_believed() -> None:
    source = "from tmpwarden.oskit.proc import locks; print(type(locks.locked_inodes()).__name__)"
    inside = ["unshare", "-p", "-f", "--mount-proc", sys.executable, "-c", source]
    done = subprocess.run(inside, capture_output=True, text=True, check=True)
    assert done.stdout == "NotMeasured\n"


# Sockets

DATAGRAM = (
    "import os, socket, sys; os.chdir(sys.argv[1]); s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind('s')"
)
SEQUENCED = DATAGRAM.replace("SOCK_DGRAM", "SOCK_SEQPACKET") + "; s.listen()"
BOUND_ONLY = DATAGRAM.replace("SOCK_DGRAM", "SOCK_STREAM")
FULL = (
    BOUND_ONLY + "; s.listen(0); clients = [socket.socket(socket.AF_UNIX) for _ in range(3)]\n"
    "for client in clients: client.setblocking(False); client.connect_ex('s')"
)


@pytest.mark.parametrize(
    "source", [DATAGRAM, SEQUENCED, BOUND_ONLY, FULL], ids=["datagram", "seqpacket", "bound", "full"]
)
def test_a_socket_that_somebody_has_is_alive_and_dead_when_that_process_has_ended(
    tmp_path: Path, folder: int, source: str
) -> None:
    with process(source, str(tmp_path)):
        assert isinstance(locks.listeners(folder, "s"), Held)
    assert (tmp_path / "s").is_socket()
    assert locks.listeners(folder, "s") == Nobody()


def test_a_server_is_not_disturbed_by_the_question(tmp_path: Path, folder: int) -> None:
    os.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        server.listen()
        server.setblocking(False)
        assert isinstance(locks.listeners(folder, "s"), Held)
        with pytest.raises(BlockingIOError):
            server.accept()
    os.chdir("/")


def test_a_long_path_fits(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    with process(LISTEN, str(deep / ("s" * 100))):
        fd = os.open(deep, os.O_RDONLY | os.O_DIRECTORY)
        assert isinstance(locks.listeners(fd, "s" * 100), Held)
        os.close(fd)


@pytest.mark.parametrize("name", ["file", "link", "missing", "folder"])
def test_what_is_no_socket_is_not_measured(tmp_path: Path, folder: int, name: str) -> None:
    (tmp_path / "link").symlink_to("s")
    (tmp_path / "folder").mkdir()
    assert isinstance(locks.listeners(folder, name), NotMeasured)


_SHUT_SOCKET = """
import os, socket
from tmpwarden.oskit.proc import locks
server = socket.socket(socket.AF_UNIX)
server.bind("s")
server.listen()
os.chmod("s", 0)
print(type(locks.listeners(os.open(".", os.O_RDONLY), "s")).__name__)
"""


def test_a_socket_that_refuses_to_be_asked_is_not_measured(ordinary_user: OrdinaryUser) -> None:
    """Only ECONNREFUSED is dead: this one is not, and its mode lets nobody ask."""
    asked = ordinary_user.run([ordinary_user.python, "-c", _SHUT_SOCKET], cwd=ordinary_user.tmp)
    assert (asked.stdout, asked.stderr) == ("NotMeasured\n", "")
