"""Systems without /proc: what psutil sees counts, what nobody sees is not measured, and nothing breaks on import."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.answers import witnesses
from support.holding import process
from support.users import OPEN, fill
from tmpwarden.model.answers import NotMeasured
from tmpwarden.model.terms import WitnessKind
from tmpwarden.oskit.proc import namespaces
from tmpwarden.oskit.proc.holders import Holders


@pytest.fixture
def without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces.MountTable, "of", classmethod(lambda cls, pid="self": None))


@pytest.mark.usefixtures("without_proc")
def test_without_psutil_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert isinstance(Holders.look().within("/tmp"), NotMeasured)


@pytest.mark.usefixtures("without_proc")
def test_with_psutil_users_are_seen_but_absence_is_never_known(tmp_path: Path) -> None:
    unit = fill(tmp_path / "unit")
    with process(OPEN, str(unit / "deep" / "file"), env={"SOME_SESSION": "s-1", "TMPDIR": str(unit / "deep")}) as user:
        holders = Holders.look(("SOME_SESSION",))
        assert {(one.kind, one.pid) for one in witnesses(holders.within(str(unit)))} == {
            (WitnessKind.OPEN_FILE, user.pid),
            (WitnessKind.TMPDIR, user.pid),
        }
        assert [one.pid for one in witnesses(holders.carriers("SOME_SESSION", "s-1"))] == [user.pid]
        assert isinstance(holders.carriers("SOME_SESSION", "s-2"), NotMeasured)
        assert isinstance(holders.within(str(unit / "deep" / "er")), NotMeasured)


MODULES = [
    *("oskit.proc." + name for name in ("namespaces", "procs", "identity", "holders", "locks")),
    *("oskit.system.linux.visibility", "leases.scratch", "leases.book", "leases.registries", "repos.work"),
]
MISSING = [
    "O_PATH",
    "O_NOFOLLOW",
    "O_DIRECTORY",
    "O_CLOEXEC",
    "O_NONBLOCK",
    "O_NOATIME",
    "geteuid",
    "getuid",
    "makedev",
]


def test_nothing_breaks_where_posix_is_missing() -> None:
    """As on Windows: the modules can be imported, and say that they do not know."""
    source = f"""
import os, sys
for name in ("fcntl", "pwd", "grp", "resource", "termios"):
    sys.modules[name] = None
for name in {MISSING!r}:
    delattr(os, name)
import importlib
for name in {MODULES!r}:
    importlib.import_module("tmpwarden." + name)
from tmpwarden.oskit.proc import locks, namespaces
assert locks.try_flock(0) is False
assert type(locks.listeners(0, "x")).__name__ == "NotMeasured"
"""
    subprocess.run([sys.executable, "-c", source], check=True)


HEAVY = {"re", "json", "pathlib", "dataclasses", "enum", "typing", "argparse", "subprocess", "tempfile", "shutil"}


def test_a_hook_can_open_a_scratch_without_anything_heavy(tmp_path: Path) -> None:
    source = f"""
import sys
from tmpwarden.leases import scratch
scratch.open_scratch({str(tmp_path)!r}, "claude", "s", pid=1)
scratch.find({str(tmp_path)!r}, "claude", "s")
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-I", "-c", source], check=True, capture_output=True, text=True)
    bare = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"], check=True, capture_output=True, text=True
    )
    assert (set(done.stdout.split()) - set(bare.stdout.split())) & HEAVY == set()
