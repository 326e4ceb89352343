"""An adversary of the same user exchanges directories for symlinks, as fast as it can, while clean runs."""

import contextlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.holding import process
from support.litter import claude_session, in_quarantine, later
from support.windows import strike
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.prepared import CleanResult
from tmpwarden.sweep.take import act

EXCHANGE = """
import ctypes, os, sys
renameat2 = ctypes.CDLL(None).renameat2
one, two = (os.fsencode(path) for path in sys.argv[1:3])
print("ready", flush=True)
while True:
    renameat2(-100, one, -100, two, 2)
"""


@contextlib.contextmanager
def exchanging(one: Path, two: Path) -> Iterator[None]:
    adversary = subprocess.Popen([sys.executable, "-c", EXCHANGE, str(one), str(two)], stdout=subprocess.PIPE)
    assert adversary.stdout
    adversary.stdout.readline()
    try:
        yield
    finally:
        adversary.kill()
        adversary.wait()
        adversary.stdout.close()


def fight(world: Path, seconds: float, inside: str, *, quarantine: bool) -> int:
    """Rounds of clean against the adversary; every round the victim must be whole."""
    victim = world / "victim"
    victim.mkdir()
    for number in range(120):
        (victim / f"precious-{number}").write_text("x")
    until, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        unit = claude_session(world / "tmp", files=20)
        target = unit / inside if inside else unit
        bait = world / "tmp" / "bait"
        if bait.is_dir() and not bait.is_symlink():  # the last exchange may have left the unit here
            shutil.rmtree(bait)
        bait.unlink(missing_ok=True)
        bait.symlink_to(victim)
        with exchanging(target, bait):
            clean(Request(quarantine=quarantine), now_ns=later(100))
        rounds += 1
        assert len(list(victim.iterdir())) == 120, "victim files were lost"
    return rounds


@pytest.mark.parametrize("quarantine", [True, False], ids=["quarantine", "purge"])
@pytest.mark.parametrize("inside", ["", "tasks"], ids=["the unit itself", "a directory inside"])
def test_no_victim_file_is_ever_lost(own_world: Path, inside: str, quarantine: bool) -> None:
    assert fight(own_world, 0.5, inside, quarantine=quarantine) > 0


@pytest.mark.long
@pytest.mark.parametrize("quarantine", [True, False], ids=["quarantine", "purge"])
@pytest.mark.parametrize("inside", ["", "tasks"], ids=["the unit itself", "a directory inside"])
def test_no_victim_file_is_ever_lost_in_a_minute(own_world: Path, inside: str, quarantine: bool) -> None:
    assert fight(own_world, 60, inside, quarantine=quarantine) > 0


def clean_while_somebody_enters(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, besides: Callable[[], object] = lambda: None
) -> CleanResult:
    """Between the take and the last look a process goes into the unit, and `besides` happens."""
    with contextlib.ExitStack() as stack:

        def enter_it() -> None:
            (token,) = in_quarantine(own_world / "tmp")
            stack.enter_context(process("", cwd=token))
            besides()

        strike(monkeypatch, act, "taken, holders not yet looked for", enter_it)
        return clean(now_ns=later(100))


def test_who_enters_a_unit_between_the_take_and_the_last_look_gets_it_back(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = claude_session(own_world / "tmp")
    result = clean_while_somebody_enters(own_world, monkeypatch)
    assert unit.exists()
    assert [receipt.reason.value for receipt in result.spared] == ["working-directory"]


def test_a_name_that_was_taken_meanwhile_is_not_overwritten_and_nothing_is_lost(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = claude_session(own_world / "tmp")

    def take_the_name() -> None:
        unit.mkdir()
        (unit / "successor").write_text("new")

    result = clean_while_somebody_enters(own_world, monkeypatch, take_the_name)
    assert (unit / "successor").read_text() == "new"
    assert len(result.failed) == 1
    (pinned,) = in_quarantine(own_world / "tmp")
    assert pinned.suffix == ".p"
    clean(Request(empty_quarantine=True), now_ns=later(10_000))
    assert len(list(pinned.rglob("*.output"))) == 3, "what could not be put back never expires"


def test_two_cleans_at_once_take_every_unit_exactly_once(own_world: Path) -> None:
    units = [claude_session(own_world / "tmp", slug=f"-p{n}") for n in range(30)]
    source = (
        "import time; from tmpwarden.sweep.compose import clean\n"
        "r = None\n"
        "while r is None or r.stopped:  # a loaded machine: the other one takes more than five seconds\n"
        "    r = clean(now_ns=lambda: time.time_ns() + 360_000 * 10**9)\n"
        "print(sum(x.finding.litter.id == 'session' for x in r.removed), len(r.failed))"
    )
    both = [subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [process.communicate(timeout=120)[0].split() for process in both]
    assert sum(int(taken) for taken, _ in answers) == 30
    assert [failed for _, failed in answers] == ["0", "0"]
    assert not any(unit.exists() for unit in units)
