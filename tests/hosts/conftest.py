"""Tests on real hosts run only when they are asked for: `make test-hosts`. Root, debootstrap, systemd-nspawn, ssh."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.skips import leave_out_unless_asked

from .host import Host, build

BASE = Path(os.environ.get("TMPWARDEN_HOSTS", "/var/tmp/tmpwarden-hosts"))  # kept: the next run boots in seconds
NEEDED = ("debootstrap", "systemd-nspawn", "ssh", "nsenter")
REPOSITORY = Path(__file__).parents[2]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_out_unless_asked("hosts", Path(__file__).parent, config, items)


@pytest.fixture(scope="session")
def base() -> Path:
    missing = [name for name in NEEDED if not shutil.which(name)]
    if os.geteuid() != 0 or missing:
        pytest.fail(f"needs root and {', '.join(missing or NEEDED)}")  # somebody asked for it: no skip
    build(BASE)
    return BASE


@pytest.fixture(scope="session")
def wheels(base: Path) -> Path:
    """This working tree and what it needs; hosts have no network."""
    wanted = base / "wheels"
    wanted.mkdir(exist_ok=True)
    for old in wanted.glob("tmpwarden-*.whl"):
        old.unlink()
    argv = [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", str(wanted), str(REPOSITORY)]
    subprocess.run(argv, check=True)
    return wanted


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
