"""Which ports processes listen on, and who is connected to them: /proc/net/tcp of their network namespaces."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...lazy_dataclass import dataclass

_LISTENING, _ESTABLISHED = b"0A", b"01"

Address = tuple[bytes, int]  # as the kernel writes it: hexadecimal address, port


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
        self._owned: dict[int, tuple[str, set[int]]] = {}  # pid -> (namespace, its socket inodes)
        for pid in pids:
            self._look(pid)

    def ports(self, pid: int) -> tuple[int, ...]:
        """The TCP ports that this process listens on."""
        return tuple(sorted({socket.local[1] for socket in self._sockets(pid) if socket.is_listening}))

    def clients(self, pid: int) -> tuple[int | None, ...]:
        """Who is connected to a port that it listens on, accepted or waiting for that: their pids, None for one that
        we cannot name."""
        ports = set(self.ports(pid))
        table = self._tables.get(self._owned[pid][0], []) if ports else []
        mine = [one for one in table if not one.is_listening and one.local[1] in ports]
        return tuple(self._other_end(pid, one) for one in mine)

    def _look(self, pid: int) -> None:
        try:
            namespace = os.readlink(f"/proc/{pid}/ns/net")
            folder = f"/proc/{pid}/fd"
            targets = [_target(f"{folder}/{name}") for name in os.listdir(folder)]
            if namespace not in self._tables:
                self._tables[namespace] = _table(pid)
        except (FileNotFoundError, ProcessLookupError):
            return
        except OSError:
            self.unreadable.add(pid)
            return
        inodes = {int(target[8:-1]) for target in targets if target.startswith("socket:[")}
        self._owned[pid] = (namespace, inodes)

    def _sockets(self, pid: int) -> list[Socket]:
        namespace, inodes = self._owned.get(pid, ("", set()))
        return [one for one in self._tables.get(namespace, []) if one.inode in inodes]

    def _other_end(self, pid: int, one: Socket) -> int | None:
        namespace = self._owned[pid][0]
        mirrored = (one.remote, one.local)
        ends = {other.inode for other in self._tables[namespace] if (other.local, other.remote) == mirrored}
        near = ((pid, inodes) for pid, (where, inodes) in self._owned.items() if where == namespace)
        return next((pid for pid, inodes in near if not inodes.isdisjoint(ends)), None)


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except (FileNotFoundError, ProcessLookupError):
        return ""  # closed meanwhile


def _table(pid: int) -> list[Socket]:
    found = []
    for name in ("tcp", "tcp6"):
        try:
            with open(f"/proc/{pid}/net/{name}", "rb") as lines:
                next(lines, None)
                rows = [line.split() for line in lines]
        except FileNotFoundError:
            continue  # a kernel without IPv6
        for row in rows:
            if row[3] in (_LISTENING, _ESTABLISHED):
                found.append(Socket(int(row[9]), _address(row[1]), _address(row[2]), row[3] == _LISTENING))
    return found


def _address(text: bytes) -> Address:
    address, _, port = text.partition(b":")
    return address, int(port, 16)
