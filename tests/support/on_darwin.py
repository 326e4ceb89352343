"""Runs tests with the package for macOS, over a libproc that answers from Linux' /proc (fakeproc.c).

`pytest -p support.on_darwin tests/oskit/proc/test_holders.py`: here and in every child that starts with our package.
What is asked about processes, mounts and locks goes to `darwin`; calls about files (pins, renames, birth times) stay
Linux' own, because no other kernel is here. Tests that differ stand in darwin_differences.toml, each with its reason,
and one of them that does not differ any more fails.
"""

import importlib
import os
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from support import struck_world
from support.bases import GROUND, PREFIX, remove

HERE = Path(__file__).parent
SOURCE = HERE / "fakeproc.c"
DIFFERENCES = HERE / "darwin_differences.toml"
ASKED = ("connections", "ending", "locks", "looking", "machine", "mounting", "open_files", "processes",
         "vitals")  # fmt: skip
_SITE = """
import pathlib, sys
sys.path.append({tests!r})
from support import on_darwin
on_darwin.switch(str(pathlib.Path(__file__).with_name("libfakeproc.so")))
"""


def built(folder: Path) -> str:
    """The library, compiled anew."""
    library = str(folder / "libfakeproc.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-o", library, str(SOURCE)], check=True)
    return library


def switch(library: str) -> None:
    """From now on this process asks `darwin`, which asks this library."""
    package = "tmpwarden.oskit.system"
    importlib.import_module(f"{package}.darwin.libproc").LIBRARY = library  # type: ignore[attr-defined]
    system = importlib.import_module(package)
    for name in ASKED:
        setattr(system, name, importlib.import_module(f"{package}.darwin.{name}"))
    proof = importlib.import_module(f"{package}.darwin.proof")
    proof._known[proof._whom()] = ""  # it has tests of its own; here it would be tried in every test's new home


def since() -> None:
    """Processes that were there before this one, and what others start, are not a test's: they are not looked at."""
    stat = Path("/proc/self/stat").read_text()
    os.environ |= {"FAKE_SINCE": stat.rpartition(")")[2].split()[19], "FAKE_OURS": str(os.getpid())}


@cache
def _listed() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(DIFFERENCES.read_text())


def _marks() -> dict[str, pytest.MarkDecorator]:
    """Test, with or without its parameters -> how it is marked."""
    marks = {}
    for row in _listed()["difference"]:
        marks |= dict.fromkeys(row["tests"], pytest.mark.xfail(strict=True, reason=row["why"]))
    for row in _listed()["not_run"]:
        marks |= dict.fromkeys(row["tests"], pytest.mark.skip(reason=row["why"]))
    return marks


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marks = _marks()
    for item in items:
        test = item.nodeid.rpartition("/")[2]
        mark = marks.get(test) or marks.get(test.partition("[")[0])
        if mark is not None:
            item.add_marker(mark)


@pytest.fixture(scope="session", autouse=True)
def on_a_mac() -> Iterator[None]:
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=GROUND))
    folder.chmod(0o755)
    library = built(folder)
    since()
    (folder / "sitecustomize.py").write_text(_SITE.format(tests=str(HERE.parent)))
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{folder}:{before}" if before else str(folder)
    switch(library)
    for row in _listed()["unseen"]:
        for use in row["uses"]:
            del struck_world.LIVE[use]
    yield
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before
    remove(folder)
