"""Two walkers see what one sees, leave nothing behind, and neither needs the other."""

import os
import resource
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from support import planted
from support.litter import later
from support.skips import needs_two_cores
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Finding, Measure
from tmpwarden.model.terms import Kind, Reason
from tmpwarden.oskit.proc import grip as following
from tmpwarden.sweep import prepared as prepared_module
from tmpwarden.sweep.compose import clean, prepare, scan
from tmpwarden.sweep.find import second_walker
from tmpwarden.sweep.find.second_walker import Look, SecondWalker
from tmpwarden.sweep.prepared import Prepared
from tmpwarden.sweep.take import act, ending

pytestmark = needs_two_cores
UNITS = 12


@pytest.fixture
def prepared(own_world: Path) -> Prepared:
    root = own_world / "tmp"
    units = [planted.session(root, 1000 * number) for number in range(UNITS)]
    for number, unit in enumerate(units):
        for file in range(300):
            (unit / "tasks" / f"b{number}-{file}").touch()
    (units[3] / os.fsdecode(b"bad\xff\xfename")).symlink_to("/etc/passwd")
    subprocess.run(["git", "init", "-q", units[7] / "tasks"], check=True)
    with socket.socket(socket.AF_UNIX) as bound:
        here = os.getcwd()
        os.chdir(units[-1])
        bound.bind("s")
        os.chdir(here)
    return prepare(Request(), now_ns=later(100))


def all_children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


@pytest.fixture(autouse=True)
def children() -> Callable[[], list[str]]:
    """Those that came with this test: whoever ran before in this process may have left some."""
    before = all_children()
    return lambda: sorted(all_children() - before)


def seen(verdicts: object) -> list[tuple[object, ...]]:
    return [(v.finding, v.reason, v.evidence.measure) for v in verdicts]  # type: ignore[attr-defined]


def batch_of(prepared: Prepared) -> list[Finding]:
    return list(prepared.finder.find())


def looks(batch: list[Finding], measure: Callable[[Finding], Measure | None]) -> list[Look | None]:
    return [partial(measure, finding) if finding.kind is Kind.DIR else None for finding in batch]


def test_both_ways_of_looking_see_the_same(prepared: Prepared, children: Callable[[], list[str]]) -> None:
    assert seen(prepared.surveyed()) == seen(prepared.verdicts())
    assert children() == []


def test_the_last_units_come_from_the_second_walker(prepared: Prepared, children: Callable[[], list[str]]) -> None:
    batch = batch_of(prepared)
    with SecondWalker(looks(batch, prepared.measure), []) as second:
        second.set_out(0)
        last = len(batch) - 1
        assert [second.measure(number) for number in (last, last - 1)] == [
            prepared.measure(batch[number]) for number in (last, last - 1)
        ]
        assert second.delivered >= 2
    assert children() == []


def test_a_second_walker_that_was_killed_costs_nothing_but_time(
    prepared: Prepared, children: Callable[[], list[str]]
) -> None:
    whole = seen(prepared.verdicts())
    found = []
    for number, verdict in enumerate(prepared.surveyed()):
        found.append((verdict.finding, verdict.reason, verdict.evidence.measure))
        if number == UNITS // 2:
            for child in children():
                os.kill(int(child), signal.SIGKILL)
    assert found == whole


def test_a_second_walker_that_somebody_stopped_is_ended_and_told(
    prepared: Prepared, children: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "STOPPED_S", 0.5)
    batch, me = batch_of(prepared), os.getpid()

    def measure_of(finding: Finding) -> Measure | None:
        if finding is batch[-3] and os.getpid() != me:
            os.kill(os.getpid(), signal.SIGSTOP)
        return prepared.measure(finding)

    gave_up: list[str] = []
    with SecondWalker(looks(batch, measure_of), gave_up) as second:
        second.set_out(0)
        last = len(batch) - 1
        assert [second.measure(last - each) == prepared.measure(batch[last - each]) for each in (0, 1)] == [True, True]
        assert second.measure(last - 2) is None
        (said,) = gave_up
        assert "was stopped by another process" in said and str(second.pid) in said
        assert children() == []


def test_who_stops_looking_leaves_no_process(prepared: Prepared, children: Callable[[], list[str]]) -> None:
    verdicts = prepared.surveyed()
    for _ in range(UNITS - 2):
        next(verdicts)
    verdicts.close()
    assert children() == []


def test_a_unit_that_vanished_and_one_that_cannot_be_told_are_looked_at_by_the_first(prepared: Prepared) -> None:
    batch = batch_of(prepared)

    def measure_of(finding: Finding) -> Measure | None:
        if finding is batch[-2]:
            raise RuntimeError("the child ends here")
        return None

    with SecondWalker(looks(batch, measure_of), []) as second:
        second.set_out(0)
        assert [second.measure(number) for number in range(len(batch))] == [None] * len(batch)


def test_a_host_with_threads_is_not_forked(prepared: Prepared, children: Callable[[], list[str]]) -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    with SecondWalker(looks(batch_of(prepared), prepared.measure), []) as second:
        second.set_out(0)
        assert children() == []
    done.set()
    thread.join()


def test_a_host_that_reaps_every_child_is_not_disturbed(prepared: Prepared) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert seen(prepared.surveyed()) == seen(prepared.verdicts())
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_where_it_cannot_be_followed_it_ends_at_once(prepared: Prepared, children: Callable[[], list[str]]) -> None:
    batch = batch_of(prepared)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = os.open("/dev/null", os.O_RDONLY)
    taken = [os.dup(highest) for _ in range(3)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(taken) + 1, hard))
    os.close(taken.pop())
    os.close(taken.pop())  # two are left: for a pipe, and none for the process
    try:
        with SecondWalker(looks(batch, prepared.measure), []) as second:
            second.set_out(0)
            assert second.measure(len(batch) - 1) is None
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for fd in (*taken, highest):
            os.close(fd)
    assert children() == []


def test_a_small_look_is_for_one(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        planted.session(own_world / "tmp")

    def never(*_: object) -> None:
        raise AssertionError("a fork costs more than these three")

    monkeypatch.setattr(second_walker.SecondWalker, "set_out", never)
    assert len(list(scan(now_ns=later(100)))) >= 3


def test_a_clean_for_good_of_what_two_walkers_judged_takes_what_one_would(
    own_world: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch, children: Callable[[], list[str]]
) -> None:
    """And what was written after both had seen it goes back. Where the kernel is asked about each file, one walks: two
    would take each other for holders."""
    monkeypatch.setattr(prepared_module, "WORTH_A_FORK", 0)
    monkeypatch.setattr(ending, "WORTH_A_FORK", 0)
    units = [finding.path for finding in batch_of(prepared)]
    walkers: list[int] = []
    real = SecondWalker.set_out

    def set_out(self: SecondWalker, number: int) -> None:
        real(self, number)
        walkers.append(self.pid)

    def strike(here: str) -> None:
        if here == "taken, holders not yet looked for" and walkers:
            (taken,) = Path(own_world / "tmp").glob(f"tmpwarden-*/q/*/tasks/b{UNITS - 1}-7")
            os.utime(taken, ns=(later(100)(),) * 2)
            monkeypatch.setattr(act, "_race_window", lambda _: None)

    monkeypatch.setattr(SecondWalker, "set_out", set_out)
    monkeypatch.setattr(act, "_race_window", strike)
    result = clean(Request(quarantine=False), now_ns=later(100))
    assert len({pid for pid in walkers if pid}) == 1, "the one that judged"
    assert [receipt.reason for receipt in result.spared] == [Reason.CHANGED]
    stayed = {verdict.finding.path for verdict in result.kept} | {result.spared[0].finding.path}
    assert {path for path in units if os.path.exists(path)} - {os.path.dirname(units[-1])} == stayed
    assert len(stayed) <= 2, "that one, and the one with a repository"
    assert children() == []
