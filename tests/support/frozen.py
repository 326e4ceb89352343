"""A real FUSE mount whose daemon can be stopped: whoever touches it then waits for ever. Needs root and /dev/fuse."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

needs_fuse = pytest.mark.skipif(
    os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="needs root and /dev/fuse to mount"
)

# Speaks the kernel's protocol as far as an empty directory needs it (include/uapi/linux/fuse.h).
_DAEMON = r"""
import ctypes, errno, os, struct, sys, time
fd = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(1, 9)  # with the test that made it, also when that is killed: nobody else would wake it
if libc.mount(b"frozen", os.fsencode(sys.argv[1]), b"fuse.frozen", 6, options):
    sys.exit(os.strerror(ctypes.get_errno()))
print("ready", flush=True)
INIT, GETATTR, STATFS, OPENDIR, READDIR, RELEASEDIR, FORGET, INTERRUPT = 26, 3, 17, 27, 28, 29, 2, 36
mode, owner = 0o40700, int(sys.argv[2])
attr = struct.pack("<QQQQQQIIIIIIIIII", 1, 0, 0, 0, 0, 0, 0, 0, 0, mode, 2, owner, owner, 0, 4096, 0)
answers = {
    INIT: struct.pack("<IIIIHHIIHHIIIIIII", 7, 31, 0, 0, 0, 0, 1 << 16, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)[:64],
    GETATTR: struct.pack("<QII", 0, 0, 0) + attr,
    STATFS: struct.pack("<QQQQQIIII24x", 100, 50, 50, 100, 50, 4096, 255, 4096, 0),
    OPENDIR: struct.pack("<QII", 0, 0, 0),
    READDIR: b"",
    RELEASEDIR: b"",
}
while True:
    try:
        request = os.read(fd, 1 << 17)
    except OSError as error:
        if error.errno == errno.ENODEV:
            break
        continue
    _, opcode, unique = struct.unpack_from("<IIQ", request)
    if opcode in (FORGET, INTERRUPT, 42):
        continue
    answer = answers.get(opcode)
    number = -errno.ENOENT if opcode == 1 else -errno.ENOSYS if answer is None else 0
    os.write(fd, struct.pack("<IiQ", 16 + len(answer or b""), number, unique) + (answer or b""))
"""


@contextlib.contextmanager
def fuse(point: Path, *, owner: int = 0, stopped: bool = True) -> Iterator[Path]:
    """An empty directory on FUSE; `stopped`: its daemon is, so that nobody gets an answer any more."""
    point.mkdir(parents=True, exist_ok=True)
    daemon = subprocess.Popen(
        [sys.executable, "-I", "-c", _DAEMON, str(point), str(owner)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd="/",
    )
    assert daemon.stdout
    try:
        assert daemon.stdout.readline() == b"ready\n"
        os.listdir(point)  # it answers
        if stopped:
            daemon.send_signal(signal.SIGSTOP)
        yield point
    finally:
        daemon.send_signal(signal.SIGCONT)
        daemon.kill()  # the kernel ends every wait for it
        daemon.wait()
        daemon.stdout.close()
        subprocess.run(["umount", "--lazy", str(point)], check=False, capture_output=True)


def _main(argv: list[str]) -> int:
    at = argv.index("--")
    with contextlib.ExitStack() as mounts:
        for point in argv[:at]:
            mounts.enter_context(fuse(Path(point)))
        return subprocess.run(argv[at + 1 :], check=False).returncode


def beside(
    points: list[Path], argv: list[str], said: str = "", timeout_s: float = 60
) -> "subprocess.CompletedProcess[str]":
    """What a program says while all of `points` hang, in a mount namespace of its own: nobody else meets them."""
    ours = [*("unshare", "-m", sys.executable, __file__), *map(str, points), "--", *argv]
    return subprocess.run(ours, input=said, text=True, capture_output=True, timeout=timeout_s)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
