"""Write 64 KiB and see: quotas and mounts that no number shows. The only thing the doctor writes."""

import errno
import os
from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ...oskit import own_files
from ...text import shown
from ..patient import Patient
from .room import REMEDY

_PROBE = b"\0" * (64 << 10)
_CAUSES = {
    errno.EDQUOT: ("your disk quota there is used up", REMEDY),
    errno.ENOSPC: ("no space is left", REMEDY),
    errno.EROFS: ("it is mounted read-only", "mount | grep tmp"),
    errno.EACCES: ("you may not write there", "ls -ld"),
    errno.EPERM: ("you may not write there", "ls -ld"),
}


def check(patient: Patient) -> Iterator[Diagnosis]:
    if not patient.may_probe:
        yield Diagnosis("probe", "ok", "no test write was made (--no-probe).")
        return
    for root in patient.roots:
        number = _write(root)
        if number == 0:
            yield Diagnosis("probe", "ok", f"a test write of 64 KiB to {shown(root)} succeeded.")
            continue
        cause, remedy = _CAUSES.get(number, (os.strerror(number).lower(), REMEDY))
        command = f"{remedy} {root}" if remedy == "ls -ld" else remedy
        summary = f"a test write to {shown(root)} failed: {cause}, so commands fail there, often without a word."
        yield Diagnosis("probe", "fail", summary, errno.errorcode.get(number, str(number)), command)


def _write(root: str) -> int:
    """0, or the error number of the first call that failed. Nothing stays behind."""
    name = ""
    try:
        fd, name = _open(root)
        try:
            written = os.write(fd, _PROBE)
            os.fsync(fd)
            return 0 if written == len(_PROBE) else errno.ENOSPC
        finally:
            os.close(fd)
    except OSError as error:
        return error.errno or errno.EIO
    finally:
        if name:
            own_files.remove_file(name)


def _open(root: str) -> tuple[int, str]:
    """A file without a name where the file system can (it vanishes with us), else one with a name of ours."""
    try:
        return os.open(root, os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, 0o600), ""
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
            raise
    name = f"{root}/.tmpwarden-probe-{os.getpid()}-{os.urandom(4).hex()}"
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600), name
