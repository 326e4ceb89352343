"""Which machine and boot this is: not told."""

from __future__ import annotations


def boot_id() -> str | None:
    """None: no record can be compared with this boot."""
    return None


def machine_id() -> str | None:
    """None: not told."""
    return None


def pid_namespace() -> str | None:
    """None: not told."""
    return None


def mount_namespace(pid: int | str = "self") -> str | None:
    """None: not told."""
    return None


def sees_all_processes() -> bool:
    """Nobody is seen."""
    return False
