"""Which machine and boot this is. There are no namespaces."""

from __future__ import annotations

import os

from .... import small_files
from . import libproc

_VERSION, _LONGEST = "/System/Library/CoreServices/SystemVersion.plist", 1 << 16


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


def build() -> str:
    """Of the system, such as 25A354, and of its kernel: another one may tell things otherwise. Without ctypes, for
    hooks ask before a tool call."""
    kernel = os.uname()
    text = small_files.read_text(_VERSION, _LONGEST)
    told = text.partition("<key>ProductBuildVersion</key>")[2].partition("<string>")[2].partition("</string>")[0]
    return f"{told} {kernel.version} {kernel.machine}"
