"""Which file may be punched: written in sequence, mapped by nobody, of a kind whose beginning nobody reads again."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..errors import BadArgument, NotFound, PermissionDenied
from ..oskit.files import punch
from ..oskit.proc import procs
from ..oskit.proc.namespaces import MountTable
from ..oskit.proc.open_files import OpenFile, open_files

KEEP_LAST_BYTES = 64 << 20
# Files that are read from their beginning again: databases and disk images. A log is none of these.
_MAGIC = (
    b"SQLite format 3\0", b"QFI\xfb", b"KDMV", b"vhdxfile", b"conectix", b"PK\x03\x04", b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
)  # fmt: skip
_READ_FIRST = 64


def target_of(word: str, roots: Sequence[str]) -> list[OpenFile]:
    """Everybody who writes FILE, or the one file of PID:FD. Raises where there is none."""
    table = MountTable.of()
    pid, _, fd = word.partition(":")
    if pid.isascii() and pid.isdecimal() and fd.isascii() and fd.isdecimal():
        wanted = [file for file in open_files(int(pid), roots, table) if file.fd == int(fd)]
        identities = {file.identity for file in wanted}
    else:
        try:
            status = os.stat(word, follow_symlinks=False)
        except OSError as error:
            raise NotFound(f"{word}: {error.strerror}") from None
        identities = {(status.st_dev, status.st_ino)}
    found = [
        file for one in procs.pids() or () for file in open_files(one, roots, table) if file.identity in identities
    ]
    writers = [file for file in found if file.is_written]
    if not writers:
        raise NotFound(
            f"nobody writes {word} below a temp root", hint="a file that nobody writes can simply be removed"
        )
    return writers


def punch_file(writers: Sequence[OpenFile], keep_last_bytes: int = KEEP_LAST_BYTES) -> int:
    """Free all but its end; the bytes that came back. Raises where it is not provably safe."""
    first = writers[0]
    if not all(file.is_in_sequence for file in writers):
        raise BadArgument(f"{first.path} is not written in sequence: a hole could destroy what is still needed")
    if mappers := [pid for pid in procs.pids() or () if _maps(pid, first)]:
        raise BadArgument(f"{first.path} is mapped by process {mappers[0]}: a hole could destroy what is still needed")
    try:
        fd = os.open(f"/proc/{first.pid}/fd/{first.fd}", os.O_RDWR | os.O_CLOEXEC)
    except PermissionError:
        raise PermissionDenied(first.path) from None
    except OSError:
        raise NotFound(f"nobody writes {first.path} any more") from None
    try:
        status = os.fstat(fd)
        if (status.st_dev, status.st_ino) != first.identity:
            raise NotFound(f"nobody writes {first.path} any more")
        if os.pread(fd, _READ_FIRST, 0).startswith(_MAGIC):
            raise BadArgument(
                f"{first.path} is a database, an archive or an image: it is read from its beginning again"
            )
        return punch.punch(fd, keep_last_bytes=keep_last_bytes)
    except punch.CannotPunch as error:
        raise BadArgument(f"{first.path}: {error}", hint="`tmpwarden brake --end PID` ends its writer") from None
    finally:
        os.close(fd)


def _maps(pid: int, file: OpenFile) -> bool:
    """Whether it maps the file; one of ours that cannot be asked may."""
    text = procs.read_whole(f"/proc/{pid}/maps")
    if text is None:
        return pid != 1 and procs.owner_of(pid) == os.geteuid() and procs.process(pid) is not None
    device = f"{os.major(file.device):02x}:{os.minor(file.device):02x}".encode()
    wanted = [device, str(file.inode).encode()]
    return any(line.split(None, 5)[3:5] == wanted for line in text.splitlines())
