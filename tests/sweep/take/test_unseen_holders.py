"""What somebody holds that /proc does not show is never destroyed: the kernel is asked before it goes for good."""

import os
import subprocess
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from support import hiding
from support.holding import process
from support.litter import claude_session, cwd_markers, in_quarantine, later
from support.mounts import fill_inodes, needs_root, tmpfs
from support.user import OrdinaryUser
from support.users import IN_FLIGHT, OPEN
from tmpwarden.model.answers import Nobody
from tmpwarden.model.request import Request
from tmpwarden.oskit.files import kernel_word
from tmpwarden.oskit.files import purge as purging
from tmpwarden.oskit.files.opening import closing
from tmpwarden.sweep.compose import clean

# io_uring_setup and io_uring_register(IORING_REGISTER_FILES): the ring holds the file, in nobody's table.
IN_A_RING = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
parameters = ctypes.create_string_buffer(256)
ring = libc.syscall(425, 4, parameters)
if ring < 0:
    print("no ring", flush=True); sys.exit(0)
fd = os.open(sys.argv[1], os.O_RDONLY)
files = (ctypes.c_int * 1)(fd)
assert libc.syscall(427, ring, 2, files, 1) == 0, ctypes.get_errno()
os.close(fd)
"""
PURGE = Request(rows=("claude.cwd-marker",), empty_quarantine=True)
EXPIRY = Request(rows=("claude.cwd-marker",))


def has_rings() -> bool:
    source = "import ctypes; print(ctypes.CDLL(None).syscall(425, 4, ctypes.create_string_buffer(256)))"
    done = subprocess.run(["python3", "-c", source], capture_output=True, text=True, check=True)
    return int(done.stdout) >= 0


@pytest.fixture(params=["in flight", "in a ring"])
def holder(request: pytest.FixtureRequest) -> str:
    if request.param == "in a ring" and not has_rings():
        pytest.skip("this kernel gives nobody a ring")
    return IN_FLIGHT if request.param == "in flight" else IN_A_RING


@contextmanager
def held(holder: str, path: Path) -> Iterator[None]:
    """Until it has ended and the kernel has let the file go, which for a ring is done a little later by a worker."""
    with process(holder, str(path)):
        yield
    (found,) = path.parents[3].rglob(path.name)
    with closing(os.open(found.parent, os.O_RDONLY)) as fd:
        until = time.monotonic() + 60
        while not isinstance(kernel_word.ask(fd, found.name), Nobody):
            assert time.monotonic() < until, "the kernel holds on to it"
            time.sleep(0.01)


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def member_of(unit: Path) -> Path:
    return unit / "tasks" / "b00000000.output"


@pytest.mark.parametrize(("request_", "hours"), [(PURGE, 101), (EXPIRY, 200)], ids=["--purge", "its time is over"])
def test_what_waits_in_quarantine_goes_back(root: Path, holder: str, request_: Request, hours: float) -> None:
    unit = claude_session(root)
    with held(holder, member_of(unit)):
        clean(now_ns=later(100))
        assert not unit.exists()
        result = clean(request_, now_ns=later(hours))
        assert member_of(unit).read_text().startswith("output 0") and len(list(unit.rglob("*"))) == 4
        assert [str(unit) in warning and "moved back to its place" in warning for warning in result.warnings] == [True]
    clean(now_ns=later(300))
    clean(EXPIRY, now_ns=later(400))
    assert not unit.exists() and in_quarantine(root) == []


def test_what_is_worth_something_is_not_purged_at_once(root: Path, holder: str) -> None:
    unit = claude_session(root)
    with held(holder, member_of(unit)):
        clean(Request(quarantine=False), now_ns=later(100))
        assert member_of(unit).exists() and len(list(unit.rglob("*"))) == 4
    clean(Request(quarantine=False), now_ns=later(100))
    assert not unit.exists() and in_quarantine(root) == []


@needs_root
def test_it_is_not_removed_in_place(tmp_path: Path, holder: str) -> None:
    with tmpfs(tmp_path / "t", size="4m", inodes=300) as root:
        unit = claude_session(root, files=3)
        fill_inodes(root)
        request = Request(roots=(str(root),), quarantine=False)
        with held(holder, member_of(unit)):
            clean(request, now_ns=later(100))
            assert member_of(unit).exists() and len(list(unit.rglob("*"))) == 4
        clean(request, now_ns=later(100))
        assert not unit.exists()


@needs_root
@pytest.mark.parametrize("words", [("--no-quarantine",), ()], ids=["at once", "a day later"])
def test_what_root_has_open_is_not_destroyed_by_an_ordinary_user(
    ordinary_user: OrdinaryUser, words: tuple[str, ...]
) -> None:
    hiding.hand_over(ordinary_user)
    unit = hiding.session(ordinary_user)
    member = unit / "tasks" / "b1.output"
    much_later = hiding.LATER.replace("100 *", "200 *")
    with process(OPEN, str(member)):
        hiding.run(ordinary_user, hiding.LATER, "clean", "--yes", *words)
        said = hiding.run(ordinary_user, much_later, "clean", "--yes", *words)  # it may take what came back once more
        assert [path.read_text() for path in ordinary_user.tmp.rglob(member.name)] == ["x" * 5000], said
    hiding.run(ordinary_user, hiding.LATER, "clean", "--yes", "--purge")
    hiding.run(ordinary_user, hiding.LATER, "clean", "--yes", "--no-quarantine")
    assert list(ordinary_user.tmp.rglob(member.name)) == []


def test_what_is_worth_nothing_is_not_asked_about(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs as much as its unlink."""
    markers = cwd_markers(root, 3)
    monkeypatch.setattr(kernel_word, "ask", lambda *words: pytest.fail("asked"))
    clean(now_ns=later(100))
    assert not any(path.exists() for path in markers)


@pytest.mark.parametrize("way", ["at once", "its time is over"])
def test_every_file_is_asked_about_before_the_first_goes(root: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    unit = claude_session(root, files=20)
    told: list[str] = []
    entry, purge = kernel_word.KernelQuestion.entry, purging.purge
    monkeypatch.setattr(kernel_word.KernelQuestion, "entry", lambda *words: (told.append("asked"), entry(*words))[1])
    monkeypatch.setattr(purging, "purge", lambda *words, **more: (told.append("purged"), purge(*words, **more))[1])
    clean(Request(quarantine=way != "at once"), now_ns=later(100))
    if way != "at once":
        told.clear()  # the directory around it went at once
    clean(EXPIRY, now_ns=later(200))
    assert not unit.exists()
    assert told[:21] == ["asked"] * 20 + ["purged"]


def test_a_whole_look_at_everybody_stands_where_the_kernel_cannot_be_asked(root: Path) -> None:
    """A fifo: as it was before the kernel was asked at all."""
    unit = claude_session(root)
    os.mkfifo(unit / "fifo")
    clean(now_ns=later(100))
    result = clean(EXPIRY, now_ns=later(200))
    assert not unit.exists() and in_quarantine(root) == [] and result.warnings == []


def test_the_question_keeps_no_names(tmp_path: Path) -> None:
    """However many files: ten times as many need no more room."""
    peaks = []
    for count in (300, 3000):
        (tmp_path / str(count)).mkdir()
        for number in range(count):
            (tmp_path / str(count) / f"{number:0200}").touch()
        with ExitStack() as stack:
            fd = os.open(tmp_path, os.O_RDONLY)
            stack.callback(os.close, fd)
            tracemalloc.start()
            kernel_word.ask(fd, str(count))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < peaks[0] + 50_000, peaks
