"""Credentials that are mounted into a container stay as long as it lives, and go an hour after they were last used."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.litter import later
from support.mounts import needs_root
from tmpwarden.model.sweep import Keep
from tmpwarden.sweep.compose import clean, scan

pytestmark = needs_root
RUN = 'mount --make-rprivate / && mount --bind "$1" "$2" && echo ready && exec sleep 600'


@contextlib.contextmanager
def container(secrets: Path, inside: Path) -> Iterator[None]:
    """Mount and pid namespace of its own, the credentials bound where it wants them; nobody in it has them open."""
    inside.mkdir(parents=True)
    argv = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", RUN, "sh"]
    with subprocess.Popen([*argv, str(secrets), str(inside)], stdout=subprocess.PIPE, text=True, cwd="/") as run:
        try:
            assert run.stdout is not None and run.stdout.readline() == "ready\n"
            yield
        finally:
            run.kill()


@pytest.mark.parametrize("name", ["moat-aws-1234567890", "moat-claude-77", "moat-npm-5"])
def test_a_secret_stays_while_a_container_of_its_run_lives(own_world: Path, name: str) -> None:
    secrets = own_world / "tmp" / name
    secrets.mkdir(mode=0o700)
    (secrets / "credentials").write_text("key")
    with container(secrets, own_world / "rootfs" / "run"):
        (kept,) = scan(now_ns=later(100))
        assert isinstance(kept, Keep)
        clean(now_ns=later(100))
        assert (secrets / "credentials").read_text() == "key"
    clean(now_ns=later(100))
    assert not secrets.exists()


def test_without_one_credentials_go_after_an_hour_and_not_before(own_world: Path) -> None:
    secrets = own_world / "tmp" / "moat-aws-1234567890"
    secrets.mkdir(mode=0o700)
    (secrets / "credentials").write_text("key")
    clean(now_ns=later(0.9))
    assert secrets.exists()
    clean(now_ns=later(1.1))
    assert not secrets.exists()


@pytest.mark.parametrize("program", ["containerd-shim-runc-v2", "conmon"])
def test_while_any_container_runs_that_cannot_be_asked_about_credentials_wait_three_days(
    own_world: Path, program: str
) -> None:
    """Root's daemon starts it: nobody but root sees what it has mounted. What watches over it, everybody sees."""
    secrets = [own_world / "tmp" / name for name in ("moat-aws-1234567890", "moat-npm-5")]
    for path in secrets:
        path.mkdir(mode=0o700)
        (path / "credentials").write_text("key")
    watcher = own_world / program
    shutil.copy(shutil.which("sleep") or "/bin/sleep", watcher)
    with subprocess.Popen([watcher, "600"], cwd="/") as running:
        try:
            told = list(scan(now_ns=later(2)))
            assert [type(verdict) for verdict in told] == [Keep, Keep]
            assert all(program[:15] in verdict.evidence.owner.detail for verdict in told)
            clean(now_ns=later(2))
            assert all(path.exists() for path in secrets)
            clean(now_ns=later(73))
            assert not any(path.exists() for path in secrets)
        finally:
            running.kill()


def test_what_may_hold_more_than_credentials_keeps_its_three_days(own_world: Path) -> None:
    staging = own_world / "tmp" / "moat-claude-staging-7"
    staging.mkdir(mode=0o700)
    (staging / "projects.jsonl").write_text("a transcript")
    clean(now_ns=later(71))
    assert staging.exists()
    clean(now_ns=later(73))
    assert not staging.exists()
