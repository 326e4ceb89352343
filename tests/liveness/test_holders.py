"""Each way of using a path is seen, by a real process that uses it in that way and no other."""

import os
from pathlib import Path

import pytest

from support.holding import process
from tmpwarden.model.sweep import WitnessKind
from tmpwarden.oskit.holders import Holders

OPEN = "import os, sys; fd = os.open(sys.argv[1], os.O_RDONLY)"
CWD = "import os, sys; os.chdir(sys.argv[1])"
MAPPED = """
import ctypes, os, sys  # mmap.mmap keeps a descriptor of its own
fd = os.open(sys.argv[1], os.O_RDONLY)
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
assert libc.mmap(None, ctypes.c_size_t(4096), 1, 2, fd, ctypes.c_long(0)) != ctypes.c_void_p(-1).value
os.close(fd)
"""


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    unit = tmp_path / "unit"
    (unit / "deep" / "er").mkdir(parents=True)
    (unit / "deep" / "file").write_text("x" * 5000)
    return unit


def kinds(path: Path) -> set[WitnessKind]:
    witnesses = Holders.look().within(str(path))
    assert witnesses is not None
    return {witness.kind for witness in witnesses}


@pytest.mark.parametrize(
    ("source", "member", "kind"),
    [
        (OPEN, "deep/file", WitnessKind.OPEN_FILE),
        (OPEN, "deep", WitnessKind.OPEN_FILE),
        (CWD, "deep/er", WitnessKind.WORKING_DIRECTORY),
        (MAPPED, "deep/file", WitnessKind.MAPPED_FILE),
    ],
)
def test_a_process_that_holds_a_member_is_a_witness_and_only_while_it_lives(
    unit: Path, source: str, member: str, kind: WitnessKind
) -> None:
    with process(source, str(unit / member)) as holder:
        witnesses = Holders.look().within(str(unit))
        assert witnesses
        assert {(witness.kind, witness.pid) for witness in witnesses} == {(kind, holder.pid)}
        assert os.path.basename(witnesses[0].command or "").startswith("python")
    assert kinds(unit) == set()


def test_a_sibling_with_the_same_beginning_is_not_held(unit: Path) -> None:
    with process(OPEN, str(unit / "deep" / "file")):
        (unit.parent / "un").mkdir()
        assert kinds(unit.parent / "un") == set()
        assert kinds(unit / "de") == set()
