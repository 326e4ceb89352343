"""A real FUSE mount whose daemon can be stopped: whoever touches it then waits for ever. Needs root and /dev/fuse."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

needs_fuse = pytest.mark.skipif(
    os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="needs root and /dev/fuse to mount"
)

# Speaks the kernel's protocol as far as an empty directory needs it (include/uapi/linux/fuse.h).
_DAEMON = r"""
import ctypes, errno, os, select, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(1, 9)  # with the test that made it, also when that is killed: nobody else would wake it
asked = select.poll()
for point in sys.argv[2:]:
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"frozen", os.fsencode(point), b"fuse.frozen", 6, options):
        sys.exit(os.strerror(ctypes.get_errno()))
    asked.register(fd, select.POLLIN)
print("ready", flush=True)
INIT, GETATTR, STATFS, OPENDIR, READDIR, RELEASEDIR, FORGET, INTERRUPT = 26, 3, 17, 27, 28, 29, 2, 36
mode, owner = 0o40700, int(sys.argv[1])
attr = struct.pack("<QQQQQQIIIIIIIIII", 1, 0, 0, 0, 0, 0, 0, 0, 0, mode, 2, owner, owner, 0, 4096, 0)
answers = {
    INIT: struct.pack("<IIIIHHIIHHIIIIIII", 7, 31, 0, 0, 0, 0, 1 << 16, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)[:64],
    GETATTR: struct.pack("<QII", 0, 0, 0) + attr,
    STATFS: struct.pack("<QQQQQIIII24x", 100, 50, 50, 100, 50, 4096, 255, 4096, 0),
    OPENDIR: struct.pack("<QII", 0, 0, 0),
    READDIR: b"",
    RELEASEDIR: b"",
}
def answer(fd):
    request = os.read(fd, 1 << 17)
    _, opcode, unique = struct.unpack_from("<IIQ", request)
    if opcode in (FORGET, INTERRUPT, 42):
        return
    answer = answers.get(opcode)
    number = -errno.ENOENT if opcode == 1 else -errno.ENOSYS if answer is None else 0
    os.write(fd, struct.pack("<IiQ", 16 + len(answer or b""), number, unique) + (answer or b""))
while True:
    for fd, _ in asked.poll():
        try:
            answer(fd)
        except OSError as error:
            if error.errno == errno.ENODEV:  # unmounted
                asked.unregister(fd)
"""


@contextlib.contextmanager
def fuse(point: Path, *others: Path, owner: int = 0, stopped: bool = True) -> Iterator[Path]:
    """An empty directory on FUSE, and others; `stopped`: their daemon is, so that nobody gets an answer any more."""
    points = (point, *others)
    for each in points:
        each.mkdir(parents=True, exist_ok=True)
    daemon = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _DAEMON, str(owner), *map(str, points)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd="/",
    )
    assert daemon.stdout
    try:
        assert daemon.stdout.readline() == b"ready\n"
        for each in points:
            os.listdir(each)  # it answers
        if stopped:
            daemon.send_signal(signal.SIGSTOP)
        yield point
    finally:
        daemon.send_signal(signal.SIGCONT)
        daemon.kill()  # the kernel ends every wait for it
        daemon.wait()
        daemon.stdout.close()
        subprocess.run(["umount", "--lazy", *map(str, points)], check=False, capture_output=True)


def _main(points: list[str]) -> None:
    asked = json.load(sys.stdin)
    with fuse(*map(Path, points)):
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        started = [subprocess.Popen(argv, **pipes, text=True) for argv in asked["programs"]]
        told = [each.communicate(asked["said"]) for each in started]
    print(json.dumps([[each.returncode, *said] for each, said in zip(started, told, strict=True)]))


def beside(
    points: list[Path], programs: Sequence[Sequence[str]], said: str = "", timeout_s: float = 60
) -> "list[subprocess.CompletedProcess[str]]":
    """What programs that start together say while all of `points` hang, in a mount namespace of its own: nobody else
    meets them."""
    ours = ["unshare", "-m", sys.executable, __file__, *map(str, points)]
    asked = json.dumps({"programs": [list(map(str, argv)) for argv in programs], "said": said})
    done = subprocess.run(ours, input=asked, text=True, capture_output=True, timeout=timeout_s, check=True)
    return [
        subprocess.CompletedProcess(argv, *ended) for argv, ended in zip(programs, json.loads(done.stdout), strict=True)
    ]


if __name__ == "__main__":
    _main(sys.argv[1:])
