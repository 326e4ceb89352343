"""The trap table: nothing held, locked, mounted, foreign, fresh or live goes; everything that may go does."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.litter import claude_session, later
from support.mounts import bind, needs_root, tmpfs
from support.user import UID, OrdinaryUser
from tmpwarden.model.sweep import Keep
from tmpwarden.model.terms import Reason
from tmpwarden.sweep.compose import clean, scan

SCRIPT = Path(__file__).with_name("traps.py")
MAY_GO = {
    *("control", "symlink to a directory", "dead socket", "fifo", "hard link", "read-only directory"),
    *("name with a newline", "name that is no UTF-8", "deep tree"),
}
STAYS_BY_ITSELF = {"sticky file", "fresh file"}
HELD = {
    *("file held open", "file under flock", "file under POSIX lock"),
    *("directory under flock", "listening socket", "working directory"),
}


@pytest.fixture(params=["root", "ordinary user"])
def sprung(request: pytest.FixtureRequest, own_world: Path) -> Iterator[tuple[dict[str, dict[str, bool]], Path]]:
    if request.param == "root":
        world = own_world
        (world / "victim").mkdir()
        (world / "victim" / "precious").write_text("x")
        done = subprocess.run(
            [sys.executable, str(SCRIPT), str(world / "tmp")], capture_output=True, text=True, check=True, timeout=120
        )
        yield json.loads(done.stdout), world
        return
    user: OrdinaryUser = request.getfixturevalue("ordinary_user")
    os.chown(user.base, UID, UID)
    (user.base / "victim").mkdir()
    (user.base / "victim" / "precious").write_text("x")
    (user.base / "traps.py").write_text(SCRIPT.read_text())
    done = user.run([user.python, str(user.base / "traps.py"), str(user.tmp)])
    assert done.returncode == 0, done.stderr
    yield json.loads(done.stdout), user.base


def test_every_trap_ends_as_a_careful_tool_would_end_it(sprung: tuple[dict[str, dict[str, bool]], Path]) -> None:
    left, world = sprung
    assert {trap for trap in MAY_GO if left["held"][trap]} == set(), "should have gone"
    assert {trap for trap in HELD if not left["held"][trap]} == set(), "was in use"
    assert {trap for trap in HELD if left["free"][trap]} == set(), "nobody used it any more"
    assert {trap for trap in STAYS_BY_ITSELF if not left["free"][trap]} == set(), "a law keeps it"
    assert (world / "victim" / "precious").exists(), "a link was followed"
    assert (world / "hard").read_text() == "x"


@needs_root
def test_another_users_file_keeps_the_whole_unit(own_world: Path) -> None:
    unit = claude_session(own_world / "tmp")
    os.chown(unit / "tasks" / "b00000001.output", UID, UID)
    (kept,) = scan(now_ns=later(100))
    assert isinstance(kept, Keep)
    assert kept.reason is Reason.FOREIGN
    clean(now_ns=later(100))
    assert len(list(unit.rglob("*.output"))) == 3


@needs_root
@pytest.mark.parametrize("how", ["bind mount of the same file system", "tmpfs"])
def test_a_mount_inside_keeps_the_whole_unit(own_world: Path, tmp_path: Path, how: str) -> None:
    unit = claude_session(own_world / "tmp")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "precious").write_text("x")
    point = unit / "mnt"
    with bind(tmp_path / "elsewhere", point) if how != "tmpfs" else tmpfs(point):
        clean(now_ns=later(100))
        assert unit.exists()
        (kept,) = scan(now_ns=later(100))
        assert isinstance(kept, Keep)
        assert kept.reason is Reason.MOUNT
    assert (tmp_path / "elsewhere" / "precious").exists()
    deadline = time.monotonic() + 120
    while unit.exists():  # another test's mount namespace may have copied the mount, and rightly keeps the unit
        assert time.monotonic() < deadline
        clean(now_ns=later(100))


@needs_root
def test_a_device_node_keeps_the_unit(own_world: Path) -> None:
    unit = claude_session(own_world / "tmp")
    os.mknod(unit / "null", 0o600 | 0o020000, os.makedev(1, 3))
    (kept,) = scan(now_ns=later(100))
    assert isinstance(kept, Keep)
    assert kept.reason is Reason.DEVICE
