"""Strikes at units that are taken together: at the last of them, and at whoever takes them."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from support.litter import claude_session, in_quarantine, later, snapshot
from support.windows import strike
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Receipt
from tmpwarden.model.terms import Outcome
from tmpwarden.oskit.files import take as rename
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store import journal
from tmpwarden.sweep.store.journal import entries, open_intents, restorable
from tmpwarden.sweep.store.undo import undo
from tmpwarden.sweep.take import act, ending, taking

SLUGS = ("-a", "-a", "-b", "-c")


def units(world: Path) -> list[Path]:
    return [claude_session(world / "tmp", slug=slug) for slug in SLUGS]


def swap(unit: Path, world: Path) -> None:
    os.rename(unit, world / "elsewhere")
    unit.mkdir()
    (unit / "precious").write_text("mine")


def open_a_file(unit: Path, world: Path) -> None:
    begin_to_use(world, f"open({str(next(unit.rglob('*.output')))!r}, 'a')")


def lock_a_file(unit: Path, world: Path) -> None:
    begin_to_use(world, f"open({str(next(unit.rglob('*.output')))!r}); fcntl.flock(held, fcntl.LOCK_EX)")


def work_there(unit: Path, world: Path) -> None:
    begin_to_use(world, f"os.chdir({str(unit / 'tasks')!r})")


def write_into_it(unit: Path, world: Path) -> None:
    (unit / "tasks" / "fresh").write_text("mine")


def begin_to_use(world: Path, how: str) -> None:
    source = f"import fcntl, os, sys\nheld = {how}\nprint('ready', flush=True)\nsys.stdin.read()"
    user = subprocess.Popen(
        [sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=world, text=True
    )
    USERS.append(user)
    assert user.stdout and user.stdout.readline() == "ready\n"


USERS: list[subprocess.Popen[str]] = []


@pytest.fixture
def users() -> Iterator[None]:
    yield
    while USERS:
        USERS.pop().communicate()


@pytest.mark.usefixtures("users")
@pytest.mark.parametrize("move", [swap, open_a_file, lock_a_file, work_there, write_into_it], ids=lambda m: m.__name__)
def test_the_last_of_a_group_is_spared_though_the_others_moved_before_it(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, move: Callable[[Path, Path], None]
) -> None:
    litter = units(own_world)
    spared: list[Path] = []

    def move_on_the_last() -> None:
        spared.extend(unit for unit in litter if unit.exists())
        move(spared[0], own_world)

    strike(monkeypatch, rename, "judged, not yet taken", move_on_the_last, nth=len(litter))
    result = clean(Request(quarantine=move is swap), now_ns=later(100))  # of a kept one only the pin says that
    assert len(spared) == 1 and [unit for unit in litter if unit.exists()] == spared
    assert list(spared[0].rglob("precious" if move is swap else "*.output"))
    assert str(spared[0]) in [receipt.finding.path for receipt in result.receipts if receipt.outcome is Outcome.KEPT]


MOMENTS = [
    (taking, "gripped, not yet written down", 1),
    (rename, "judged, not yet taken", 1),  # all intents, and no rename
    (rename, "judged, not yet taken", len(SLUGS)),
    (rename, "taken, not yet verified", len(SLUGS)),
    (act, "taken, holders not yet looked for", 1),
    (ending, "taken, not yet walked again", 1),
    (ending, "taken, not yet walked again", len(SLUGS)),  # of the others it is decided, and not yet told
]
# what is kept for undo is not walked again
DEATHS = [(*each, keeps) for each in MOMENTS for keeps in (True, False)[each[0] is ending :]]


@pytest.mark.parametrize(
    ("module", "window", "nth", "keeps"), DEATHS, ids=lambda value: getattr(value, "__name__", None)
)
def test_the_next_run_settles_every_unit_of_a_killed_group(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, window: str, nth: int, keeps: bool
) -> None:
    litter, state = units(own_world), str(own_world / "state" / "tmpwarden")
    before = {str(unit): snapshot(unit) for unit in litter}
    child = os.fork()
    if child == 0:
        strike(monkeypatch, module, window, lambda: os.kill(os.getpid(), signal.SIGKILL), nth=nth)
        clean(Request(quarantine=keeps), now_ns=later(100))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    clean(Request(agents=("codex",)), now_ns=later(1))
    assert open_intents(state) == []
    waiting = restorable(state)
    assert sorted(waiting) == sorted(path.name for path in in_quarantine(own_world / "tmp"))
    told = {line["path"] for line in entries(state, "receipt") if line["t"] == "receipt"}
    assert {str(unit) for unit in litter if not unit.exists()} <= told
    for token in list(waiting):
        undo(token)
    whole = {path for path in before if os.path.exists(path)}
    assert all(snapshot(Path(path)) == before[path] for path in whole)
    assert not keeps or len(whole) == len(litter)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError])
def test_what_an_exception_left_open_is_settled_however_long_the_journal_became(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]
) -> None:
    """The next run believes the last lines of a journal that says to have ended: it must not say so then."""
    litter, state = units(own_world), str(own_world / "state" / "tmpwarden")
    monkeypatch.setattr(journal, "_LATELY_BYTES", 256)

    def fail(_: Receipt) -> None:
        raise kind

    with contextlib.suppress(kind):
        clean(now_ns=later(100), on_receipt=fail)
    clean(Request(agents=("codex",)), now_ns=later(1))
    assert open_intents(state) == []
    assert len(restorable(state)) == len([unit for unit in litter if not unit.exists()])
