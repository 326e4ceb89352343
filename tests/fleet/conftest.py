"""Three real hosts, real ansible-playbook, node_exporter and Prometheus: `make test-fleet`, and only when asked for."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hosts.host import Host
from support.built_hosts import BASE, built, wheels_in
from support.skips import leave_out_unless_asked

from .controller import Controller
from .network import Network
from .rolling import RolledOut, roll_out

NEEDED = ("debootstrap", "systemd-nspawn", "ssh", "nsenter", "ip", "prometheus", "promtool", "prometheus-node-exporter")
_LATE = "/run/systemd/system/tmpwarden.timer.d"
NAMES = ("one", "two", "three")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_out_unless_asked("fleet", Path(__file__).parent, config, items)


@pytest.fixture(scope="session")
def wheels() -> Path:
    return wheels_in(built(NEEDED) / "fleet-wheels")


@pytest.fixture(scope="session")
def network() -> Iterator[Network]:
    with Network() as made:
        yield made


@pytest.fixture(scope="session")
def hosts(wheels: Path, network: Network) -> Iterator[dict[str, Host]]:
    """Booted one after the other (they share this machine's cgroups), and wired; no tmpwarden yet."""
    empty = BASE / "no-wheels"
    empty.mkdir(exist_ok=True)
    booted: dict[str, Host] = {}
    try:
        for name in NAMES:
            booted[name] = Host(BASE, f"fleet-{name}")
            booted[name].boot(empty)
            # A user's systemd that has ended does not start again where the machine's cgroups tell of no empty ones.
            booted[name].run("loginctl enable-linger root alice bob")
            network.wire(booted[name])
            # In its own time the timer would clear what the tests leave; they start its service themselves.
            booted[name].run(
                f"mkdir -p {_LATE}; printf '[Timer]\\nOnActiveSec=\\nOnActiveSec=1d\\n' > {_LATE}/late.conf"
            )
        yield booted
    finally:
        with ThreadPoolExecutor() as pool:
            list(pool.map(Host.down, booted.values()))


@pytest.fixture(scope="session")
def controller(
    tmp_path_factory: pytest.TempPathFactory, hosts: dict[str, Host], network: Network, wheels: Path
) -> Controller:
    return Controller(tmp_path_factory.mktemp("controller"), BASE / "key", hosts, network, wheels)


@pytest.fixture(scope="session")
def rolled_out(controller: Controller, hosts: dict[str, Host]) -> RolledOut:
    """Once for all that live with it; with it comes litter of alice and bob, which a minute later may go."""
    return roll_out(controller, hosts)
