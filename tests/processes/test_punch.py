"""A hole is punched only into a file that one writer appends to and nobody else has open: real programs, each with a
need of its own, and every byte of the file is compared afterwards."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support import holding, mounts
from support.command import answer
from support.interpreters import for_everybody
from support.user import AS_HIM, OrdinaryUser
from tmpwarden.processes import punching

pytestmark = mounts.needs_root

MB = 1 << 20
SIZE = 66 * MB  # what lies before the last 64 MB would go
APPENDS = "import os, sys; fd = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND); os.write(fd, b'line\\n')"


@pytest.fixture(autouse=True)
def a_short_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole second is for who opens a file for each read."""
    monkeypatch.setattr(punching, "_WATCH_S", 0.05)


@pytest.fixture
def path(own_world: Path) -> Path:
    file = own_world / "tmp" / "out.log"
    block = bytes(range(65, 91)) * 64 + b"\n"
    file.write_bytes((block * (SIZE // len(block) + 1))[:SIZE])
    return file


@contextlib.contextmanager
def running(*argv: str, **options: object) -> Iterator["subprocess.Popen[bytes]"]:
    """A program that waits for its stdin, and is killed at the end."""
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def has_open(pid: int, path: Path) -> bool:
    with contextlib.suppress(OSError):
        return any(os.path.samefile(f"/proc/{pid}/fd/{name}", path) for name in os.listdir(f"/proc/{pid}/fd"))
    return False


def once(is_so: Callable[[], bool]) -> None:
    """Wait until a program has come that far."""
    deadline = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextlib.contextmanager
def logger(path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """logger(1) prints each line that it is given to its stderr, which the shell has opened with >>."""
    with running("sh", "-c", 'exec logger --no-act --socket-errors=off -s 2>>"$1"', "sh", str(path)) as process:
        once(lambda: has_open(process.pid, path))
        yield process


def is_whole(path: Path, before: bytes) -> bool:
    """Nothing of what was there is lost; writers may have appended."""
    with path.open("rb") as file:
        return file.read(len(before)) == before


def asked(path: Path | str) -> tuple[int, dict[str, Any]]:
    return answer("brake", "--punch", str(path), "--yes")


def assert_refused(path: Path, *words: str) -> None:
    before = path.read_bytes()
    status, envelope = asked(path)
    assert is_whole(path, before), "what somebody still needs is gone"
    assert status == 3, envelope
    assert "needed" in envelope["error"]["message"]
    for word in words:
        assert word in envelope["error"]["message"]
    assert envelope["error"]["suggestion"]


def punched(path: Path) -> int:
    """The bytes that came back."""
    status, envelope = asked(path)
    assert status == 0, envelope
    return int(envelope["data"]["freed_bytes"])


def test_a_log_that_is_only_appended_to_is_punched(path: Path) -> None:
    end = path.read_bytes()[-MB:]
    with logger(path) as writer:
        assert punched(path) >= MB
        assert path.read_bytes()[SIZE - MB : SIZE] == end
        assert writer.stdin
        writer.stdin.write(b"one more\n")
        writer.stdin.flush()
        once(lambda: path.stat().st_size > SIZE)
        punched(path)  # and once more, when it has grown again


def test_a_database_that_sqlite_has_open_is_not_punched(own_world: Path) -> None:
    path = own_world / "tmp" / "store.db"
    fills = "create table t(x); insert into t values(randomblob(69000000));"
    subprocess.run(["sqlite3", str(path), fills], check=True)
    with running("sqlite3", str(path), stdout=subprocess.PIPE) as sqlite:
        assert sqlite.stdin and sqlite.stdout
        sqlite.stdin.write(b"begin; insert into t values(1); select 'begun';\n")
        sqlite.stdin.flush()
        assert sqlite.stdout.readline() == b"begun\n"
        assert_refused(path)
        sqlite.stdin.write(b"commit; pragma integrity_check;\n")
        sqlite.stdin.flush()
        assert sqlite.stdout.readline() == b"ok\n"


@pytest.mark.parametrize("how", ["by itself", "through >>", "through >"])
def test_a_tar_in_the_making_is_not_punched(own_world: Path, how: str) -> None:
    """Whatever comes last, the reader of an archive begins at the beginning."""
    member, path = own_world / "member", own_world / "tmp" / "out.tar"
    member.write_bytes(os.urandom(70 * MB))
    options = "-c --checkpoint=7000 --checkpoint-action='exec=read x' member"  # of 10 KB each: it waits in the middle
    script = {"by itself": f'exec tar -f "$1" {options}', "through >>": f'exec tar {options} >>"$1"'}
    script["through >"] = f'exec tar {options} >"$1"'
    with running("sh", "-c", script[how], "sh", str(path), cwd=own_world) as tar:
        once(lambda: path.exists() and path.stat().st_size >= SIZE)
        assert_refused(path)
        assert tar.stdin
        tar.stdin.close()
        tar.wait()
    assert subprocess.run(["tar", "-df", str(path), "member"], cwd=own_world, check=False).returncode == 0


@pytest.mark.parametrize("start", ["+1", "1"])
def test_a_file_that_tail_follows_is_not_punched(path: Path, start: str) -> None:
    """Not even at its end: nothing tells tail from a program that goes back to its first record."""
    argv = ["tail", "-n", start, "-f", str(path)]
    with logger(path), running(*argv, stdout=subprocess.PIPE if start == "+1" else subprocess.DEVNULL) as tail:
        once(lambda: has_open(tail.pid, path))
        assert_refused(path, f"process {tail.pid} (tail)", "reading")


def test_a_file_that_a_reader_has_only_opened_is_not_punched(path: Path) -> None:
    with path.open("rb") as file:
        reader = subprocess.Popen(["sleep", "300"], stdin=file)
    try:
        with logger(path):
            assert_refused(path, f"process {reader.pid} (sleep) has it open for reading")
    finally:
        reader.kill()
        reader.wait()


STORE = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_APPEND)
os.write(fd, b"a record\\n")
os.pread(fd, 9, 0)
"""


def test_a_store_that_reads_its_first_record_again_is_not_punched(path: Path) -> None:
    with holding.process(STORE, str(path)) as store:
        assert_refused(path, f"process {store.pid} (", "for reading and writing")


OPENS_AGAIN = """
import sys, threading, time
def read():
    while True:
        with open(sys.argv[1], "rb") as file: file.read(9)
        time.sleep(0.2)
threading.Thread(target=read, daemon=True).start()
"""


def test_a_store_that_opens_its_file_for_each_read_is_not_punched(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with logger(path), holding.process(OPENS_AGAIN, str(path)):
        assert_refused(path)


@pytest.mark.parametrize("moment", ["just opened", "went on"])
def test_a_reader_that_comes_in_between_is_noticed(path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    opened: list[int] = []

    def window(name: str) -> None:
        if name == "watched, the kernel not yet asked":
            opened.append(os.open(path, os.O_RDONLY))
            if moment == "went on":
                os.close(opened.pop())

    monkeypatch.setattr(punching, "_race_window", window)
    with logger(path):
        assert_refused(path, "a process opened or read it just now")
    for fd in opened:
        os.close(fd)


@pytest.mark.parametrize("mode", ["O_WRONLY", "O_RDWR"])
def test_a_writer_that_went_back_and_stands_at_the_end_again_is_not_punched(path: Path, mode: str) -> None:
    """A muxer writes its header last of all. Where it stands now tells nothing of where it was."""
    source = f"import os, sys; fd = os.open(sys.argv[1], os.{mode}); os.write(fd, b'HEAD'); os.lseek(fd, 0, 2)"
    with holding.process(source, str(path)):
        assert_refused(path)


def test_what_a_command_prints_through_a_plain_redirect_is_not_punched_and_the_refusal_says_how(path: Path) -> None:
    with running("sh", "-c", 'exec cat >"$1"', "sh", str(path)) as writer:
        assert writer.stdin
        once(lambda: has_open(writer.pid, path))
        status, envelope = answer("brake", "--punch", str(path), "--yes")
        assert status == 3
        assert f"process {writer.pid} (cat) did not open it for appending" in envelope["error"]["message"]
        assert f"tmpwarden brake --end {writer.pid}" in envelope["error"]["suggestion"]
        assert answer("brake", "--end", str(writer.pid))[0] == 0


def test_a_file_with_another_name_outside_the_roots_is_not_punched(path: Path, own_world: Path) -> None:
    kept = own_world / "kept.log"
    os.link(path, kept)
    with logger(path):
        assert_refused(path, "it has 2 names")
    assert kept.read_bytes()[:26] == bytes(range(65, 91))


MAPS = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
fd = os.open(sys.argv[1], os.O_RDONLY)
assert libc.mmap(None, ctypes.c_size_t(4096), 1, 2, fd, ctypes.c_long(0)) > 0
os.close(fd)
"""  # Python's own mmap keeps a descriptor


def test_a_file_that_is_mapped_and_not_open_is_not_punched(path: Path) -> None:
    with logger(path), holding.process(MAPS, str(path)) as reader:
        assert_refused(path, f"process {reader.pid} (", "mapped")


def test_a_reader_under_another_name_in_another_mount_namespace_is_seen(path: Path, own_world: Path) -> None:
    """`brake` finds writers by the names below the roots; who else uses the file is asked by device and inode."""
    (own_world / "elsewhere").mkdir()
    script = 'mount --bind "$1" "$2" && echo ready && exec sleep 300 <"$2/out.log"'
    argv = ["unshare", "--mount", "sh", "-c", script, "sh", str(path.parent), str(own_world / "elsewhere")]
    with logger(path), running(*argv, stdout=subprocess.PIPE) as reader:
        assert reader.stdout and reader.stdout.readline() == b"ready\n"
        once(lambda: has_open(reader.pid, path))
        assert_refused(path, f"process {reader.pid} (sleep)")


def test_another_users_reader_is_seen(path: Path) -> None:
    with path.open("rb") as file:
        argv = [for_everybody(), "-I", "-c", "import time; time.sleep(300)"]
        reader = subprocess.Popen(argv, stdin=file, cwd="/", env={}, **AS_HIM)
    try:
        with logger(path):
            assert_refused(path, f"process {reader.pid} (", "for reading")
    finally:
        reader.kill()
        reader.wait()


OF_A_THREAD = """
import ctypes, os, sys, threading
done = threading.Event()
def read():
    assert ctypes.CDLL(None).unshare(0x400) == 0  # CLONE_FILES
    os.open(sys.argv[1], os.O_RDONLY)
    done.set()
    threading.Event().wait()
threading.Thread(target=read, daemon=True).start()
done.wait()
"""


def test_a_reader_in_a_thread_with_files_of_its_own_is_seen(path: Path) -> None:
    with logger(path), holding.process(OF_A_THREAD, str(path)) as reader:
        assert_refused(path, f"process {reader.pid} (", "for reading")


NOT_SHOWN = "something that /proc does not show has it open"
IN_FLIGHT = """
import os, socket, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
ends = socket.socketpair()
socket.send_fds(ends[0], [b"x"], [fd])
os.close(fd)
"""
# io_uring_setup and io_uring_register(IORING_REGISTER_FILES): the ring holds the file, in nobody's table.
IN_A_RING = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
ring = libc.syscall(425, 4, ctypes.create_string_buffer(256))
assert ring >= 0, ctypes.get_errno()
fd = os.open(sys.argv[1], os.O_RDONLY)
assert libc.syscall(427, ring, 2, (ctypes.c_int * 1)(fd), 1) == 0, ctypes.get_errno()
os.close(fd)
"""


def has_rings() -> bool:
    source = "import ctypes; print(ctypes.CDLL(None).syscall(425, 4, ctypes.create_string_buffer(256)))"
    return int(subprocess.run([for_everybody(), "-c", source], capture_output=True, check=True).stdout) >= 0


@pytest.fixture(params=["in flight", "in a ring"])
def hidden(request: pytest.FixtureRequest) -> str:
    """Holds a file in a way that /proc shows nowhere."""
    if request.param == "in a ring" and not has_rings():
        pytest.skip("this kernel gives nobody a ring")
    return IN_FLIGHT if request.param == "in flight" else IN_A_RING


def test_a_reader_that_proc_does_not_show_keeps_the_file(path: Path, hidden: str) -> None:
    with logger(path), holding.process(hidden, str(path)):
        assert_refused(path, NOT_SHOWN)


def test_a_file_that_is_on_its_way_elsewhere_is_no_matter(path: Path, hidden: str, own_world: Path) -> None:
    other = own_world / "other"
    other.touch()
    with logger(path), holding.process(hidden, str(other)):
        assert punched(path) >= MB


def test_two_that_opened_it_for_appending_are_refused_because_the_kernel_cannot_tell_a_third(path: Path) -> None:
    with logger(path) as one, logger(path) as two:
        status, envelope = asked(path)
        assert status == 3
        assert "may also have opened it" in envelope["error"]["message"]
        first, second = sorted((one, two), key=lambda each: each.pid)
        assert f"--end {second.pid}" in envelope["error"]["suggestion"]
        assert answer("brake", "--end", str(second.pid))[0] == 0
        second.wait()
        assert punched(path) >= MB
        assert first.poll() is None


def test_a_shell_and_its_commands_that_share_one_redirect_count_as_one_writer(path: Path) -> None:
    with running("sh", "-c", 'exec >>"$1"; cat; cat', "sh", str(path)) as shell:
        once(lambda: has_open(shell.pid, path))
        once(lambda: Path(f"/proc/{shell.pid}/task/{shell.pid}/children").read_text() != "")
        assert punched(path) >= MB


def test_who_opens_it_after_the_kernel_was_asked_waits_at_the_door_and_stops_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []

    def window(name: str) -> None:
        if name == "the kernel asked, not yet punched":
            with pytest.raises(BlockingIOError):
                os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            refused.append(name)

    monkeypatch.setattr(punching, "_race_window", window)
    with logger(path):
        assert_refused(path, "a process is opening it right now")
    assert refused


def test_no_lease_is_left_behind(path: Path) -> None:
    """Whoever opens the file afterwards does not wait, and we are sent no signal for it."""
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    try:
        with logger(path):
            punched(path)
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    finally:
        signal.signal(signal.SIGIO, before)
    with logger(path), path.open("rb"):
        assert_refused(path, "for reading")


def test_an_image_behind_a_loop_device_is_not_punched(path: Path) -> None:
    made = subprocess.run(["losetup", "--find", "--show", str(path)], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"this machine has no loop devices: {made.stderr}")
    try:
        with logger(path):
            assert_refused(path, NOT_SHOWN)
    finally:
        subprocess.run(["losetup", "--detach", made.stdout.strip()], check=True)


@pytest.fixture
def his(ordinary_user: OrdinaryUser) -> Path:
    path = ordinary_user.tmp / "out.log"
    path.write_bytes(b"x" * SIZE)
    os.chown(path, AS_HIM["user"], AS_HIM["group"])
    return path


def test_an_ordinary_user_punches_his_log_whatever_roots_processes_hide(ordinary_user: OrdinaryUser, his: Path) -> None:
    with holding.process(APPENDS, str(his), python=ordinary_user.python, **AS_HIM):
        done = ordinary_user.tmpwarden("brake", "--punch", str(his), "--yes")
        assert (done.returncode, done.stderr) == (0, "")
        assert his.stat().st_blocks * 512 <= 64 * MB + 8192


def test_what_root_reads_is_kept_from_its_owner_who_is_told_what_to_do(ordinary_user: OrdinaryUser, his: Path) -> None:
    """He cannot look into root's process; the kernel can."""
    with holding.process(APPENDS, str(his), python=ordinary_user.python, **AS_HIM), his.open("rb"):
        done = ordinary_user.tmpwarden("brake", "--punch", str(his), "--yes")
    assert done.returncode == 3, done.stdout
    assert NOT_SHOWN in done.stderr
    assert f'sudo "$(command -v tmpwarden)" brake --punch {his}' in done.stderr
    assert is_whole(his, b"x" * SIZE)


# A filter as Docker and many distributions have one (seccomp): pidfd_getfd, 438, answers EPERM, all else passes.
REFUSING = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
lines = [(0x20, 0, 0, 0), (0x15, 0, 1, 438), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7FFF0000)]
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(lines), ctypes.addressof(text)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0
os.execv(sys.executable, [sys.executable, "-m", "tmpwarden", *sys.argv[1:]])
"""


def test_where_the_kernel_may_not_be_asked_the_file_stays_and_the_refusal_says_how(
    ordinary_user: OrdinaryUser, his: Path
) -> None:
    """As on Ubuntu, where kernel.yama.ptrace_scope lets nobody but root ask."""
    with holding.process(APPENDS, str(his), python=ordinary_user.python, **AS_HIM):
        done = ordinary_user.code(REFUSING, "brake", "--punch", str(his), "--yes")
    assert done.returncode == 7, (done.stdout, done.stderr)
    assert "does not let us ask who else has" in done.stderr
    assert f'sudo "$(command -v tmpwarden)" brake --punch {his}' in done.stderr
    assert is_whole(his, b"x" * SIZE)


def test_a_file_where_a_doubt_cannot_be_settled_is_not_punched(own_world: Path, tmp_path: Path) -> None:
    """On overlayfs a file is open as another one than /proc tells."""
    lower, upper, work = (tmp_path / name for name in ("lower", "upper", "work"))
    for each in (lower, upper, work):
        each.mkdir()
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    with mounts.mounted(own_world / "tmp" / "layers", "-t", "overlay", "-o", options, "overlay") as root:
        path = root / "out.log"
        path.write_bytes(b"x" * SIZE)
        with logger(path):
            assert_refused(path, "on its file system the kernel cannot tell")


def test_a_stopped_writer_that_appends_is_punched(path: Path) -> None:
    """What `brake` does when a disk is nearly full: the writer waits, its file is made smaller, it was resumed."""
    with holding.process(APPENDS, str(path)) as writer:
        writer.send_signal(signal.SIGSTOP)
        try:
            assert punched(path) >= MB
        finally:
            writer.send_signal(signal.SIGCONT)
