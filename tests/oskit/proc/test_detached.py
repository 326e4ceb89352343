"""A mount that is taken away (`umount -l`) under somebody who uses it hides him from nobody."""

import errno
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.holding import process
from support.litter import claude_session, later, snapshot
from support.mounts import bind, needs_root, tmpfs
from support.users import LIBC, MAP, OPEN
from tmpwarden.model.answers import Held, NotMeasured
from tmpwarden.model.request import Request
from tmpwarden.model.terms import WitnessKind
from tmpwarden.oskit.proc.holders import Holders
from tmpwarden.oskit.system.linux import detached
from tmpwarden.oskit.system.linux.links import look_at
from tmpwarden.sweep.compose import clean

pytestmark = [needs_root, pytest.mark.disk]


@pytest.fixture
def root(own_world: Path) -> Iterator[Path]:
    """A device of its own: what is doubted here is doubted by nobody who works beside us."""
    with tmpfs(own_world / "tmp") as mounted:
        yield mounted


WAYS = {
    "a file": (OPEN, "tasks/b00000000.output"),
    "a directory": (OPEN, ""),
    "a mapping": (MAP, "tasks/b00000000.output"),
    "a working directory": ("import os, sys; os.chdir(sys.argv[1])", "tasks"),
    "its very top": ("import os, sys; os.chdir(sys.argv[1])", ""),
}
IN_ITS_OWN_NAMESPACE = LIBC + "own_mounts(); bind(sys.argv[1], sys.argv[2])\n"
IN_ITS_OWN_NAMESPACE += "fd = os.open(sys.argv[2] + '/tasks/b00000000.output', os.O_RDONLY)\n"
IN_ITS_OWN_NAMESPACE += "call('umount2', os.fsencode(sys.argv[2]), 2)  # MNT_DETACH"


@contextmanager
def used_through_a_lost_mount(unit: Path, how: str) -> Iterator[None]:
    point = unit.parent.parent.parent / "point"
    point.mkdir()
    source, below = WAYS[how]
    subprocess.run(["mount", "--bind", unit, point], check=True)
    try:
        with process(source, str(point / below)):
            subprocess.run(["umount", "-l", point], check=True)
            yield
    finally:
        subprocess.run(["umount", "-l", point], check=False, capture_output=True)


@pytest.mark.parametrize("how", WAYS)
def test_it_leaves_a_doubt(root: Path, how: str) -> None:
    unit = claude_session(root)
    with used_through_a_lost_mount(unit, how):
        answer = Holders.look(closely=True).within(str(unit))
        if not _has_another_namespace_copied_it(answer):
            assert isinstance(answer, NotMeasured) and "was unmounted under it" in answer.why and answer.askable
    assert "unmounted" not in str(Holders.look(closely=True).within(str(unit)))


def _has_another_namespace_copied_it(answer: object) -> bool:
    """A test beside us made a mount namespace while the mount was there: in it, it still is, and that is seen."""
    return isinstance(answer, Held) and {each.kind for each in answer.by} == {WitnessKind.MOUNT_SOURCE}


@pytest.mark.parametrize("how", ["a file", "a mapping"])
def test_what_is_open_there_stays(root: Path, how: str) -> None:
    unit = claude_session(root)
    before = snapshot(unit)
    with used_through_a_lost_mount(unit, how):
        clean(Request(quarantine=False), now_ns=later(100))
        assert snapshot(unit) == before


@pytest.mark.parametrize("how", ["a working directory", "its very top"])
def test_what_somebody_works_in_there_is_never_destroyed(root: Path, how: str) -> None:
    unit = claude_session(root)
    with used_through_a_lost_mount(unit, how):
        clean(Request(quarantine=False), now_ns=later(100))
        assert unit.exists()


def test_another_device_is_not_doubted(root: Path) -> None:
    unit = claude_session(root)
    with used_through_a_lost_mount(unit, "a file"):
        lost, table = Holders.look(closely=True).lost, detached.MountTable.read("self")
        here, there = table.locate(str(unit)), table.locate("/etc/passwd")
        assert here and there and here[0] in lost and lost.get(there[0]) != lost[here[0]]


def test_in_another_mount_namespace_too(root: Path) -> None:
    unit = claude_session(root)
    (root.parent / "point").mkdir()
    with process(IN_ITS_OWN_NAMESPACE, str(unit), str(root.parent / "point")):
        assert isinstance(Holders.look(closely=True).within(str(unit)), NotMeasured)


def test_a_descriptor_that_came_from_another_namespace_leaves_no_doubt(root: Path) -> None:
    """As whoever starts a container has them: their mounts are there, only not where the process is."""
    unit = claude_session(root)
    with process(OPEN + LIBC + "own_mounts()", str(unit / "tasks")) as holder:
        assert f"process {holder.pid} " not in str(Holders.look(closely=True).lost)


def test_a_mount_that_is_there_leaves_no_doubt(root: Path) -> None:
    unit, suspects = claude_session(root), detached.Suspects()
    table = detached.MountTable.read("self")
    with bind(unit, root.parent / "point") as point, process(OPEN, str(point / "tasks")) as holder:
        suspects.look_at(holder.pid, look_at(holder.pid), table, has_our_root=True)
        assert suspects.descriptors and suspects.lost([table]) == {}, "it came after the table of mounts was read"
        assert isinstance(Holders.look(closely=True).within(str(unit)), Held)


def test_one_that_has_ended_and_waits_for_its_parent_leaves_no_doubt(root: Path) -> None:
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    looked = Holders.look(closely=True)
    ended.wait()
    assert ended.pid not in looked.processes or f"{ended.pid}" not in str(looked.doubts)


DEEPER = """
import os, sys
os.chdir(sys.argv[1])
for _ in range(40):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
fd = os.open(".", os.O_RDONLY)
"""


def test_who_works_where_no_path_can_be_told_is_a_doubt_about_deep_units_alone(root: Path) -> None:
    """As `rm -rf` does in a deep tree: on a busy machine there is always one, and nothing would ever go."""
    unit, deep = claude_session(root), claude_session(root)
    with process(DEEPER, str(deep)) as somebody:
        looked = Holders.look(closely=True)
        assert not [why for why in looked.doubts if str(somebody.pid) in why]
        assert f"process {somebody.pid} " in looked.in_the_deep
        assert str(somebody.pid) not in str(looked.lost)
        clean(Request(quarantine=False), now_ns=later(100))
        assert not unit.exists()
        assert os.stat(f"/proc/{somebody.pid}/cwd").st_nlink, "the deep one is gone for good"


def test_a_path_that_cannot_be_told_on_a_lost_mount_leaves_a_doubt(root: Path) -> None:
    unit, point = claude_session(root), root / "point"
    point.mkdir()
    subprocess.run(["mount", "--bind", unit, point], check=True)
    with process(DEEPER + 'os.chdir("/")', str(point)) as holder:
        subprocess.run(["umount", "-l", point], check=True)
        looked = Holders.look(closely=True)
        where = detached.MountTable.read("self").locate(str(unit))
        assert where and f"process {holder.pid} " in looked.lost[where[0]]


def test_one_whose_server_does_not_answer_is_not_waited_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit, end = claude_session(root), threading.Event()
    monkeypatch.setattr(detached, "_number_behind", lambda _: end.wait(60))
    monkeypatch.setattr(detached, "_STUCK_S", 0.05)
    try:
        with process("import os; os.chdir('/')"):
            answer = Holders.look(closely=True).within(str(unit))
            assert isinstance(answer, NotMeasured) and answer.askable
    finally:
        end.set()


def test_where_no_child_can_be_started_to_ask_there_is_a_doubt(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = claude_session(root)

    def refuse(*words: object, **more: object) -> int:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    with used_through_a_lost_mount(unit, "a directory"):
        monkeypatch.setattr(os, "posix_spawn", refuse)
        answer = Holders.look(closely=True).within(str(unit))
        assert isinstance(answer, NotMeasured) or _has_another_namespace_copied_it(answer)
