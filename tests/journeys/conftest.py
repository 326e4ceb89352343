"""Machines for the stories, and the one line that each of them prints."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from journeys import machine as machines
from journeys.machine import REPOSITORY, Machine
from support.bases import remove
from support.skips import leave_out_unless_asked
from support.told import NOT_PROVEN

Start = Callable[..., Machine]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_out_unless_asked("journey", Path(__file__).parent, config, items)


@pytest.fixture(scope="session")
def opt() -> Iterator[Path]:
    """/opt of every machine: what pip installed from a copy of this checkout."""
    base = Path(tempfile.mkdtemp(prefix="twjourney-", dir="/var/tmp"))
    base.chmod(0o755)
    source = base / "source"
    source.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source)
    for name in ("src", "docs/man"):
        shutil.copytree(REPOSITORY / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    yield machines.installed(source, base / "opt")
    remove(base)


@pytest.fixture
def start(opt: Path) -> Iterator[Start]:
    """`start("tmpfs", 64, "ann", "bob")`: a machine with a disk of that many megabytes, and these people."""
    begun: list[Machine] = []
    bases: list[Path] = []

    def start(disk: str, megabytes: int, *people: str, opt: Path = opt, is_mac: bool = False) -> Machine:
        base = Path(tempfile.mkdtemp(prefix="twjourney-", dir="/var/tmp"))
        base.chmod(0o755)
        bases.append(base)
        machine = Machine(base, opt, disk, megabytes, people, is_mac)
        begun.append(machine)
        return machine

    yield start
    for machine in begun:
        machine.close()
    for base in bases:
        remove(base)


@pytest.fixture
def tell(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """The line that a person reads when the story came true."""
    number = int(request.module.__name__.rpartition(".")[2].split("_")[1])
    return lambda line: record_property("journey", f"({number}) {line}")


@pytest.fixture(autouse=True)
def story(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> None:
    """Which story it is: number and first sentence of the module's docstring."""
    if os.geteuid() != 0:
        pytest.skip(f"{NOT_PROVEN}journeys need root, for a machine of their own")
    name = request.module.__name__.rpartition(".")[2]
    number, _, title = name.removeprefix("test_").partition("_")
    if number.isdecimal():
        first = request.module.__doc__.partition("\n")[0]
        record_property("story", f"({int(number)}) {title.replace('_', ' ')}: {first}")
