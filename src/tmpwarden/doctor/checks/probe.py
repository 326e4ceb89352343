"""Write 64 KiB and see: quotas and mounts that no number shows. The only thing the doctor writes."""

import errno
import os
from collections.abc import Iterator

from ...model.sweep import Diagnosis, Space
from ...oskit.files import own_files
from ...oskit.files.opening import closing
from ...oskit.files.space import percent_used
from ...text import quoted, shown
from .. import relief
from ..patient import Patient
from ..read_only import read_only

_PROBE = b"\0" * (64 << 10)
_OF_EVERYBODY = ("tmp", "temp", "shm")  # what such a directory is called
_CAUSES = {
    errno.EDQUOT: "your disk quota there is used up",
    errno.ENOSPC: "no space is left",
    errno.EROFS: "it is mounted read-only",
    errno.EACCES: "you may not write there",
    errno.EPERM: "you may not write there",
}


def check(patient: Patient) -> Iterator[Diagnosis]:
    if not patient.may_probe:
        yield Diagnosis("probe", "ok", "no test write was made (--no-probe).")
        return
    for room in patient.spaces:
        number = _write(room.path)
        if number == 0:
            yield Diagnosis("probe", "ok", f"a test write of 64 KiB to {shown(room.path)} succeeded.")
            continue
        cause = _CAUSES.get(number, os.strerror(number).lower())
        summary = f"a test write to {shown(room.path)} failed: {cause}, so commands fail there, often without a word."
        detail, remedy = errno.errorcode.get(number, str(number)), _remedy(patient, room, number)
        if number == errno.EROFS and (stuck := read_only(room.path)):
            detail, remedy = "; ".join(filter(None, (detail, stuck.detail))), stuck.command
        yield Diagnosis("probe", "fail", summary, detail, remedy)


def _remedy(patient: Patient, room: Space, number: int) -> str:
    sudo = "" if os.geteuid() == 0 else "sudo "
    if number in (errno.EACCES, errno.EPERM):
        status = os.stat(room.path)
        if status.st_uid == os.geteuid():
            return f"chmod u+rwx {quoted(room.path)}"
        is_everybodys = status.st_uid == 0 and os.path.basename(room.path) in _OF_EVERYBODY
        return f"{sudo}chmod 1777 {quoted(room.path)}" if is_everybodys else f"ls -ld {quoted(room.path)}"
    high = patient.prepared.settings.pressure_high_percent
    return relief.relief(patient, room, is_unseen=number == errno.EDQUOT and percent_used(room) < high).command


def _write(root: str) -> int:
    """0, or the error number of the first call that failed. Nothing stays behind."""
    name = ""
    try:
        fd, name = _open(root)
        with closing(fd):
            written = os.write(fd, _PROBE)
            os.fsync(fd)
            return 0 if written == len(_PROBE) else errno.ENOSPC
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
