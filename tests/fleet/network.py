"""A network of its own for hosts and whoever looks after them: a bridge in a namespace that ends with its holder."""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from hosts.host import Host

_RANGE = "198.18.78"  # for tests of networks (RFC 2544), and inside namespaces only


class Network:
    GATEWAY = f"{_RANGE}.1"

    def __enter__(self) -> "Network":
        self.addresses: dict[str, str] = {}
        self._holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec sleep infinity"], stdout=-1)
        assert self._holder.stdout
        self._holder.stdout.readline()  # it has its namespace
        for words in (
            "link set lo up",
            "link add br0 type bridge",
            f"addr add {_RANGE}.1/24 dev br0",
            "link set br0 up",
        ):
            self.run(["ip", *words.split()])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._holder.kill()
        self._holder.wait()

    def inside(self, argv: Sequence[str]) -> list[str]:
        return ["nsenter", f"--net=/proc/{self._holder.pid}/ns/net", *argv]

    def run(self, argv: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(self.inside(argv), check=True, capture_output=True, text=True)

    def wire(self, host: Host) -> str:
        """Its address. Both ends of the wire are made inside: nothing of it is ever seen on this machine."""
        leader, number = host._leader(), 10 + len(self.addresses)
        name, address = f"v{number}", f"{_RANGE}.{number}"
        self.run(["ip", "link", "add", name, "type", "veth", "peer", "name", "host0", "netns", str(leader)])
        self.run(["ip", "link", "set", name, "master", "br0", "up"])
        enter = ["nsenter", f"--net=/proc/{leader}/ns/net", "ip"]
        for words in (f"addr add {address}/24 dev host0", "link set host0 up"):
            subprocess.run([*enter, *words.split()], check=True)
        self.addresses[host.name] = address
        return address

    def set_wire(self, host: Host, state: str) -> None:
        """Cut it (`down`), or mend it (`up`): the host itself was resumed."""
        number = self.addresses[host.name].rpartition(".")[2]
        self.run(["ip", "link", "set", f"v{number}", state])


def wait_for(what: str, seconds: float, is_so: Callable[[], object]) -> None:
    """Until it is so; a generous limit, and what was waited for in words."""
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, f"not within {seconds} s: {what}"
        time.sleep(0.5)


def program(name: str) -> Path:
    """Of the environment that the tests run in."""
    return Path(sys.executable).parent / name
