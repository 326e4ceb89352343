"""Which ports processes listen on, who is connected to them, and who holds the other end of a pipe of theirs."""

from __future__ import annotations

from collections.abc import Iterable

from ...lazy_dataclass import dataclass
from ...model.answers import NotMeasured
from .. import system
from .procs import ENDED

Address = tuple[bytes, int]  # as the kernel writes it: address, port


@dataclass(frozen=True, slots=True)
class Socket:
    inode: int
    local: Address
    remote: Address
    is_listening: bool


class Connections:
    """One look at the sockets of some processes of ours. `unreadable`: those whose own sockets could not be read, so
    that "nobody is connected" is not known. The other end of a connection that lies with one of them has no name."""

    def __init__(self, pids: Iterable[int]) -> None:
        self.unreadable: set[int] = set()
        self._tables: dict[str, list[Socket]] = {}  # network namespace -> its sockets
        self._local: dict[str, set[int]] = {}  # network namespace -> its unix sockets that listen
        self._owned: dict[int, tuple[str, set[int]]] = {}  # pid -> (namespace, its socket inodes)
        for pid in pids:
            self._look(pid)

    def ports(self, pid: int) -> tuple[int, ...]:
        """The TCP ports that this process listens on."""
        return tuple(sorted({socket.local[1] for socket in self._sockets(pid) if socket.is_listening}))

    def listens(self, pid: int) -> bool:
        """Whether it waits for somebody, on a TCP port or a unix socket. Only of one that is not unreadable."""
        namespace, inodes = self._owned.get(pid, ("", set()))
        return bool(self.ports(pid)) or not self._local.get(namespace, set()).isdisjoint(inodes)

    def clients(self, pid: int) -> tuple[int | None, ...]:
        """Who is connected to a port that it listens on, accepted or waiting for that: their pids, None for one that
        we cannot name."""
        ports = set(self.ports(pid))
        table = self._tables.get(self._owned[pid][0], []) if ports else []
        mine = [one for one in table if not one.is_listening and one.local[1] in ports]
        return tuple(self._other_end(pid, one) for one in mine)

    def _look(self, pid: int) -> None:
        try:
            namespace, numbers = system.connections.sockets_of(pid)
            if namespace not in self._tables:
                self._local[namespace] = system.connections.listening_locally(pid)
                self._tables[namespace] = system.connections.table(pid)
        except ENDED:
            return
        except OSError:
            self.unreadable.add(pid)
            return
        self._owned[pid] = (namespace, numbers)

    def _sockets(self, pid: int) -> list[Socket]:
        namespace, inodes = self._owned.get(pid, ("", set()))
        return [one for one in self._tables.get(namespace, []) if one.inode in inodes]

    def _other_end(self, pid: int, one: Socket) -> int | None:
        namespace = self._owned[pid][0]
        mirrored = (one.remote, one.local)
        ends = {other.inode for other in self._tables[namespace] if (other.local, other.remote) == mirrored}
        near = ((pid, inodes) for pid, (where, inodes) in self._owned.items() if where == namespace)
        return next((pid for pid, inodes in near if not inodes.isdisjoint(ends)), None)


# The other end of a pipe, socket pair or pseudo-terminal that a process has open.


@dataclass(frozen=True, slots=True)
class NoFarEnd:
    """Nobody can ever write to it, or read from it, again; nothing that was written before waits in it."""

    identity: str  # as the kernel names it: "pipe:[4711]", "/dev/pts/3 (deleted)"

    @property
    def is_terminal(self) -> bool:
        return self.identity.startswith("/dev/")


@dataclass(frozen=True, slots=True)
class FarEnd:
    """Somebody may, or it is no pipe at all."""

    what: str  # in words


def far_end(pid: int, fd: int) -> NoFarEnd | FarEnd | NotMeasured:
    """Of standard input (0): whether anybody can write to it. Of standard output (1): whether anybody reads it."""
    return system.far_ends.far_end(pid, fd)
