"""A mount whose daemon is stopped hangs whoever touches it; scan, clean, why, status and doctor are not among them."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support import forked, planted
from support.frozen import fuse, needs_fuse
from support.holding import process
from support.litter import claude_session, later
from support.user import AS_HIM, UID, OrdinaryUser
from tmpwarden.model.request import Request
from tmpwarden.oskit.files import walk
from tmpwarden.oskit.proc import reach
from tmpwarden.oskit.system.linux import mounting
from tmpwarden.sweep.compose import clean, prepare
from tmpwarden.sweep.weigh import evidence

pytestmark = needs_fuse
Wait = Callable[[], None]
IMPATIENT = "from tmpwarden.oskit.proc import reach; reach.DEADLINE_S = 0.2\n"  # to wait for what never answers
LATER = "import sys, time; from tmpwarden.cli.main import main\n"
LATER += "sys.exit(main(sys.argv[1:], now_ns=lambda: time.time_ns() + 100 * 3600 * 10**9))"
COMMAND = ("-c", IMPATIENT + LATER)


def run(*words: str) -> Any:
    """One command, a hundred hours later; it has 30 seconds."""
    return told(
        forked.run([sys.executable, *COMMAND, *words, "--json"], capture_output=True, text=True, timeout=30), words[0]
    )


def told(done: "subprocess.CompletedProcess[str]", command: str) -> Any:
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout.splitlines()[-1] if command == "scan" else done.stdout)


def inside_a_unit(world: Path) -> Path:
    return claude_session(world / "tmp") / "mount"


def as_a_unit(world: Path) -> Path:
    return claude_session(world / "tmp").with_name("5f1b5b8e-0000-4000-8000-000000000001")


def as_a_slug(world: Path) -> Path:
    return world / "tmp" / f"claude-{os.geteuid()}" / "-frozen-slug"


def as_our_own_directory(world: Path) -> Path:
    return world / "tmp" / f"tmpwarden-{os.geteuid()}"


def below_the_agents_home(world: Path) -> Path:
    return world / "home" / ".claude" / "sessions"


PLACES = [inside_a_unit, as_a_unit, as_a_slug, as_our_own_directory, below_the_agents_home]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_frozen_mount_stops_no_command_and_doctor_names_it(own_world: Path, place: Callable[[Path], Path]) -> None:
    spare = claude_session(own_world / "tmp", slug="-other")
    with fuse(place(own_world)) as point:
        assert run("scan")
        run("why", str(spare))
        run("status")
        run("clean", "--yes")
        assert not spare.exists() or place in (as_our_own_directory, below_the_agents_home)
        told = [each for each in run("doctor")["data"]["diagnoses"] if each["check"] == "frozen"]
        assert [(each["status"], str(point) in each["summary"]) for each in told] == [("fail", True)]


def test_a_unit_with_a_frozen_mount_in_it_is_kept_for_that_reason_and_told(own_world: Path) -> None:
    unit = claude_session(own_world / "tmp")
    with fuse(unit / "mount"):
        answer = run("why", str(unit))["data"]
        assert (answer["verdict"], answer["reason"]) == ("keep", "mount-point")
        result = run("clean", "--yes")
        assert unit.exists()
        assert any("does not respond" in str(warning) for warning in result["warnings"])


def test_a_second_walker_sees_nothing_of_a_unit_with_a_mount_that_may_hang(own_world: Path) -> None:
    """Whoever hears the unit then says why it stays."""
    unit = claude_session(own_world / "tmp")
    prepared = prepare(Request(), now_ns=later(100))
    (finding,) = (each for each in prepared.finder.find() if each.path == str(unit))
    assert prepared.measure(finding) is not None
    with fuse(unit / "mount", stopped=False):
        assert prepared.measure(finding) is None


@pytest.mark.parametrize("command", ["why", "keep"])
def test_why_and_keep_say_so_of_a_path_on_a_frozen_mount(own_world: Path, command: str) -> None:
    with fuse(own_world / "tmp" / "mount") as point:
        (own_world / "tmp" / "link").symlink_to(point)
        for path in (point, point / "x", own_world / "tmp" / "link" / "y"):
            error = run(command, str(path))["error"]
            assert error["code"] == "frozen-mount"


def test_a_frozen_config_home_of_a_process_is_passed_over_and_makes_its_owners_unknown(
    ordinary_user: OrdinaryUser,
) -> None:
    """He has it alone: every test of another worker that looks for its owner would have to wait for it."""
    unit = planted.session(ordinary_user.tmp, uid=UID)
    subprocess.run(["chown", "-R", f"{UID}:{UID}", str(ordinary_user.tmp)], check=True)
    argv = [ordinary_user.python, *COMMAND, "why", str(unit), "--json"]
    elsewhere = ordinary_user.base / "elsewhere"
    with fuse(elsewhere, owner=UID), process("", env={"CLAUDE_CONFIG_DIR": str(elsewhere)}, **AS_HIM):
        frozen = ordinary_user.run(argv)
    answers = [told(done, "why")["data"]["owner"]["state"] for done in (frozen, ordinary_user.run(argv))]
    assert answers == ["unknown", "absent"]


def test_a_frozen_root_is_refused_by_name(own_world: Path) -> None:
    with fuse(own_world / "root") as point:
        assert run("scan", "--root", str(point))["error"]["code"] == "unsafe-root"


def test_one_that_answers_is_used_as_any_other(own_world: Path) -> None:
    with fuse(own_world / "tmp" / "mount", stopped=False) as point:
        assert reach.Reach.now().frozen(str(point / "x")) is None


def test_the_question_has_a_deadline_and_is_asked_once(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = reach._asked
    questions: list[str] = []
    monkeypatch.setattr(reach, "DEADLINE_S", 0.5)
    monkeypatch.setattr(reach, "_asked", lambda points: questions.extend(points) or asked(points))
    with fuse(own_world / "tmp" / "mount") as point:
        began = time.monotonic()
        assert reach.Reach.now().frozen(str(point / "x")) == str(point)
        assert time.monotonic() - began >= reach.DEADLINE_S
        assert reach.Reach.now().frozen(str(point)) == str(point)
        assert questions == [str(point)]


def test_without_such_mounts_nobody_is_asked(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "_asked", lambda points: pytest.fail(f"asked {points}"))
    assert reach.Reach.now().frozen(str(own_world / "tmp")) is None


def test_a_mount_that_comes_or_goes_is_noticed_at_once_also_in_a_fork(own_world: Path) -> None:
    point = own_world / "tmp" / "mount"
    assert str(point) not in reach.Reach.now().risky
    with fuse(point, stopped=False):
        child = os.fork()
        if child == 0:
            os._exit(0 if str(point) in reach.Reach.now().risky else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert str(point) in reach.Reach.now().risky
    assert str(point) not in reach.Reach.now().risky


def test_two_threads_ask_one_after_the_other(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel tells a change once: a thread that asks meanwhile would go on with the old table, or stumble."""
    reach.Reach.now()
    inside, another = threading.Semaphore(1), threading.Event()
    together: list[bool] = []

    def asked(watched: object) -> bool:
        alone = inside.acquire(blocking=False)
        together.append(not alone)
        if not alone:
            another.set()
        else:
            another.wait(0.2)  # time for the other one to come in, if it can
            inside.release()
        return False

    monkeypatch.setattr(mounting.Watched, "has_changed", asked)
    with ThreadPoolExecutor(2) as threads:
        for _ in range(2):
            threads.submit(reach.Reach.now)
    assert together == [False, False]


def ends_though_it_comes(point: Path, work: Callable[[Wait], bool]) -> bool:
    """Whether `work` ends, and well, though a mount that hangs comes at the moment when it waits."""
    reached, go_on = os.pipe(), os.pipe()

    def wait() -> None:
        os.write(reached[1], b"1")
        os.read(go_on[0], 1)

    child = os.fork()
    if child == 0:
        is_well = False
        try:
            is_well = work(wait)
        finally:
            os._exit(0 if is_well else 1)
    ending = os.pidfd_open(child)
    try:
        assert os.read(reached[0], 1)
        with fuse(point):
            os.write(go_on[1], b"1")
            select.select([ending], [], [], 60)
            os.kill(child, signal.SIGKILL)
    finally:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for fd in (*reached, *go_on, ending):
            os.close(fd)
    return status == 0


def test_one_that_comes_between_the_look_and_the_walk_stops_nobody(own_world: Path) -> None:
    unit, spare = claude_session(own_world / "tmp"), claude_session(own_world / "tmp", slug="-other")

    def work(wait: Wait) -> bool:
        def on_window(_: str) -> None:
            if sys._getframe(1).f_locals["finding"].path == str(unit):
                wait()

        evidence._race_window = on_window
        reach.DEADLINE_S = 0.2
        clean(now_ns=later(100))
        return unit.exists() and not spare.exists()

    assert ends_though_it_comes(unit / "mount", work)


def test_one_that_comes_while_we_walk_stops_nobody(own_world: Path) -> None:
    unit = claude_session(own_world / "tmp")
    (unit / "mount").mkdir()

    def work(wait: Wait) -> bool:
        def on_entry(_: str, name: str) -> bool:
            if name == "mount":
                wait()
            return False

        fd = os.open(unit.parent, os.O_RDONLY)
        seen = walk.measure(fd, unit.name, uid=os.geteuid(), count_atime=False, is_marked=on_entry)
        return seen is not None and seen.crosses_device

    assert ends_though_it_comes(unit / "mount", work)


HOOK = """
import json, os, sys
from tmpwarden.leases import scratch
from tmpwarden.errors import UnsafeScratch
root = sys.argv[1]
print(scratch.read(f"{root}/tmpwarden-{os.geteuid()}/0123abcd"), scratch.find(root, "claude", "x"))
try:
    scratch.open_scratch(root, "claude", "x", pid=os.getpid())
except UnsafeScratch as unsafe:
    print("does not respond" in str(unsafe))
"""


def test_who_reads_one_lease_or_makes_a_scratch_waits_for_no_mount(own_world: Path) -> None:
    """As hooks do, before every call of a tool."""
    with fuse(as_our_own_directory(own_world)):
        argv = [sys.executable, "-c", IMPATIENT + HOOK, str(own_world / "tmp")]
        done = forked.run(argv, capture_output=True, text=True, timeout=30)
    assert done.stdout == "None None\nTrue\n", done.stderr
