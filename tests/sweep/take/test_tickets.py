"""Two purge together: every job is done once, and what a worker that died had begun is done by the other."""

import os
import signal
from pathlib import Path

import pytest

from tmpwarden.model.sweep import Finding, Litter, Receipt
from tmpwarden.model.terms import Kind, Outcome, OwnerRule, Reason, Tier, Worth
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
        finding = Finding(ROW, "/tmp", "/tmp", token, Kind.DIR, 1, number)
        receipt = Receipt(finding, Outcome.REMOVED, Reason.OUTLIVED, token, 0, purger._WORTH_A_FORK)
        jobs.append(Job(directory, (token,), receipt))
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


def test_where_the_tickets_do_not_fit_one_does_it_alone(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purger, "_TICKET", 1 << 14)  # as in the small pipes of a user who has many
    both = Purger()
    assert len(list(both.submit(doomed(directory, 20)))) == 20
    assert os.listdir(directory) == [] and not both.workers
