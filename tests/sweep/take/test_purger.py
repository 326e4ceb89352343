"""The forked worker that purges while the sweep was resumed."""

import errno
import os
import signal
from pathlib import Path

import pytest

from support.litter import claude_session, in_quarantine, later
from support.mounts import needs_root
from support.user import UID, OrdinaryUser
from tmpwarden.model.request import Request
from tmpwarden.oskit.files import purge
from tmpwarden.sweep import cleaning
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.take import purger
from tmpwarden.sweep.weigh.evidence import World


def test_the_worker_is_not_taken_for_a_user_of_what_it_inherited(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is forked while the project's directory is open for looking, and that directory is the next to go."""
    unit = claude_session(own_world / "tmp")
    monkeypatch.setattr(purger, "_WORTH_A_FORK", 1)
    monkeypatch.setattr(cleaning, "_BATCH_UNITS", 1)
    reading, writing = os.pipe()
    ours, real_purge, real_refresh, looks = os.getpid(), purge.purge, World.refresh, []

    def waiting_purge(*args: object, **words: object) -> object:
        if os.getpid() != ours:
            os.read(reading, 1)  # alive until the second look is over
        return real_purge(*args, **words)  # type: ignore[arg-type]

    def refresh(self: World) -> None:
        real_refresh(self)
        looks.append(self.workers)
        if len(looks) == 2:
            os.write(writing, b"xx")

    monkeypatch.setattr(purge, "purge", waiting_purge)
    monkeypatch.setattr(World, "refresh", refresh)
    clean(Request(quarantine=False), now_ns=later(100))
    os.close(reading)
    os.close(writing)
    assert looks[1], "the worker lived during the second look"
    assert not unit.parent.exists()


def test_what_a_killed_worker_did_not_come_to_is_done_by_the_sweep(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = [claude_session(own_world / "tmp", slug=f"-p{n}") for n in range(5)]
    monkeypatch.setattr(purger, "_WORTH_A_FORK", 1)
    ours, real_purge = os.getpid(), purge.purge

    def deadly_purge(*args: object, **words: object) -> object:
        if os.getpid() != ours:
            os.kill(os.getpid(), signal.SIGKILL)
        return real_purge(*args, **words)  # type: ignore[arg-type]

    monkeypatch.setattr(purge, "purge", deadly_purge)
    result = clean(Request(quarantine=False), now_ns=later(100))
    assert result.failed == []
    assert result.freed_bytes > 0
    assert not any(unit.exists() for unit in units)
    assert in_quarantine(own_world / "tmp") == []


@pytest.mark.parametrize("last", [1, 2], ids=["not one pipe", "one pipe"])
def test_where_no_pipe_is_to_be_had_the_sweep_purges_by_itself(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    units = [claude_session(own_world / "tmp", slug=f"-p{n}") for n in range(3)]
    monkeypatch.setattr(purger, "_WORTH_A_FORK", 1)
    real, asked = os.pipe, []
    made: list[int] = []

    def starved() -> tuple[int, int]:
        asked.append(1)
        if len(asked) % last == 0:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        made.extend(real())
        return made[-2], made[-1]

    monkeypatch.setattr(os, "pipe", starved)
    result = clean(Request(quarantine=False), now_ns=later(100))
    assert asked and not result.failed
    assert not any(unit.exists() for unit in units)
    assert not os.listdir(own_world / "tmp" / f"tmpwarden-{os.geteuid()}" / "q")
    for end in made:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(end)


@pytest.mark.parametrize("entries", [1, 2000], ids=["in the sweep", "in a worker"])
def test_a_quarantine_that_cannot_be_opened_any_more_is_told_with_what_lies_there(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, entries: int
) -> None:
    unit = claude_session(own_world / "tmp")
    monkeypatch.setattr(purger, "_WORTH_A_FORK", 3 if entries > 1 else 1 << 20)
    quarantine, real = own_world / "tmp" / f"tmpwarden-{os.geteuid()}", purger._destroy

    def squatted(job: purger.Job) -> tuple[int, int, str]:
        if not quarantine.is_symlink():
            quarantine.rename(own_world / "aside")
            quarantine.symlink_to(own_world / "home")
        return real(job)

    monkeypatch.setattr(purger, "_destroy", squatted)
    result = clean(Request(quarantine=False), now_ns=later(100))
    assert [receipt.finding.path for receipt in result.failed] == [str(unit), str(unit.parent)]
    assert {path.suffix for path in (own_world / "aside" / "q").iterdir()} == {".x"}


@needs_root
def test_where_no_process_is_to_be_had_the_sweep_purges_by_itself(ordinary_user: OrdinaryUser) -> None:
    source = """
import os, resource, time, tmpwarden
from pathlib import Path
from tmpwarden.sweep.take import purger
from tmpwarden.sweep.compose import clean
from tmpwarden.model.request import Request
purger._WORTH_A_FORK = 1
for number in range(9):
    Path(os.environ["TMPDIR"], f"claude-{number:04x}-cwd").write_text("/home/me/project\\n")
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
result = clean(Request(), now_ns=lambda: time.time_ns() + 10**15)
print(sum(receipt.entries for receipt in result.removed), os.listdir(os.environ["TMPDIR"]))
"""
    done = ordinary_user.code(source)
    assert done.stdout == f"9 ['tmpwarden-{UID}']\n", done.stderr
