"""One end of a lease (law 6): a session's end and a teardown decide alike, because they run the same code."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.holding import ended_pid
from tmpwarden.leases import scratch
from tmpwarden.lifecycle import background, release
from tmpwarden.lifecycle.teardown import teardown
from tmpwarden.model.belongings import Lease


@pytest.fixture
def lease(own_world: Path) -> Lease:
    """A scratch with a file, whose agent is gone."""
    made = scratch.open_scratch(str(own_world / "tmp"), "claude", "s-1", pid=os.getpid())
    Path(made.path, "work").write_text("x")
    scratch.disown(made.lease, ((ended_pid(), 1),))
    found = scratch.read(made.path)
    assert found is not None
    return found


def by_session_end(lease: Lease) -> None:
    background.give_back(lease)


def by_teardown(lease: Lease) -> None:
    teardown(lease.session, wait=True)


WAYS: list[Callable[[Lease], None]] = [by_session_end, by_teardown]


@pytest.fixture
def user(lease: Lease) -> "Iterator[subprocess.Popen[bytes]]":
    """Somebody who has a file of it open."""
    code = f"f = open({os.path.join(lease.path, 'work')!r}); print('here', flush=True); import time; time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None and process.stdout.readline() == b"here\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("end", WAYS, ids=lambda one: one.__name__)
def test_what_nobody_uses_goes_to_quarantine_and_its_lease_with_it(end: Callable[[Lease], None], lease: Lease) -> None:
    end(lease)
    assert not os.path.lexists(lease.path)
    assert not os.path.lexists(f"{lease.path}.lease")


@pytest.mark.parametrize("end", WAYS, ids=lambda one: one.__name__)
def test_what_somebody_has_open_stays(
    end: Callable[[Lease], None], lease: Lease, user: "subprocess.Popen[bytes]"
) -> None:
    end(lease)
    assert os.path.exists(f"{lease.path}/work")


@pytest.mark.parametrize("end", WAYS, ids=lambda one: one.__name__)
def test_both_go_through_the_one_release(
    end: Callable[[Lease], None], lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    monkeypatch.setattr(release.Release, "take", lambda self, named, **_: taken.extend(one.path for one in named))
    end(lease)
    assert taken == [lease.path]
