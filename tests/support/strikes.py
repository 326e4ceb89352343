"""Strike at one system call of a program: a SIGKILL instead of it, or an error out of it, by strace.

The program is a function in a forked child that strace is attached to: no interpreter starts, no import is struck, and
the first call that counts is the program's own. Or it becomes a command, of whose calls only those about given places
count. `record` lists the calls; `strike` runs it again with one blow.
"""

import contextlib
import ctypes
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

Program = Callable[[], int]  # a command replaces the child by itself: os.execve
Afterwards = Callable[[], object]  # when the program has ended, and what it started in the background perhaps not

MUTATING = (
    "openat", "write", "pwrite64", "writev", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir",
    "mkdirat", "mknod", "mknodat", "link", "linkat", "symlink", "symlinkat", "chmod", "fchmod", "fchmodat", "fchmodat2",
    "truncate", "ftruncate", "fallocate", "fsync", "fdatasync", "utimensat", "setxattr", "fsetxattr", "lsetxattr",
    "fchown", "fchownat", "lchown", "copy_file_range", "sendfile", "flock",
)  # fmt: skip
READING = ("openat", "read", "pread64", "getdents64", "readlink", "readlinkat", "newfstatat", "statx", "fstat")
_WRITES = re.compile(r"O_(WRONLY|RDWR|CREAT|TRUNC|TMPFILE)")
_ENTERED = re.compile(r"(\d+) +(\w+)\((.*)")
_PR_SET_PTRACER = 0x59616D61
_ENDS_WITHIN_S = 120.0  # at any load: an ordinary trial takes half a second


@dataclass(frozen=True)
class Call:
    """The `number`-th call of this name in its process, as strace tells it."""

    name: str
    number: int
    text: str


@dataclass(frozen=True)
class Blow:
    """What happens instead of a call; `lasting`: and of every later one of that name."""

    call: Call
    error: str = ""  # EIO, ...; none: SIGKILL
    lasting: bool = False

    @property
    def option(self) -> str:
        what = f"error={self.error}" if self.error else "signal=KILL"
        return f"inject={self.call.name}:{what}:when={self.call.number}{'+' if self.lasting else ''}"

    def __str__(self) -> str:
        return f"{self.error or 'SIGKILL'}{' from then on' if self.lasting else ''} at {self.call.name}"


@dataclass(frozen=True)
class Ended:
    """How the program ended: its status (-9: killed), what it said, and where the blow fell ("": nowhere)."""

    status: int
    out: str
    err: str
    hit: str


@cache
def why_not() -> str:
    """Why strace cannot be used here, or ""."""
    if shutil.which("strace") is None:
        return "needs the program strace"
    tried = ["strace", "-f", "-e", "trace=none", "-e", "inject=rmdir:error=EIO", "true"]
    if subprocess.run(tried, capture_output=True, check=False).returncode != 0:
        return "this machine does not allow to trace a process"
    return ""


@dataclass(frozen=True)
class Sought:
    """Calls of these names about a path that starts with `within`."""

    names: tuple[str, ...]
    within: str

    def has(self, name: str, text: str) -> bool:
        if name not in self.names or (name == "openat" and self.names is MUTATING and not _WRITES.search(text)):
            return False
        return f'"{self.within}' in text or f"<{self.within}" in text


def record(program: Program, place: Path, *sought: Sought, afterwards: Afterwards = bool) -> list[list[Call]]:
    """The calls that the program makes, each once: for each of `sought` those that it means."""
    names = tuple(dict.fromkeys(name for each in sought for name in each.names))
    ended = _traced(program, place, ["-e", f"trace={','.join(_known(names))}"], afterwards)
    assert ended.status == 0, (ended.out, ended.err)
    counts: Counter[tuple[str, str]] = Counter()
    found: list[dict[tuple[str, int], Call]] = [{} for _ in sought]
    for pid, name, text in _entered(place / "trace"):
        counts[pid, name] += 1
        number = counts[pid, name]
        for calls, each in zip(found, sought, strict=True):
            if each.has(name, text):
                calls.setdefault((name, number), Call(name, number, text))
    return [list(calls.values()) for calls in found]


def strike(program: Program, place: Path, blow: Blow, *, afterwards: Afterwards = bool) -> Ended:
    return _traced(program, place, ["-e", f"trace={blow.call.name}", "-e", blow.option], afterwards)


@cache
def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    """Those that this strace and this machine know: an unknown name is an error of its command line."""
    return tuple(
        name
        for name in names
        if subprocess.run(["strace", "-e", f"trace={name}", "true"], capture_output=True, check=False).returncode == 0
    )


def _traced(program: Program, place: Path, options: list[str], afterwards: Afterwards) -> Ended:
    """`place`: a directory for what was said and traced. Ends when the program and all that it forked have ended."""
    with _waiting(program, place) as (child, let_go):
        argv = ["strace", "-f", "-y", "-s", "64", "-o", str(place / "trace"), *options]
        with subprocess.Popen([*argv, "-p", str(child)], stderr=subprocess.PIPE, text=True) as tracer:
            assert tracer.stderr
            said = tracer.stderr.readline()
            assert "attached" in said, said
            too_long = threading.Timer(_ENDS_WITHIN_S, os.kill, (child, signal.SIGKILL))  # it goes round in a circle
            too_long.start()
            let_go()
            _, status = os.waitpid(child, 0)
            too_long.cancel()
            afterwards()
            tracer.stderr.read()
    hits = [line for line in (place / "trace").read_text(errors="replace").splitlines() if _is_hit(line)]
    said_out, said_err = ((place / name).read_text(errors="replace") for name in ("out", "err"))
    return Ended(os.waitstatus_to_exitcode(status), said_out, said_err, hits[0] if hits else "")


def _is_hit(line: str) -> bool:
    return "(INJECTED)" in line or "killed by SIGKILL" in line


def _entered(trace: Path) -> Iterator[tuple[str, str, str]]:
    for line in trace.read_text(errors="replace").splitlines():
        if found := _ENTERED.match(line):
            yield found[1], found[2], found[3]


@contextlib.contextmanager
def _waiting(program: Program, place: Path) -> Iterator[tuple[int, Callable[[], object]]]:
    """A child that runs the program when it is let go: (its pid, what lets it go)."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        status = 99
        try:
            os.close(there)
            ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)  # yama: our sibling may look
            select.select([here], [], [])
            os.close(here)
            status = _with_own_streams(program, place)
        finally:
            os._exit(status)
    os.close(here)
    try:
        yield child, lambda: os.close(there)
    except BaseException:
        os.kill(child, 9)
        raise


def _with_own_streams(program: Program, place: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, name in ((1, "out"), (2, "err")):
        fd = os.open(place / name, flags, 0o600)
        os.dup2(fd, number)
        os.close(fd)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    try:
        return program()
    except BaseException:
        traceback.print_exc()
        return 99
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        with contextlib.suppress(OSError):
            sys.stderr.flush()
