"""The self-test: a child of ours holds a file, a working directory, a mapping and an environment, and a look must find
all of them, at the right place and by the right path."""

from __future__ import annotations

import os
import signal
import sys
import time

from ....model.terms import WitnessKind
from ...files import own_dirs, own_files
from . import ending, everybody, identities, libproc, processes

_VARIABLE = "TMPWARDEN_PROOF"
_READY_S, _ENDS_S = 30.0, 10.0
_FILES, _DIRECTORIES = ("held", "mapped"), ("worked-in", "temp", "untouched")
# mmap keeps a descriptor of its own, so whatever is open but the first file is closed after it
_CHILD = """
import mmap, os, sys
place = sys.argv[1]
held = os.open(place + "/held", os.O_RDONLY)
file = os.open(place + "/mapped", os.O_RDONLY)
kept = mmap.mmap(file, 0, access=mmap.ACCESS_READ)
os.closerange(held + 1, 256)
os.chdir(place + "/worked-in")
os.write(1, b"+")
os.read(0, 1)
"""


def tried(place: str) -> str:
    """Raises OSError: it could not be tried."""
    own_dirs.make_private_dir(place)
    try:
        for name in _DIRECTORIES:
            own_dirs.make_private_dir(f"{place}/{name}")
        for name in _FILES:
            with open(f"{place}/{name}", "wb") as file:
                file.write(b"x" * 4096)
        return _with_child(place)
    finally:
        for name in _FILES:
            own_files.remove_file(f"{place}/{name}")
        for name in (*_DIRECTORIES, ""):
            own_files.remove_empty_dir(f"{place}/{name}".rstrip("/"))


def _with_child(place: str) -> str:
    token = os.path.basename(place) + "-" + os.urandom(8).hex()
    pid, to_child, from_child = _started(place, token)
    try:
        _wait_for(from_child)
        queue = ending.hold(pid)
        try:
            why = _seen(place, token, pid)
            os.close(to_child)
            to_child = -1
            return why or _ended(queue, pid)
        finally:
            os.close(queue)
    finally:
        for fd in (to_child, from_child):
            if fd >= 0:
                os.close(fd)
        _reap(pid)


def _started(place: str, token: str) -> tuple[int, int, int]:
    theirs_in, to_child = os.pipe()
    from_child, theirs_out = os.pipe()
    actions = [
        (os.POSIX_SPAWN_DUP2, theirs_in, 0),
        (os.POSIX_SPAWN_DUP2, theirs_out, 1),
        (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
    ]
    environment = {"TMPDIR": f"{place}/temp", _VARIABLE: token}
    try:
        argv = [sys.executable, "-I", "-S", "-c", _CHILD, place]
        pid = os.posix_spawn(sys.executable, argv, environment, file_actions=actions)
    except BaseException:
        os.close(to_child)
        os.close(from_child)
        raise
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
    return pid, to_child, from_child


def _wait_for(pipe: int) -> None:
    import select

    poll = select.poll()
    poll.register(pipe, select.POLLIN | select.POLLHUP)
    if not poll.poll(_READY_S * 1000) or os.read(pipe, 1) != b"+":
        raise TimeoutError(60, "a child of ours did not begin")


def _seen(place: str, token: str, pid: int) -> str:
    """What a look did not find; "" if it found all, and nothing that is not there."""
    seen = everybody.Seen()
    everybody.Pass(seen, (_VARIABLE,), frozenset(), closely=True).look()
    wanted = {
        "held": (WitnessKind.OPEN_FILE, "a file open"),
        "worked-in": (WitnessKind.WORKING_DIRECTORY, "a working directory"),
        "mapped": (WitnessKind.MAPPED_FILE, "a file mapped into its memory"),
        "temp": (WitnessKind.TMPDIR, "an environment that names a temp directory"),
    }
    for name, (kind, words) in wanted.items():
        uses = [use for use in seen.uses if use[1] == pid and everybody.KINDS[use[0]] is kind]
        here = identities.locate(f"{place}/{name}")
        if not any(here is not None and here in keys for _, _, _, keys in uses):
            return f"macOS did not tell that a process of ours has {words}"
        paths = {detail.partition("=")[2] if kind is WitnessKind.TMPDIR else detail for _, _, detail, _ in uses}
        if not any(identities.locate(path) == here for path in paths):
            return f"macOS did not tell the right path where a process of ours has {words}"
    untouched = identities.locate(f"{place}/untouched")
    if any(use[1] == pid and untouched in use[3] for use in seen.uses):
        return "macOS told that a process of ours uses what it does not use"
    if not any(use[1] == pid and identities.locate(place) in use[3] for use in seen.uses):
        return "macOS did not tell in which directory a process of ours has a file open"
    if (_VARIABLE, token, pid) not in seen.sessions:
        return "macOS did not tell the environment of a process of ours"
    return _identified(pid)


def _identified(pid: int) -> str:
    ours, child = processes.basics(os.getpid()), processes.basics(pid)
    if ours is None or child is None or child.unique in (0, ours.unique):
        return "macOS did not tell a process of ours from another one"
    if child.parent != os.getpid() or child.unique_parent != ours.unique or child.uid != os.geteuid():
        return "macOS did not tell who started a process of ours"
    if b"-S" not in processes.arguments(pid):
        return "macOS did not tell the arguments of a process of ours"
    if sorted(libproc.descriptors(pid, room=16)) != sorted(libproc.descriptors(pid)):
        return "macOS told only a part of what a process of ours has open"
    return ""


def _ended(queue: int, pid: int) -> str:
    import select

    if not select.select([queue], [], [], _ENDS_S)[0]:
        return "macOS did not tell that a process of ours has ended"
    basics = processes.basics(pid)
    return "" if basics is None or basics.has_ended else "macOS told that a process of ours lives, which has ended"


def _reap(pid: int) -> None:
    """Its input is closed, so it has ended or is about to."""
    until = time.monotonic() + _ENDS_S
    try:
        while os.waitpid(pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > until:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)
    except (ChildProcessError, ProcessLookupError):
        return  # a host that reaps everybody's children
