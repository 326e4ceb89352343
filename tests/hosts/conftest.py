"""Tests on real hosts run only when they are asked for: `make test-hosts`. Root, debootstrap, systemd-nspawn, ssh."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.built_hosts import built, wheels_in
from support.skips import leave_out_unless_asked

from .host import Host

NEEDED = ("debootstrap", "systemd-nspawn", "ssh", "nsenter")
REPOSITORY = Path(__file__).parents[2]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_out_unless_asked("hosts", Path(__file__).parent, config, items)


@pytest.fixture(scope="session")
def base() -> Path:
    return built(NEEDED)


@pytest.fixture(scope="session")
def wheels(base: Path) -> Path:
    return wheels_in(base / "wheels")


@pytest.fixture(scope="module")
def host(base: Path, wheels: Path, request: pytest.FixtureRequest) -> Iterator[Host]:
    """Booted for one module, with wheels and a `pipx` that takes them; gone at its end."""
    name = request.module.__name__.rpartition(".")[2].removeprefix("test_")
    booted = Host(base, name)
    booted.boot(wheels)
    try:
        yield booted
    finally:
        booted.down()
