"""What a walk and a purge cost: system calls an inode, and memory however big the tree is."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tmpwarden
from support.trees import chain, flat

_LIBRARY = str(Path(tmpwarden.__file__).parents[1])
_MEASURE = "from tmpwarden.oskit.files.walk import measure; measure(fd, name, uid=os.geteuid(), count_atime=False)"
_PURGE = "from tmpwarden.oskit.files.purge import purge_own; purge_own(fd, name)"
_TRUSTING = (
    "from tmpwarden.oskit.files.purge import purge; from tmpwarden.oskit.files.doomed import own\n"
    "from tmpwarden.model.sweep import Measure\n"
    "if os.path.exists(f'/proc/self/fd/{fd}/{name}'): purge(own(fd, name), measured=Measure(0, 0, 0, 0))"
)


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """A directory on tmpfs: a million inodes on a disk would take minutes to make."""
    base = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path("/tmp")
    path = base / f"twtest-{os.getpid()}"
    path.mkdir(mode=0o700)
    try:
        yield path
    finally:
        subprocess.run(["rm", "-rf", path], check=False)


def _source(deed: str, directory: Path, name: str = "unit") -> str:
    return (
        f"import os, sys; sys.path.insert(0, {_LIBRARY!r}); import tmpwarden.model.sweep\n"
        f"fd, name = os.open({str(directory)!r}, os.O_RDONLY), {name!r}\n{deed}\n"
    )


def _calls(source: str, tmp_path: Path) -> int:
    argv = ["strace", "-c", "-f", "-o", str(tmp_path / "trace"), sys.executable, "-I", "-S", "-c", source]
    subprocess.run(argv, check=True, capture_output=True)
    (total,) = [line.split() for line in (tmp_path / "trace").read_text().splitlines() if line.endswith(" total")]
    return int(total[3] if len(total) > 3 else total[-2])


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs the program strace")
@pytest.mark.parametrize(
    ("deed", "most"), [(_MEASURE, 2.7), (_PURGE, 3.6), (_TRUSTING, 2.8)], ids=["measure", "purge", "purge measured"]
)
def test_system_calls_an_inode(in_memory: Path, tmp_path: Path, deed: str, most: float) -> None:
    flat(str(in_memory / "unit"), 6)
    for number in range(159):
        flat(str(in_memory / "unit" / f"d{number}"), 6)
    inodes = 160 * 7
    (in_memory / "nothing").mkdir()
    start = _calls(_source(deed, in_memory, "nothing"), tmp_path)
    calls = _calls(_source(deed, in_memory), tmp_path) - start
    assert calls / inodes < most


# not getrusage: a child starts with the peak of the process that forked it
_PEAK = "\nprint([int(line.split()[1]) // 1024 for line in open('/proc/self/status') if line.startswith('VmHWM')][0])"


def _make_links(path: Path, count: int) -> None:
    """Every inode with two names, the second one outside: the worst case for counting bytes once."""
    for folder in ("unit", "outside"):
        (path / folder).mkdir()
    for number in range(count):
        os.mknod(path / "outside" / f"{number}")
        os.link(path / "outside" / f"{number}", path / "unit" / f"{number}")


def _make_chain(path: Path, count: int) -> None:
    """Half of it a chain, the rest hanging off its levels below those that stay open."""
    (path / "unit").mkdir()
    here = os.open(path / "unit", os.O_RDONLY)
    chain(here, 100)
    for _ in range(100):
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    for number in range(count // 2):
        os.mkdir(f"side-{number:09d}", dir_fd=here)
    chain(here, count // 2)
    os.close(here)


SHAPES: dict[str, Callable[[Path, int], None]] = {
    "files": lambda path, count: flat(str(path / "unit"), count),
    "directories": lambda path, count: flat(str(path / "unit"), count, directories=True),
    "deep": _make_chain,
    "links": _make_links,
}


def _peak(in_memory: Path, deed: str, run_python: Callable[..., str]) -> int:
    return int(run_python(_source(deed, in_memory) + _PEAK))


@pytest.mark.parametrize("shape", SHAPES)
def test_memory_at_fifty_thousand_entries(in_memory: Path, shape: str, run_python: Callable[..., str]) -> None:
    SHAPES[shape](in_memory, 50_000)
    assert _peak(in_memory, _MEASURE, run_python) < 32
    assert _peak(in_memory, _PURGE, run_python) < 32


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
def test_memory_at_a_million_entries(in_memory: Path, shape: str, run_python: Callable[..., str]) -> None:
    SHAPES[shape](in_memory, 1_000_000)
    assert _peak(in_memory, _MEASURE, run_python) < 64
    assert _peak(in_memory, _PURGE, run_python) < 64
