"""A program, run as root and as an ordinary user: plants every trap in a unit of its own, cleans, tells what is left.

usage: traps.py ROOT    prints {"held": {trap: bool}, "free": {trap: bool}}: is the unit still there while its holder
lives, and after it ended. Traps that need another user or a mount are planted by the test beforehand.
"""

import fcntl
import json
import os
import signal
import socket
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from tmpwarden.sweep.compose import clean


def later() -> int:
    return time.time_ns() + 100 * 3600 * 10**9


def unit(root: Path, trap: str) -> Path:
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, trap))
    path = root / f"claude-{os.geteuid()}" / "-p" / session
    path.mkdir(parents=True)
    (path / "stale").write_text("x")
    registry = Path(os.environ["HOME"]) / ".claude" / "sessions"
    registry.mkdir(parents=True, exist_ok=True)
    pid = 4_000_000 + len(list(registry.iterdir()))
    (registry / f"{pid}.json").write_text(json.dumps({"pid": pid, "sessionId": session, "procStart": "1"}))
    return path


def holder(act: Callable[[], object]) -> int:
    """Fork a child that does `act` and waits to be ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        kept = act()
        os.write(writing, b"x")
        signal.pause()
        os._exit(0 if kept else 1)
    os.read(reading, 1)
    return child


def posix_lock(path: Path) -> object:
    file = path.open("r+")
    fcntl.lockf(file, fcntl.LOCK_EX)
    return file


def flock(path: Path) -> object:
    fd = os.open(path, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd


def listen(path: Path) -> object:
    server = socket.socket(socket.AF_UNIX)
    os.chdir(path.parent)
    server.bind(path.name)
    server.listen()
    os.chdir("/")
    return server


def plant_passive(root: Path) -> dict[str, Path]:
    """Traps that need no process: what may go, and what a law keeps."""
    units = {name: unit(root, name) for name in PASSIVE}
    (units["symlink to a directory"] / "link").symlink_to(root.parent / "victim")
    (units["dead socket"] / "s").parent.mkdir(exist_ok=True)
    listen(units["dead socket"] / "s").close()  # type: ignore[attr-defined]
    os.mkfifo(units["fifo"] / "pipe")
    (units["sticky file"] / "stale").chmod(0o1644)
    os.link(units["hard link"] / "stale", root.parent / "hard")
    (units["read-only directory"] / "d").mkdir()
    (units["read-only directory"] / "d" / "f").write_text("x")
    (units["read-only directory"] / "d").chmod(0o500)
    (units["name with a newline"] / "a\nb").write_text("x")
    (Path(os.fsdecode(os.fsencode(units["name that is no UTF-8"]) + b"/\xff\xfe"))).write_text("x")
    os.utime(units["fresh file"] / "stale", ns=(later(), later()))
    (units["deep tree"] / "/".join(["d"] * 300)).mkdir(parents=True)
    (units["empty mode"] / "shut").mkdir(mode=0o000)
    return units


def plant_held(root: Path) -> tuple[dict[str, Path], list[int]]:
    units = {name: unit(root, name) for name in HELD}
    children = [
        holder(lambda: (units["file held open"] / "stale").open()),
        holder(lambda: flock(units["file under flock"] / "stale")),
        holder(lambda: posix_lock(units["file under POSIX lock"] / "stale")),
        holder(lambda: flock(units["directory under flock"])),
        holder(lambda: listen(units["listening socket"] / "s")),
        holder(lambda: os.chdir(units["working directory"]) or True),
    ]
    return units, children


PASSIVE = (
    "control",
    "symlink to a directory",
    "dead socket",
    "fifo",
    "sticky file",
    "hard link",
    "read-only directory",
    "name with a newline",
    "name that is no UTF-8",
    "fresh file",
    "deep tree",
    "empty mode",
)
HELD = (
    "file held open",
    "file under flock",
    "file under POSIX lock",
    "directory under flock",
    "listening socket",
    "working directory",
)


def main(root: Path) -> None:
    passive = plant_passive(root)
    held, children = plant_held(root)
    clean(now_ns=later)
    units = {**passive, **held}
    while_held = {name: path.exists() for name, path in units.items()}
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    clean(now_ns=later)
    print(json.dumps({"held": while_held, "free": {name: path.exists() for name, path in units.items()}}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
