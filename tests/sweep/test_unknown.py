"""`[unknown] max_age`: what no row knows goes unattended, into quarantine for a week, where the user wants that."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from support.holding import process
from support.litter import in_quarantine, later
from support.mounts import needs_root, tmpfs
from tmpwarden.leases import births
from tmpwarden.model.belongings import Birth
from tmpwarden.model.request import Request
from tmpwarden.oskit.files import places
from tmpwarden.sweep.compose import clean

UNATTENDED = Request(unattended=True)
HOURS_9D, HOURS_16D = 9 * 24, 16 * 24
HOLDS = "import sys; held = open(sys.argv[1])\n"


def config(world: Path, text: str) -> None:
    path = world / "config" / "tmpwarden" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


@pytest.fixture
def root(own_world: Path) -> Path:
    clean(Request(agents=("moat",)))  # somebody once said yes
    config(own_world, '[unknown]\nmax_age = "7d"\n[automatic]\nmax = "100%"\n')
    return own_world / "tmp"


def orch(root: Path, name: str = "orch-1a2b") -> Path:
    unit = root / name
    unit.mkdir()
    (unit / "out").write_bytes(b"x" * 5000)
    return unit


def test_it_goes_into_quarantine_when_nobody_used_it_for_so_long_and_waits_a_week(root: Path) -> None:
    unit, file = orch(root), root / "notes-of-a-tool"
    file.touch()
    clean(UNATTENDED, now_ns=later(6 * 24))
    assert unit.exists() and file.exists()
    result = clean(UNATTENDED, now_ns=later(HOURS_9D))
    assert not unit.exists() and not file.exists(), [each.detail for each in result.kept]
    assert len(in_quarantine(root)) == 2
    clean(UNATTENDED, now_ns=later(3 * 24))  # it was taken just now, by the file system's own clock
    assert len(in_quarantine(root)) == 2, "other items have a day"
    clean(UNATTENDED, now_ns=later(8 * 24))
    assert in_quarantine(root) == []


def test_off_it_stays_and_a_person_is_not_surprised(root: Path, own_world: Path) -> None:
    unit = orch(root)
    clean(Request(), now_ns=later(HOURS_16D))
    assert unit.exists(), "only an unattended run takes it"
    config(own_world, "")
    clean(UNATTENDED, now_ns=later(HOURS_16D))
    assert unit.exists()


def hidden(root: Path) -> Path:
    return orch(root, ".orch")


def a_socket(root: Path) -> Path:
    path = root / "s"
    socket.socket(socket.AF_UNIX).bind(str(path))
    return path


def a_fifo(root: Path) -> Path:
    os.mkfifo(root / "pipe")
    return root / "pipe"


def a_link(root: Path) -> Path:
    (root / "link").symlink_to("/etc")
    return root / "link"


def a_repository(root: Path) -> Path:
    unit = orch(root)
    (unit / "deep" / ".git").mkdir(parents=True)
    return unit


def somebodys_root(root: Path) -> Path:
    unit = orch(root)
    (unit / f"claude-{os.geteuid()}").mkdir()
    return unit


def seen_appear(root: Path) -> Path:
    unit = orch(root)
    births.note(places.state_dir(), [Birth(str(unit), 1, 1, 1, "claude", "s", "make", owned=False)])
    return unit


SPARED = (hidden, a_socket, a_fifo, a_link, a_repository, somebodys_root, seen_appear)


@pytest.mark.parametrize("make", SPARED, ids=lambda make: make.__name__)
def test_what_may_be_anything_is_left(root: Path, make: Callable[[Path], Path]) -> None:
    unit = make(root)
    clean(UNATTENDED, now_ns=later(HOURS_16D))
    assert os.path.lexists(unit)


def test_what_somebody_uses_stays(root: Path) -> None:
    unit = orch(root)
    with process(HOLDS, str(unit / "out")):
        clean(UNATTENDED, now_ns=later(HOURS_16D))
        assert unit.exists()


@needs_root
def test_where_nothing_tells_when_a_file_was_read_it_stays(
    root: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tmpfs(own_world / "quiet", "16m,noatime") as quiet:
        monkeypatch.setenv("TMPWARDEN_ROOTS", str(quiet))
        unit = orch(quiet)
        clean(UNATTENDED, now_ns=later(HOURS_16D))
        assert unit.exists()


def test_a_share_of_what_is_found_goes_in_one_run(root: Path, own_world: Path) -> None:
    config(own_world, '[unknown]\nmax_age = "7d"\n')
    units = [orch(root, f"orch-{number:04x}") for number in range(8)]
    clean(UNATTENDED, now_ns=later(HOURS_9D))
    assert 1 <= sum(unit.exists() for unit in units) < 8
