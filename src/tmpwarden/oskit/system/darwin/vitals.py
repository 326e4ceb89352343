"""What one process is and costs, from libproc. Only reads; a process that ends meanwhile is gone."""

from __future__ import annotations

import os

from ...proc.vitals import PartlyUnread, ProcessGone, Vitals
from . import layouts as at
from . import libproc, processes, vnodes

_HANGUP_BIT = 1  # SIGHUP is signal 1
_NS = 1e9


def look_at(pid: int) -> Vitals | ProcessGone | PartlyUnread:
    """Everything that decides about a process, or why it could not be read."""
    parent = None
    try:
        basics = processes.basics(pid)
        if basics is None or basics.has_ended:
            return ProcessGone(pid)
        parent = basics.parent
        is_ours = basics.uid == os.geteuid()
        words, variables = processes.words(pid) if is_ours or os.geteuid() == 0 else ((), b"")
        if variables is None:
            return PartlyUnread(pid, parent, "macOS hides its environment")
        cwd = ""
        if is_ours:
            working, _ = vnodes.places(pid, has_thread_places=False)
            cwd = os.fsdecode(working[0].path) if working else ""
        task, basic = libproc.info(pid, at.TASK), libproc.info(pid, at.BSD)
        spent = libproc.u64(task, at.TASK_USER) + libproc.u64(task, at.TASK_SYSTEM)
        terminal = libproc.u32(basic, at.BSD_TERMINAL)
        return Vitals(
            pid=pid,
            parent=basics.parent,
            start=basics.unique,
            uid=basics.uid,
            name=basics.name,
            arguments=tuple(map(os.fsdecode, words)),
            environ=variables if is_ours else b"",
            cwd=cwd,
            cgroup="",
            has_terminal=terminal not in (0, at.NO_TERMINAL),
            ignores_hangup=bool(libproc.ignored_signals(pid) & _HANGUP_BIT),
            cpu_s=spent * _tick_ns() / _NS,
            memory_bytes=libproc.u64(task, at.TASK_RESIDENT),
        )
    except ProcessLookupError:
        return ProcessGone(pid)
    except OSError as error:
        return PartlyUnread(pid, parent, error.strerror or type(error).__name__)


_tick = 0.0


def _tick_ns() -> float:
    """How long one unit of time on a processor is: 1 ns on Intel, 41.7 ns on ARM."""
    global _tick
    if not _tick:
        import ctypes

        fraction = (ctypes.c_uint32 * 2)()
        status = libproc.library().mach_timebase_info(fraction)
        _tick = fraction[0] / fraction[1] if status == 0 and fraction[1] else 1.0
    return _tick


def proportional_bytes(pid: int) -> int | None:
    """None: macOS does not divide shared pages among their users."""
    return None
