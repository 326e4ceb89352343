"""A kernel that has quotas, where the machine's has none: Debian's user-mode kernel, a process that boots in a second.

It sees the machine's files read-only (hostfs), and one directory to write to.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.told import NOT_PROVEN

# Debian's kernel saves fewer registers than processors with AMX have, and ends its first process at once there.
_UNFIT = "ptrace set fp regs failed"
_FIRST = Path(__file__).with_suffix(".sh")
_MODULES = "drivers/block/loop.ko fs/quota/quota_tree.ko fs/quota/quota_v2.ko"
_LOAD = """
import ctypes, os, sys
for path in sys.argv[1:]:
    fd = os.open(path, os.O_RDONLY)
    assert ctypes.CDLL(None).syscall(313, fd, b"", 0) == 0, path  # finit_module
"""
_DISK = """
cd /usr/lib/uml/modules/$(uname -r)/kernel && /usr/bin/python3 /mnt/share/load.py {modules}
truncate -s {megabytes}M /run/image
mkfs.ext4 -q -F -m 0 -O quota,project -E quotatype=usrquota:grpquota:prjquota /run/image
mkdir /mnt/disk
mount -o loop,usrquota,grpquota,prjquota /run/image /mnt/disk
set -e
cd /mnt/disk
"""


def said(share: Path, script: str, *, megabytes: int = 64) -> str:
    """What `script` (sh, as root) prints in /mnt/disk, an ext4 with quotas of users, groups and projects. `share` is
    /mnt/share there."""
    if sys.platform != "linux" or not shutil.which("linux.uml"):
        pytest.skip("needs the program linux.uml (Debian: user-mode-linux)")
    (share / "load.py").write_text(_LOAD)
    (share / "inside.sh").write_text(_DISK.format(modules=_MODULES, megabytes=megabytes) + script)
    words = ["rootfstype=hostfs", "rootflags=/", "ro", "mem=512M", f"init={_FIRST}", f"SHARE={share}", "quiet"]
    words += ["con=null", "con0=null,fd:1", f"uml_dir={share}/uml"]
    done = subprocess.run(
        ["linux.uml", *words],
        env={"PATH": os.environ["PATH"], "HOME": str(share), "TMPDIR": str(share)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    if _UNFIT in done.stdout + done.stderr:
        pytest.skip(f"{NOT_PROVEN}quotas and one full disk: user-mode Linux does not start on this processor")
    status, told = share / "status", share / "said"
    text = told.read_text() if told.exists() else ""
    assert status.exists() and status.read_text() == "0\n", (text, done.stdout[-3000:], done.stderr[-500:])
    return text
