"""What one process is and what it costs, as /proc tells it. Only reads; a process that ends meanwhile is Gone."""

from __future__ import annotations

import os

from ...lazy_dataclass import dataclass
from . import procs

_HANGUP_BIT = 1  # SIGHUP is signal 1
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True, slots=True)
class Vitals:
    pid: int
    parent: int
    start: int  # clock ticks after boot: with the pid, its identity within one boot
    uid: int
    name: str  # the kernel's 15 bytes
    arguments: tuple[str, ...]
    environ: bytes
    cwd: str  # as its own mount namespace names it
    cgroup: str
    has_terminal: bool
    ignores_hangup: bool
    cpu_s: float
    memory_bytes: int  # resident; shared pages counted whole

    @property
    def identity(self) -> tuple[int, int]:
        return self.pid, self.start


@dataclass(frozen=True, slots=True)
class ProcessGone:
    pid: int


@dataclass(frozen=True, slots=True)
class PartlyUnread:
    """It is there, and something that decides about it could not be read."""

    pid: int
    parent: int | None
    why: str


def look_at(pid: int) -> Vitals | ProcessGone | PartlyUnread:
    """Everything that decides about a process, or why it could not be read."""
    parent = None
    try:
        stat = _read(pid, "stat")
        fields = stat[stat.rfind(b")") + 2 :].split()
        parent = int(fields[1])
        if fields[0] in (b"Z", b"X") and fields[17] in (b"0", b"1"):
            return ProcessGone(pid)
        status = dict(line.split(b":\t", 1) for line in _read(pid, "status").splitlines() if b":\t" in line)
        uid = int(status[b"Uid"].split()[1])
        return Vitals(
            pid,
            parent,
            int(fields[19]),
            uid,
            os.fsdecode(stat[stat.find(b"(") + 1 : stat.rfind(b")")]),
            tuple(os.fsdecode(word) for word in _read(pid, "cmdline").rstrip(b"\0").split(b"\0")),
            _read(pid, "environ") if uid == os.geteuid() else b"",
            os.readlink(f"/proc/{pid}/cwd") if uid == os.geteuid() else "",
            procs.cgroup_in(_read(pid, "cgroup")),
            int(fields[4]) != 0,
            bool(int(status[b"SigIgn"], 16) & _HANGUP_BIT),
            (int(fields[11]) + int(fields[12])) / _TICKS,
            int(status.get(b"VmRSS", b"0 kB").split()[0]) * 1024,
        )
    except (FileNotFoundError, ProcessLookupError):
        return ProcessGone(pid)
    except OSError as error:
        return PartlyUnread(pid, parent, error.strerror or type(error).__name__)
    except (IndexError, KeyError, ValueError):
        return PartlyUnread(pid, parent, "/proc tells of it in a way we do not know")


def proportional_bytes(pid: int) -> int | None:
    """Its share of memory (PSS), each shared page divided among its users; None where that cannot be read."""
    try:
        lines = _read(pid, "smaps_rollup").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _read(pid: int, name: str) -> bytes:
    return procs.read(f"/proc/{pid}/{name}")
