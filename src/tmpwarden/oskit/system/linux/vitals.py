"""What one process is and costs, from /proc. Only reads; a process that ends meanwhile is gone."""

from __future__ import annotations

import os

from ...proc.vitals import PartlyUnread, ProcessGone, Vitals
from .processes import cgroup_in
from .reading import read

_HANGUP_BIT = 1  # SIGHUP is signal 1
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


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
            pid=pid,
            parent=parent,
            start=int(fields[19]),
            uid=uid,
            name=os.fsdecode(stat[stat.find(b"(") + 1 : stat.rfind(b")")]),
            arguments=tuple(os.fsdecode(word) for word in _read(pid, "cmdline").rstrip(b"\0").split(b"\0")),
            environ=_read(pid, "environ") if uid == os.geteuid() else b"",
            cwd=os.readlink(f"/proc/{pid}/cwd") if uid == os.geteuid() else "",
            cgroup=cgroup_in(_read(pid, "cgroup")),
            has_terminal=int(fields[4]) != 0,
            ignores_hangup=bool(int(status[b"SigIgn"], 16) & _HANGUP_BIT),
            cpu_s=(int(fields[11]) + int(fields[12])) / _TICKS,
            memory_bytes=int(status.get(b"VmRSS", b"0 kB").split()[0]) * 1024,
        )
    except (FileNotFoundError, ProcessLookupError):
        return ProcessGone(pid)
    except OSError as error:
        return PartlyUnread(pid, parent, error.strerror or type(error).__name__)
    except (IndexError, KeyError, ValueError):
        return PartlyUnread(pid, parent, "/proc describes it in an unknown format")


def proportional_bytes(pid: int) -> int | None:
    """Its share of memory (PSS), each shared page divided among its users; None where that cannot be read."""
    try:
        lines = _read(pid, "smaps_rollup").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _read(pid: int, name: str) -> bytes:
    return read(f"/proc/{pid}/{name}")
