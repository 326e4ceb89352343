"""Two purge together: every job is done once, and what a worker that died had begun is done by the other."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tmpwarden.model.answers import Nobody
from tmpwarden.model.sweep import Evidence, Finding, Litter, Owner, Receipt, Remove
from tmpwarden.model.terms import Kind, Outcome, OwnerRule, OwnerState, Reason, Tier, Worth
from tmpwarden.oskit.proc import grip as following
from tmpwarden.sweep.store import quarantine
from tmpwarden.sweep.take import purger
from tmpwarden.sweep.take.purger import Job, Purger

ROW = Litter("claude", "session", "{tmp}", ".+", Kind.DIR, Tier.AUTO, Worth.SOME, OwnerRule.SESSION)


@pytest.fixture
def directory(tmp_path: Path) -> str:
    path = quarantine.beside(str(tmp_path))
    os.close(quarantine.opened(path, make=True))
    return path


def doomed(directory: str, count: int) -> list[Job]:
    jobs = []
    for number in range(count):
        token = f"{number:016x}.x"
        os.mkdir(f"{directory}/{token}", 0o700)
        Path(f"{directory}/{token}/file").write_text("x")
        status = os.lstat(f"{directory}/{token}")
        finding = Finding(ROW, "/tmp", "/tmp", token, Kind.DIR, status.st_dev, status.st_ino)
        verdict = Remove(finding, Evidence(Owner(OwnerState.DEAD), Nobody(), None), Reason.OUTLIVED)
        receipt = Receipt(finding, Outcome.REMOVED, Reason.OUTLIVED, token, 0, purger._WORTH_A_FORK)
        jobs.append(Job(directory, (token,), receipt, verdict, Nobody()))
    return jobs


def test_every_job_is_done_once(directory: str) -> None:
    both = Purger()
    assert list(both.submit(doomed(directory, 300))) == [] and both.workers
    done = list(both.finish())
    assert sorted(each.id for each in done) == [f"{number:016x}.x" for number in range(300)]
    assert [each.entries for each in done] == [2] * 300
    assert os.listdir(directory) == [] and not both.workers


def test_what_a_killed_worker_left_is_done_by_the_other(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    me, carry_out = os.getpid(), purger._destroy

    def deadly(job: Job) -> tuple[int, int, str]:
        if os.getpid() != me:
            os.kill(os.getpid(), signal.SIGKILL)
        return carry_out(job)

    monkeypatch.setattr(purger, "_destroy", deadly)
    both = Purger()
    assert list(both.submit(doomed(directory, 20))) == []
    assert len(list(both.finish())) == 20
    assert os.listdir(directory) == []


def in_the_worker(monkeypatch: pytest.MonkeyPatch, strike: Callable[[], object]) -> None:
    """At each of the worker's jobs; the other begins when the worker is at its first one."""
    me, carry_out = os.getpid(), purger._destroy
    reading, writing = os.pipe()

    def struck(job: Job) -> tuple[int, int, str]:
        if os.getpid() != me:
            os.write(writing, b"x")
            strike()
        elif not os.get_blocking(reading) or os.read(reading, 1):
            os.set_blocking(reading, False)
        return carry_out(job)

    monkeypatch.setattr(purger, "_destroy", struck)


def test_a_worker_that_somebody_stopped_is_ended_told_and_its_work_is_done(
    directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It held the lock of all cleans for ever."""
    monkeypatch.setattr(following, "STOPPED_S", 0.5)
    in_the_worker(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGSTOP))
    both = Purger()
    assert list(both.submit(doomed(directory, 20))) == []
    (worker,) = both.workers
    done = list(both.finish())
    assert [each.outcome for each in done] == [Outcome.REMOVED] * 20 and os.listdir(directory) == []
    assert both.gave_up == [
        f"a helper process (pid {worker}) that removes files was stopped by another process: it was ended"
    ]
    assert not os.path.exists(f"/proc/{worker}")


def test_what_a_worker_hangs_at_is_left_to_the_next_clean_and_told(
    directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever went on with it would hang there as well."""
    monkeypatch.setattr(following, "STILL_S", 0.5)
    in_the_worker(monkeypatch, lambda: time.sleep(600))
    both = Purger()
    assert list(both.submit(doomed(directory, 20))) == []
    done = list(both.finish())
    failed = [each for each in done if each.outcome is Outcome.FAILED]
    assert len(done) == 20 and len(failed) == 1
    assert os.listdir(directory) == [failed[0].id] and "the next clean continues" in failed[0].detail
    assert "made no progress: it was ended" in both.gave_up[0]


def test_a_worker_that_gets_on_has_all_the_time_it_needs(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a slow disk: it sleeps for each answer, and the answers come."""
    monkeypatch.setattr(following, "STILL_S", 1.0)
    in_the_worker(monkeypatch, lambda: [time.sleep(0.05) for _ in range(40)])
    both = Purger()
    assert list(both.submit(doomed(directory, 20))) == []
    assert [each.outcome for each in both.finish()] == [Outcome.REMOVED] * 20
    assert both.gave_up == [] and os.listdir(directory) == []


def test_where_the_tickets_do_not_fit_one_does_it_alone(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purger, "_TICKET", 1 << 14)  # as in the small pipes of a user who has many
    both = Purger()
    assert len(list(both.submit(doomed(directory, 20)))) == 20
    assert os.listdir(directory) == [] and not both.workers
