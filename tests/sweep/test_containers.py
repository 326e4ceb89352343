"""Credentials that are mounted into a container stay as long as it lives, and go an hour after they were last used."""

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.command import WHOLE_MACHINE
from support.engine import container, engine, watcher
from support.litter import claude_session, cwd_markers, in_quarantine, later
from support.mounts import needs_root
from tmpwarden.lazy_dataclass import replace
from tmpwarden.model.request import Request, Thresholds
from tmpwarden.model.sweep import Keep, Remove
from tmpwarden.model.terms import Outcome, OwnerState, Reason
from tmpwarden.sweep.compose import clean, prepare, scan
from tmpwarden.sweep.weigh.judge import judge

pytestmark = needs_root
RUN = 'mount --make-rprivate / && mount --bind "$1" "$2" && echo ready && exec sleep 600'


@contextlib.contextmanager
def namespaces(secrets: Path, inside: Path) -> Iterator[None]:
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
    with namespaces(secrets, own_world / "rootfs" / "run"):
        (kept,) = scan(now_ns=later(100))
        assert isinstance(kept, Keep)
        clean(now_ns=later(100))
        assert (secrets / "credentials").read_text() == "key"
    clean(now_ns=later(100))
    assert not secrets.exists()


@pytest.fixture(autouse=True)
def only_these_containers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What one worker starts as a container's watcher is one to every other, too."""
    directory = tmp_path_factory.getbasetemp()
    directory = directory.parent if hasattr(request.config, "workerinput") else directory
    with (directory / "containers.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def runtime(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where an engine of our own listens."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(own_world / "run"))
    return own_world / "run" / "docker.sock"


MADE = {  # what moat writes there
    "moat-aws-1234567890": ("credentials", "config"),
    "agentops-aws-42": ("credentials", "config"),
    "moat-npm-5": (".npmrc",),
    "moat-claude-77": (".credentials.json", ".claude.json", "settings.json"),
    "moat-claude-staging-7": (".credentials.json", ".claude.json"),
    "moat-codex-staging-8": ("auth.json", "config.toml"),
    "moat-gemini-staging-9": ("settings.json", "oauth_creds.json", "GEMINI.md"),
}
ID = "4ccb12f161e748ad9bec1437a2f881f74ccb12f161e748ad9bec1437a2f881f7"


def staged(world: Path, name: str) -> Path:
    directory = world / "tmp" / name
    directory.mkdir(mode=0o700)
    for file in MADE[name]:
        (directory / file).write_text("key")
    return directory


def verdict_of(path: Path, hours: float) -> tuple[Reason, OwnerState]:
    (found,) = [each for each in scan(now_ns=later(hours)) if each.finding.path == str(path)]
    return found.reason, found.evidence.owner.state


@pytest.mark.parametrize("name", MADE)
def test_credentials_go_after_an_hour_first_of_all_and_never_into_quarantine(own_world: Path, name: str) -> None:
    cwd_markers(own_world / "tmp", 3)
    claude_session(own_world / "tmp")
    secrets = staged(own_world, name)
    clean(Request(agents=("moat",)), now_ns=later(0.9))
    assert secrets.exists()
    removed = list(clean(now_ns=later(1.1)).removed)
    assert not secrets.exists()
    assert (removed[0].finding.path, removed[0].outcome) == (str(secrets), Outcome.REMOVED)
    assert len(removed) > 1
    assert in_quarantine(own_world / "tmp") == []


def transcript(secrets: Path) -> None:
    (secrets / "projects.jsonl").write_text("a transcript")


def directory_of_such_a_name(secrets: Path) -> None:
    (secrets / "settings.json").unlink(missing_ok=True)
    (secrets / "settings.json").mkdir()


def link_of_such_a_name(secrets: Path) -> None:
    (secrets / "config").unlink(missing_ok=True)
    (secrets / "config").symlink_to("/etc/hostname")


@pytest.mark.parametrize("beside", [transcript, directory_of_such_a_name, link_of_such_a_name])
@pytest.mark.parametrize("name", MADE)
def test_what_holds_more_than_credentials_keeps_its_three_days(
    own_world: Path, name: str, beside: Callable[[Path], None]
) -> None:
    secrets = staged(own_world, name)
    beside(secrets)
    clean(now_ns=later(71))
    assert secrets.exists()
    clean(now_ns=later(73))
    assert not secrets.exists()


def test_pressure_hurries_credentials_and_not_what_lies_beside_them(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, mixed = staged(own_world, "moat-claude-77"), staged(own_world, "moat-codex-staging-8")
    transcript(mixed)
    prepared = prepare(Request(), now_ns=later(0.5))
    hurried = replace(prepared.weigher.thresholds, hurried=True)
    for path, expected in ((alone, Remove), (mixed, Keep)):
        (found,) = [each for each in prepared.verdicts() if each.finding.path == str(path)]
        again = judge(found.finding, found.evidence, thresholds=hurried, now_ns=later(0.5)())
        assert type(again) is expected


def test_a_person_may_say_less_than_an_hour(own_world: Path) -> None:
    """moat's `--min-age 30m`."""
    secrets = staged(own_world, "moat-aws-1234567890")
    wish = Request(agents=("moat",), thresholds=Thresholds(max_age_s=1800))
    clean(wish, now_ns=later(0.4))
    assert secrets.exists()
    clean(wish, now_ns=later(0.75))
    assert not secrets.exists()


@pytest.mark.parametrize("mounted", ["the directory", "a file in it", "by another name"])
def test_a_container_that_has_them_mounted_keeps_them(own_world: Path, runtime: Path, mounted: str) -> None:
    secrets = staged(own_world, "moat-npm-5")
    source = secrets / ".npmrc" if mounted == "a file in it" else secrets
    if mounted == "by another name":
        (own_world / "home" / "link").symlink_to(own_world / "tmp")
        source = own_world / "home" / "link" / secrets.name
    for status in ("running", "paused", "created", "restarting"):
        with engine(runtime, [container(ID, source, status=status)]), watcher(own_world, ID):
            assert verdict_of(secrets, 100) == (Reason.OWNER_ALIVE, OwnerState.ALIVE)
            clean(now_ns=later(100))
    assert secrets.exists()


def test_containers_that_were_asked_and_have_not_keep_nothing(own_world: Path, runtime: Path) -> None:
    secrets, other = staged(own_world, "moat-claude-77"), ID[::-1]
    containers = [container(ID, own_world / "home"), container(other, "/var/lib/docker/volumes/db", status="exited")]
    with engine(runtime, containers), watcher(own_world, ID):
        assert verdict_of(secrets, 0.9) == (Reason.TOO_YOUNG, OwnerState.ABSENT)
        clean(now_ns=later(1.1))
    assert not secrets.exists()


def test_the_container_that_had_them_has_ended(own_world: Path, runtime: Path) -> None:
    """Its engine's word is a proof that their owner is dead."""
    secrets = staged(own_world, "moat-claude-77")
    with engine(runtime, [container(ID, secrets, status="exited")]):
        assert verdict_of(secrets, 0.9) == (Reason.TOO_YOUNG, OwnerState.DEAD)
        assert verdict_of(secrets, 1.1) == (Reason.OWNER_DEAD, OwnerState.DEAD)
        clean(now_ns=later(1.1))
    assert not secrets.exists()


@pytest.mark.parametrize("why", ["refuses", "denies", "babbles", "of another engine", "all of /tmp", "no engine"])
def test_a_container_that_cannot_be_asked_keeps_them_for_three_days(own_world: Path, runtime: Path, why: str) -> None:
    secrets = staged(own_world, "moat-aws-1234567890")
    source = own_world / "tmp" if why == "all of /tmp" else own_world / "home"
    running = ID[::-1] if why == "of another engine" else ID
    spoils = why if why in ("refuses", "denies", "babbles") else ""
    listens = engine(runtime, [container(ID, source)], spoils=spoils)
    with contextlib.nullcontext() if why == "no engine" else listens, watcher(own_world, running):
        assert verdict_of(secrets, 71) == (Reason.TOO_YOUNG, OwnerState.UNKNOWN)
        clean(now_ns=later(71))
        assert secrets.exists()
        clean(now_ns=later(73))
    assert not secrets.exists()


def test_an_engine_of_another_users_is_not_asked(own_world: Path, runtime: Path) -> None:
    secrets = staged(own_world, "moat-aws-1234567890")
    with engine(runtime, [container(ID, own_world / "home")]), watcher(own_world, ID):
        os.chown(runtime, 4711, 4711)
        clean(now_ns=later(71))
    assert secrets.exists()


@pytest.mark.parametrize("program", ["conmon", "qemu-system-x86_64", "limactl"])
def test_whatever_watches_over_it_is_seen(own_world: Path, runtime: Path, program: str) -> None:
    secrets = staged(own_world, "moat-npm-5")
    with watcher(own_world, program=program):
        clean(now_ns=later(2))
    assert secrets.exists()


def inside_a_machine_of_its_own(hours: float, *words: str) -> None:
    """Whoever runs these tests may be a Claude."""
    argv = [sys.executable, WHOLE_MACHINE, str(hours * 3600), str(Path(sys.executable).parent / "tmpwarden"), *words]
    unshare = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    done = subprocess.run([*unshare, *argv], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_copy_of_an_agents_credentials_goes_alike_and_only_when_told(own_world: Path) -> None:
    tmp = own_world / "tmp"
    claude_session(tmp)  # so that Claude has a registry
    alone, mixed, file = (tmp / f"claude-creds-copy-{name}" for name in ("a", "b", "c"))
    for directory in (alone, mixed):
        directory.mkdir()
        (directory / ".credentials.json").write_text("key")
    (mixed / "session.jsonl").write_text("a transcript")
    file.write_text("key")
    command = ["clean", "--root", str(tmp), "--agent", "claude"]
    inside_a_machine_of_its_own(2, *command, "--yes")
    inside_a_machine_of_its_own(0.9, *command, "--all", "--yes")
    assert alone.exists() and file.exists()
    inside_a_machine_of_its_own(1.1, *command, "--all", "--yes")
    assert (alone.exists(), file.exists(), mixed.exists()) == (False, False, True)
    inside_a_machine_of_its_own(73, *command, "--all", "--yes")
    assert not mixed.exists()
