"""Every test lives below its own directory. Nothing here may look at the machine's real temp or home."""

import contextlib
import gc
import itertools
import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support import forked, linux_only
from support.accounts import Machine, fill_private_library
from support.bases import GROUND, PREFIX, base_for_all, remove
from support.compiled import compile_all
from support.examples import ALL, FEW
from support.skips import KINDS, Skips
from support.told import Told
from support.user import OrdinaryUser, fill_library

# How long anything takes is the machine's affair: a test that fails by load is worse than none.
# And the same examples each time, so that a run is red for what was changed; `make test-long` looks for new ones.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=ALL)
settings.register_profile("steady", settings.get_profile("explore"), derandomize=True, max_examples=FEW)
settings.register_profile("thorough", settings.get_profile("explore"), derandomize=True)  # `make mutants`
settings.load_profile("steady")
_TEMP_VARIABLES = ("TMPDIR", "TMP", "TEMP", "CLAUDE_CODE_TMPDIR")
_numbers = itertools.count()
os.environ["PATH"] = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"  # mkfs: a plain `su` leaves them out


@pytest.fixture(scope="session")
def on_disk() -> Iterator[Path]:
    """Where the files of tests marked `disk` lie: ext4 hands out inode numbers anew, and memory does not."""
    with base_for_all() as base:
        base.chmod(0o700)
        yield base


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A number of its own; pytest's fixture looks through those of all tests before for the next that is free."""
    is_on_disk = request.node.get_closest_marker("disk")
    base: Path = request.getfixturevalue("on_disk") if is_on_disk else tmp_path_factory.getbasetemp()
    path = base / f"{re.sub(r'[^a-z]', '_', request.node.name)[:30]}{next(_numbers)}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture(autouse=True)
def own_world(tmp_path: Path) -> Iterator[Path]:
    """HOME, state, config and the temp roots point into the test; child processes inherit that. By a MonkeyPatch of
    its own: a test's `monkeypatch.undo()` would lead to the machine's real temp."""
    patch = pytest.MonkeyPatch()
    umask = os.umask(0o022)  # whatever the machine's is, and whatever a test does to it
    world = tmp_path / "world"
    for name in ("home", "tmp", "state", "config", "data", "cache"):
        (world / name).mkdir(parents=True, mode=0o700)
    for name in list(os.environ):
        if (
            name.startswith(("TMPWARDEN_", "CLAUDE", "CODEX_", "GEMINI_", "COPILOT_", "OPENCODE", "QWEN_"))
            or name in _TEMP_VARIABLES
        ):
            patch.delenv(name)
    patch.setenv("HOME", str(world / "home"))
    patch.setenv("TMPDIR", str(world / "tmp"))
    patch.setenv("TMPWARDEN_ROOTS", str(world / "tmp"))
    patch.setenv("XDG_STATE_HOME", str(world / "state"))
    patch.setenv("XDG_CONFIG_HOME", str(world / "config"))
    patch.setenv("XDG_DATA_HOME", str(world / "data"))
    patch.setenv("XDG_CACHE_HOME", str(world / "cache"))
    yield world
    os.umask(umask)
    patch.undo()


@pytest.fixture(scope="session")
def readable_library() -> Iterator[Path]:
    """A copy of the package that every user can read; the clone may lie in somebody's home."""
    with base_for_all() as base:
        yield fill_library(base)
        forked.end_servers()


@pytest.fixture(scope="session")
def private_library() -> Iterator[Path]:
    """A copy of the package that only root can read, as pipx puts it."""
    with base_for_all() as base:
        yield fill_private_library(base)


@contextlib.contextmanager
def _for_others(request: pytest.FixtureRequest, library: str) -> Iterator[tuple[Path, Path]]:
    """(a directory that every user can reach, the library); whoever is not root cannot become anybody else."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    copy = request.getfixturevalue(library)
    with base_for_all() as base:
        yield base, copy


@pytest.fixture
def ordinary_user(request: pytest.FixtureRequest) -> Iterator[OrdinaryUser]:
    """A user who is not root."""
    with _for_others(request, "readable_library") as given:
        yield OrdinaryUser(*given)


@pytest.fixture
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    """One with users of its own."""
    with _for_others(request, "private_library") as given:
        yield Machine(*given)


def pytest_addoption(parser: pytest.Parser) -> None:
    kinds = ", ".join(KINDS)
    parser.addoption("--accept-skips", metavar="KINDS", help=f"fail when a test is skipped for none of these: {kinds}")
    parser.addoption(
        "--told", metavar="FILE", help="append what the run tells at its end: journeys, what is not proven"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Everything lies below one directory that goes at the end. `--basetemp DIR`, outside, keeps it to look at."""
    _heed_signals()
    if not hasattr(config, "workerinput"):
        compile_all(Path(__file__).parents[1] / "src")
    if config.option.basetemp is None and not hasattr(config, "workerinput"):
        base = Path(tempfile.mkdtemp(prefix=PREFIX, dir=GROUND))
        config.option.basetemp = str(base / "t")
        config.add_cleanup(lambda: remove(base))
        if getattr(config.option, "numprocesses", None):  # this process runs no test itself
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # `timeout` ends us as Ctrl-C would: tidy
    if config.option.accept_skips is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Skips(config.option.accept_skips))
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Told(config.option.told))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Test modules stay compiled for the next run, as the package does; what was collected is never garbage."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = before
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    linux_only.mark(config, items)


def _heed_signals() -> None:
    """`nohup` and a shell's background jobs ignore some, and whatever a test starts would inherit that."""
    for name, handler in (
        ("SIGINT", signal.default_int_handler),
        ("SIGHUP", signal.SIG_DFL),
        ("SIGQUIT", signal.SIG_DFL),
    ):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


from support.unseen import only_one_hides  # noqa: E402, F401 - a fixture for every test
