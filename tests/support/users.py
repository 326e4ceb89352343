"""Real processes that use a unit in exactly one way each, and owners that are dead or alive."""

import contextlib
import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from support.holding import left_behind, process
from tmpwarden.leases import scratch
from tmpwarden.model.belongings import Lease
from tmpwarden.oskit.proc import namespaces, procs

Uses = Callable[[Path], contextlib.AbstractContextManager[object]]

SESSION = str(uuid.uuid4())  # one for each test process: they run side by side
LIBC = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    if getattr(libc, name)(*args) == -1: raise OSError(ctypes.get_errno(), name)
def own_mounts():
    call("unshare", 0x00020000)
    call("mount", b"none", b"/", None, 0x4000 | 0x40000, None)  # MS_REC | MS_PRIVATE
def bind(source, point):
    call("mount", os.fsencode(source), os.fsencode(point), None, 0x1000, None)
"""
OPEN = "import os, sys; fd = os.open(sys.argv[1], os.O_RDONLY)"
IN_FLIGHT = """
import array, os, socket, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
ends = socket.socketpair()
ends[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
os.close(fd)
"""
MAP = (
    LIBC
    + """
fd = os.open(sys.argv[1], os.O_RDONLY)  # mmap.mmap would keep a descriptor of its own
libc.mmap.restype = ctypes.c_void_p
assert libc.mmap(None, ctypes.c_size_t(4096), 1, 2, fd, ctypes.c_long(0)) != ctypes.c_void_p(-1).value
os.close(fd)
"""
)
# The locked file lies in the queue of a socket, in nobody's table of open files.
LOCK = """
import array, fcntl, os, socket, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(fd, fcntl.LOCK_EX)
ends = socket.socketpair()
ends[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
os.close(fd)
"""
LISTEN = """
import os, socket, sys
os.chdir(os.path.dirname(sys.argv[1]))
server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
server.bind(os.path.basename(sys.argv[1]))
server.listen()
os.chdir("/")
"""
BIND_ELSEWHERE = LIBC + "own_mounts(); bind(sys.argv[1], sys.argv[2])"
MOUNT_INSIDE = LIBC + "own_mounts(); call('mount', b'tmpfs', os.fsencode(sys.argv[1]), b'tmpfs', 0, None)"
OPEN_UNDER_ANOTHER_NAME = BIND_ELSEWHERE + "; fd = os.open(sys.argv[2] + '/file', os.O_RDONLY)"
OPEN_IN_A_GRANDCHILD = """
import os, sys
if os.fork() == 0:
    if os.fork() == 0:
        fd = os.open(sys.argv[1], os.O_RDONLY)
        print("ready", flush=True)
        sys.stdin.read()
    os._exit(0)
os.wait()
os._exit(0)
"""
WITHOUT_ITS_FIRST_THREAD = """
import ctypes, os, sys, threading
def go_on():
    while open("/proc/self/stat").read().rsplit(") ", 1)[1][0] != "Z": pass
    print("ready", flush=True)
    sys.stdin.read()
    os._exit(0)
threading.Thread(target=go_on).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def fill(unit: Path) -> Path:
    (unit / "deep" / "er").mkdir(parents=True)
    (unit / "deep" / "file").write_text("x" * 5000)
    return unit


def opens_a_file(unit: Path) -> contextlib.AbstractContextManager[object]:
    return process(OPEN, str(unit / "deep" / "file"))


def opens_a_directory(unit: Path) -> contextlib.AbstractContextManager[object]:
    return process(OPEN, str(unit / "deep"))


def works_in_it(unit: Path) -> contextlib.AbstractContextManager[object]:
    return process("", cwd=unit / "deep")


def is_rooted_in_it(unit: Path) -> contextlib.AbstractContextManager[object]:
    return process("import os, sys; os.chroot(sys.argv[1])", str(unit / "deep"))


@contextlib.contextmanager
def runs_a_program_in_it(unit: Path) -> Iterator[object]:
    program = unit / "deep" / "cat"
    if not program.exists():
        shutil.copy2("/bin/cat", program)
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/", env={}) as running:
        assert running.stdin
        assert running.stdout
        running.stdin.write(b"ready\n")
        running.stdin.flush()
        assert running.stdout.readline() == b"ready\n"
        yield running


def maps_a_file(unit: Path) -> contextlib.AbstractContextManager[object]:
    return process(MAP, str(unit / "deep" / "file"))


def has_its_tmpdir_in_it(unit: Path) -> contextlib.AbstractContextManager[object]:
    return process("", env={"TMPDIR": str(unit / "deep")})


def carries_the_session(unit: Path) -> contextlib.AbstractContextManager[object]:
    return process("", env={"CLAUDE_CODE_SESSION_ID": SESSION})


def locks_a_file(unit: Path) -> contextlib.AbstractContextManager[object]:
    return process(LOCK, str(unit / "deep" / "file"))


@contextlib.contextmanager
def listens_in_it(unit: Path) -> Iterator[object]:
    with process(LISTEN, str(unit / "deep" / "s")) as running:
        yield running


def has_a_part_mounted_elsewhere(unit: Path) -> contextlib.AbstractContextManager[object]:
    return process(BIND_ELSEWHERE, str(unit / "deep"), "/mnt")


def has_something_mounted_in_it(unit: Path) -> contextlib.AbstractContextManager[object]:
    return process(MOUNT_INSIDE, str(unit / "deep" / "er"))


def opens_it_under_another_name(unit: Path) -> contextlib.AbstractContextManager[object]:
    return process(OPEN_UNDER_ANOTHER_NAME, str(unit / "deep"), "/mnt")


@contextlib.contextmanager
def opens_it_in_a_grandchild(unit: Path) -> Iterator[object]:
    """The process that was started is gone; what it left behind holds the file."""
    with left_behind(OPEN_IN_A_GRANDCHILD, str(unit / "deep" / "file")) as parent:
        assert parent.wait(timeout=30) == 0
        yield parent


def dead_process() -> tuple[int, int]:
    """(pid, start ticks) of a process that has ended."""
    with process("") as running:
        start = procs.start_ticks(running.pid)
        assert start is not None
    return running.pid, start


def leased_scratch(root: Path, *, session: str = SESSION, owner: tuple[int, int] | None = None) -> Path:
    """A filled scratch of an agent that is gone (or of `owner`)."""
    pid, start = owner or dead_process()
    return fill(Path(scratch.open_scratch(str(root), "claude", session, pid=pid, start=start).path))


def write_lease(unit: Path, **changes: object) -> None:
    """Change fields of the lease beside a scratch."""
    path = Path(f"{unit}.lease")
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def session_directory(root: Path, session: str = SESSION) -> Path:
    """A session's directory as Claude Code lays it out."""
    return fill(root / f"claude-{os.geteuid()}" / "-work" / session)


def register(home: Path, pid: int, session: str = SESSION, **changes: object) -> Path:
    """An entry of Claude Code's registry for that process."""
    folder = home / ".claude" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    entry = {
        "pid": pid,
        "sessionId": session,
        "cwd": "/work",
        "startedAt": 1794821935123,
        "procStart": str(procs.start_ticks(pid) or 1),
        "pidDomain": f"linux:{namespaces.machine_id()}:{namespaces.pid_namespace()}",
        "status": "idle",
        **changes,
    }
    path = folder / f"{pid}.json"
    path.write_text(json.dumps(entry))
    return path


def lease_of(unit: Path) -> Lease:
    lease = scratch.read(str(unit))
    assert lease is not None
    return lease
