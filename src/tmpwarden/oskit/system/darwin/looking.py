"""One look at all processes of a Mac.

Asking for a file of a process asks its file system. Where one is mounted that may not answer, a child of ours looks,
and is given up when it stays with one process for too long.
"""

from __future__ import annotations

import errno
import os
import signal
import time

from ...files import places
from ...proc import forked
from ..blind.proof import BLIND as BLIND
from . import identities, libproc, mounting, proof
from .everybody import Pass, Seen, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...proc.holders import Holders

IS_ASKABLE = False  # no kernel's word: nobody can be asked file by file who has it open

STUCK_S = 5.0  # for one process


def look(
    holders: Holders, variables: tuple[str, ...], exclude: frozenset[int], *, outside: bool, closely: bool, uses: bool
) -> bool:
    """Fill it; False where nothing can be seen."""
    if not libproc.is_there():
        return False
    holders.located_by(identities.locate)
    seen = Seen()
    try:
        may_hang = uses and mounting.somebody_may_hang()
        if may_hang:
            _look_by_child(seen, variables, exclude, closely=closely)
        else:
            Pass(seen, variables, exclude, closely=closely, uses=uses).look()
    except OSError as error:
        holders.ended_well(error)
    else:
        if uses:
            holders.ended_well()
    seen.tell(holders, variables)
    if why := proof.doubt(places.state_dir()):
        holders.doubt(why)  # a process that is seen counts; none is believed to be gone
    return True


def _look_by_child(seen: Seen, variables: tuple[str, ...], exclude: frozenset[int], *, closely: bool) -> None:
    """Raises OSError: no child could be had, or it ended early."""
    reading, writing = os.pipe()

    def work() -> None:
        os.close(reading)
        mine = Seen()
        try:
            child_pass = Pass(mine, variables, exclude | {parent}, closely=closely, report=writing)
            child_pass.look_as(parent)
            answer = b"\0" + mine.packed()
        except OSError as error:
            answer = b"!" + str(error.errno or errno.EIO).encode()
        write_all(writing, answer)

    parent = os.getpid()
    try:
        child = forked.forked(work)
    finally:
        os.close(writing)
    try:
        last, answer = _answer_of(reading)
    finally:
        os.close(reading)
    if answer is None:
        _let_go(child)
        who = f"process {last}" if last else "a process"
        seen.doubts.append(f"{who} cannot be asked: a file system that it uses does not answer")
        return
    forked.reap(child)
    if answer[:1] != b"\0":
        number = int(answer[1:]) if answer[1:].isdigit() else errno.EIO
        raise OSError(number, os.strerror(number))
    seen.unpack(answer[1:])


def _answer_of(pipe: int) -> tuple[int, bytes | None]:
    """(the last process that was begun, the answer). None: it came no further within the deadline."""
    import select

    poll, data, last = select.poll(), b"", 0
    poll.register(pipe, select.POLLIN | select.POLLHUP)
    while True:
        if not poll.poll(STUCK_S * 1000):
            return last, None
        part = os.read(pipe, 1 << 16)
        if not part:
            return last, data
        data += part
        while data[:1] == b"p" and (end := data.find(b"\n")) >= 0:
            last, data = int(data[1:end]), data[end + 1 :]


def _let_go(child: int) -> None:
    """It may be where even SIGKILL does not reach: then it is waited for by nobody."""
    for _ in range(20):
        try:
            os.kill(child, signal.SIGKILL)
            if os.waitpid(child, os.WNOHANG)[0]:
                return
        except (ProcessLookupError, ChildProcessError):
            return
        time.sleep(0.005)
