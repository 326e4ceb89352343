"""Containers on this machine: the processes that watch over them, and what their engines say of their mounts.

Root's daemon starts most of them, so nothing in there descends from us or shows us what it has mounted. But each has a
process that watches over it, which everybody sees, and Docker and Podman answer questions at a socket.
"""

from __future__ import annotations

import json
import os
import socket
import stat

from ...lazy_dataclass import dataclass
from ..files import places
from . import procs
from .reach import Reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WATCHERS = ("containerd-shim", "docker-containe", "conmon", "runc", "crun")
_MACHINES = ("com.docker", "qemu-system", "limactl", "colima", "vfkit", "krunkit", "podman", "container-run")
_ENDED = ("exited", "dead")  # what its engine says of one that runs no process and keeps no mount
_PATIENCE_S = 2.0  # for each answer
_MOST = 200
_LONGEST_ANSWER = 4 << 20


@dataclass(frozen=True, slots=True)
class Container:
    """One that its engine told us about."""

    id: str
    name: str
    pid: int  # of its first process; 0 where none runs
    has_ended: bool
    mounts: tuple[str, ...]  # what it has from this machine, resolved


@dataclass(frozen=True, slots=True)
class Containers:
    """Every container that can be asked about, and the processes that watch over others."""

    asked: tuple[Container, ...]
    unasked: tuple[procs.Process, ...]


def look() -> Containers | None:
    """None: processes cannot be listed, so any container may run."""
    processes = procs.processes()
    if processes is None:
        return None
    asked = tuple(each for path in _sockets() for each in _ask(path))
    watchers = [each for each in processes.values() if each.command.startswith(_WATCHERS + _MACHINES)]
    return Containers(asked, tuple(each for each in watchers if not _is_of(each.pid, asked)))


def _is_of(watcher: int, containers: tuple[Container, ...]) -> bool:
    """A watcher has the id of its container among its arguments. The machine that an engine runs in has none."""
    try:
        arguments = procs.arguments(watcher)
    except OSError:
        return False
    return any(os.fsencode(each.id) in argument for each in containers for argument in arguments)


def _sockets() -> tuple[str, ...]:
    """Where engines listen. Only root's and our own are asked: anybody else's may say what it likes."""
    run = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{places.uid()}"
    names = ["/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock"]
    names += [f"{run}/docker.sock", f"{run}/podman/podman.sock"]
    return tuple(path for path in dict.fromkeys(map(os.path.realpath, names)) if _is_trusted(path))


def _is_trusted(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISSOCK(status.st_mode) and status.st_uid in (0, places.uid())


def _ask(path: str) -> tuple[Container, ...]:
    """All containers of one engine; none if it does not answer, or not in full: then their watchers are a doubt."""
    try:
        listed = _answer(path, "/containers/json?all=1")
        ids = [each["Id"] for each in listed]
        if len(ids) > _MOST or not all(isinstance(id_, str) and len(id_) >= 12 and id_.isalnum() for id_ in ids):
            return ()
        return tuple(_container(id_, _answer(path, f"/containers/{id_}/json")) for id_ in ids)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def _answer(path: str, question: str) -> Any:
    """One question over HTTP/1.0, whose answer ends with the connection: http.client would cost `status` 13 ms."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_PATIENCE_S)
        connection.connect(path)
        connection.sendall(f"GET {question} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        text = b""
        while len(text) <= _LONGEST_ANSWER and (more := connection.recv(1 << 16)):
            text += more
    head, _, body = text.partition(b"\r\n\r\n")
    if head.split(maxsplit=2)[1:2] != [b"200"]:
        raise ValueError(head[:80])
    return json.loads(body)


def _container(id_: str, document: Any) -> Container:
    state, name = document["State"], str(document.get("Name") or id_[:12]).lstrip("/")
    sources = [each["Source"] for each in document["Mounts"]]
    sources += [bind.partition(":")[0] for bind in document["HostConfig"].get("Binds") or ()]
    mounts = tuple(dict.fromkeys(_resolved(source) for source in sources if source.startswith("/")))
    return Container(id_, name, int(state["Pid"]), state["Status"] in _ENDED, mounts)


def _resolved(path: str) -> str:
    if Reach.now().frozen(path):
        raise ValueError(path)  # it may lead anywhere
    return os.path.realpath(path)
