"""Which machine, boot, pid namespace and mount namespace this is."""

from __future__ import annotations

import os

from .reading import first_line

INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # a constant of the kernel: PROC_PID_INIT_INO


def boot_id() -> str | None:
    """Changes with every boot of the kernel; containers share their host's."""
    return first_line("/proc/sys/kernel/random/boot_id")


def machine_id() -> str | None:
    return first_line("/etc/machine-id") or first_line("/var/lib/dbus/machine-id")


def pid_namespace() -> str | None:
    """`pid:[4026531836]`, or None where it cannot be read."""
    return _namespace("self/ns/pid")


def mount_namespace(pid: int | str = "self") -> str | None:
    """`mnt:[4026531841]`, or None where it cannot be read."""
    return _namespace(f"{pid}/ns/mnt")


def sees_all_processes() -> bool:
    """Whether every process of this kernel has a number here, and /proc shows them under that number."""
    try:
        return pid_namespace() == INITIAL_PID_NAMESPACE and os.readlink("/proc/self") == str(os.getpid())
    except OSError:
        return False


def _namespace(link: str) -> str | None:
    try:
        return os.readlink(f"/proc/{link}")
    except (OSError, ValueError):
        return None
