"""Which machine and boot this is. There are no namespaces."""

from __future__ import annotations

import os

from .... import small_files
from . import libproc

_VERSION, _LONGEST = "/System/Library/CoreServices/SystemVersion.plist", 1 << 16


def boot_id() -> str | None:
    """Changes with every boot of the kernel."""
    return libproc.kernel_text("kern.bootsessionuuid")


def machine_id() -> str | None:
    import ctypes

    try:
        call = libproc.library().gethostuuid
    except (OSError, AttributeError):
        return None
    uuid, at_once = ctypes.create_string_buffer(16), (ctypes.c_long * 2)(0, 0)
    return uuid.raw.hex() if call(uuid, at_once) == 0 and any(uuid.raw) else None


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
    version = text.partition("<key>ProductBuildVersion</key>")[2].partition("<string>")[2].partition("</string>")[0]
    return f"{version} {kernel.version} {kernel.machine}"
