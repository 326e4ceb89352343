"""Which machine and boot this is. There are no namespaces."""

from __future__ import annotations

from . import libproc


def boot_id() -> str | None:
    """Changes with every boot of the kernel."""
    return libproc.said("kern.bootsessionuuid")


def machine_id() -> str | None:
    import ctypes

    try:
        call = libproc.library().gethostuuid
    except (OSError, AttributeError):
        return None
    told, at_once = ctypes.create_string_buffer(16), (ctypes.c_long * 2)(0, 0)
    return told.raw.hex() if call(told, at_once) == 0 and any(told.raw) else None


def pid_namespace() -> str | None:
    """None: there is none."""
    return None


def mount_namespace(pid: int | str = "self") -> str | None:
    """None: there is none."""
    return None


def sees_all_processes() -> bool:
    """Whether every process of this kernel has a number here: always, where they are told at all."""
    return libproc.is_there()


def build() -> str | None:
    """Of the system, such as 25A354: another one may tell things otherwise."""
    return libproc.said("kern.osversion")
