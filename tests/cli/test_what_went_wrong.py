"""A clean that cannot do all it should: what stays is named, and the exit status says so."""

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import planted
from support.command import answer, tmpwarden
from support.holding import process
from support.mounts import needs_root
from tmpwarden.sweep import compose

pytestmark = pytest.mark.disk


@contextlib.contextmanager
def immutable(path: Path) -> Iterator[None]:
    if subprocess.run(["chattr", "+i", path], capture_output=True, check=False).returncode != 0:
        pytest.skip("this file system knows no immutable files")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", path], check=True)


@needs_root
def test_an_undeletable_unit_is_named_and_is_exit_2_with_all_the_data(own_world: Path) -> None:
    stuck, other = planted.session(own_world / "tmp"), planted.session(own_world / "tmp")
    with immutable(stuck):
        status, envelope = answer("clean", "--force", later_s=planted.DAYS)
        said = tmpwarden("clean", "--force", later_s=planted.DAYS)
    assert (status, envelope["ok"], envelope["error"]["code"]) == (2, False, "partial")
    assert [each["path"] for each in envelope["data"]["failed"]] == [str(stuck)]
    assert [each["path"] for each in envelope["data"]["removed"]] == [str(other)]
    assert f"Failed {stuck}: " in said.stdout
    assert "1 item could not be removed" in said.stderr
    assert stuck.exists() and not other.exists()


HOLD = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(fd, fcntl.LOCK_EX)
"""


@needs_root
def test_a_squatter_cannot_make_a_removal_final(own_world: Path) -> None:
    unit, marker = planted.session(own_world / "tmp"), planted.marker(own_world / "tmp")
    squatted = own_world / "tmp" / "tmpwarden-0"
    squatted.mkdir()
    os.chown(squatted, 65534, 65534)
    said = tmpwarden("clean", "--force", later_s=planted.DAYS)
    assert said.returncode == 2
    assert unit.exists() and not marker.exists()
    assert f"Failed {unit}: cannot use {squatted} for temporary files: it belongs to another user" in said.stdout
    assert tmpwarden("clean", "--force", "--no-quarantine", later_s=planted.DAYS).returncode == 0
    assert not unit.exists()


def test_while_another_clean_runs_a_person_gets_exit_6_and_a_timer_0(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compose._A_PERSON_WAITS_S == 5
    monkeypatch.setattr(compose, "_A_PERSON_WAITS_S", 0.2)
    unit, state = planted.session(own_world / "tmp"), own_world / "state" / "tmpwarden"
    state.mkdir(mode=0o700)
    with process(HOLD, str(state)):
        status, envelope = answer("clean", "--force", "--if-due", "1h", later_s=planted.DAYS)
        began = time.monotonic()
        refused, told = answer("clean", "--force", later_s=planted.DAYS)
        assert time.monotonic() - began >= 0.2, "a person's run waits a little"
    assert (status, envelope["data"]["skipped"]) == (0, "lock-held")
    assert (refused, told["error"]["code"]) == (6, "lock-held")
    assert unit.exists()
