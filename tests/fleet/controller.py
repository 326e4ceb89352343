"""The machine from which a fleet is looked after: the collection built and installed, an inventory, real ansible."""

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

from hosts.host import Host
from support.own_machine import REPOSITORY

from .network import Network, program

_SSH = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=5"
_SHARED = "-C -o ControlMaster=auto -o ControlPersist=60s -o ServerAliveInterval=5 -o ServerAliveCountMax=2"
_RECAP = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.MULTILINE)


class Controller:
    def __init__(self, home: Path, key: Path, hosts: dict[str, Host], network: Network, wheels: Path) -> None:
        self.home, self.network, self.wheels = home, network, wheels
        self.inventory = home / "hosts.ini"
        lines = [
            f"{name} ansible_host={network.addresses[host.name]} ansible_user=root ansible_ssh_private_key_file={key}"
            for name, host in hosts.items()
        ]
        self.inventory.write_text("\n".join(lines) + f"\n[all:vars]\nansible_ssh_common_args={_SSH}\n")
        self.environ = install_collection(home)
        self.environ |= {"ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3", "PWD": str(home)}

    @property
    def wheel(self) -> Path:
        [found] = self.wheels.glob("tmpwarden-*.whl")
        return found

    @property
    def pin(self) -> dict[str, str]:
        digest = hashlib.sha256(self.wheel.read_bytes()).hexdigest()
        return {
            "tmpwarden_wheel": str(self.wheel),
            "tmpwarden_wheel_sha256": digest,
            "tmpwarden_wheelhouse": str(self.wheels),
        }

    def play(self, name: str, *words: str, check: bool = True, **extra: object) -> "Played":
        """A playbook of the collection by its name, or any by its path."""
        book = name if "/" in name else f"tmpwarden.fleet.{name}"
        argv = [str(program("ansible-playbook")), "-i", str(self.inventory), book, *words, "-e", json.dumps(extra)]
        done = subprocess.run(
            self.network.inside(argv), cwd=self.home, env=self.environ, capture_output=True, text=True, timeout=900,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        played = Played(done.returncode, done.stdout, done.stderr)
        assert not check or done.returncode == 0, done.stdout[-6000:] + done.stderr
        return played


class Played:
    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err
        recap = out[out.rindex("PLAY RECAP") :] if "PLAY RECAP" in out else ""
        self.changed = {host: int(changed) for host, _, changed, _, _ in _RECAP.findall(recap)}
        self.failed = {host: int(failed) for host, _, _, _, failed in _RECAP.findall(recap)}


def install_collection(home: Path) -> dict[str, str]:
    """Built and installed as a user of it would, into `home`; the environment in which ansible finds it."""
    environ = {
        "HOME": str(home), "PATH": f"{program('x').parent}:{os.environ['PATH']}", "LANG": "C.UTF-8",
        "ANSIBLE_HOME": str(home / ".ansible"), "ANSIBLE_COLLECTIONS_PATH": str(home / "collections"),
        "ANSIBLE_NOCOLOR": "1", "ANSIBLE_HOST_KEY_CHECKING": "0", "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_SSH_ARGS": _SHARED,
    }  # fmt: skip
    galaxy = [str(program("ansible-galaxy")), "collection"]
    built = home / "built"
    subprocess.run(
        [*galaxy, "build", str(REPOSITORY / "deploy" / "ansible"), "--output-path", str(built), "--force"],
        env=environ, check=True, capture_output=True,
    )  # fmt: skip
    [archive] = built.glob("*.tar.gz")
    where = ["-p", environ["ANSIBLE_COLLECTIONS_PATH"]]
    subprocess.run(
        [*galaxy, "install", str(archive), *where, "--offline", "--force"], env=environ, check=True, capture_output=True
    )
    return environ
