"""`tmpwarden lease`: what an orchestrator in any language opens for the agent that it starts, and closes at its end."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tmpwarden
from support.command import answer, data
from support.command import tmpwarden as command
from support.litter import claude_session
from tmpwarden.leases import scratch
from tmpwarden.oskit.files.opening import closing
from tmpwarden.oskit.proc import locks
from tmpwarden.oskit.proc.procs import start_ticks


@pytest.fixture
def keeper() -> "Iterator[subprocess.Popen[bytes]]":
    """An orchestrator's process: it lives until the test ends it."""
    with subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"]}) as process:
        yield process
        process.kill()


@pytest.fixture
def other(keeper: object) -> "Iterator[subprocess.Popen[bytes]]":
    with subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"]}) as process:
        yield process
        process.kill()


def opened(process: "subprocess.Popen[bytes]", *words: str, session: str = "job-7") -> dict:
    found = data("lease", "open", "--session", session, "--pid", str(process.pid), *words)
    assert isinstance(found, dict)
    return found


def ended(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()


def test_open_makes_a_private_directory_and_says_what_leads_an_agent_there(
    own_world: Path, keeper: "subprocess.Popen[bytes]"
) -> None:
    lease = opened(keeper, "--agent", "claude")
    path = lease["path"]
    assert os.path.dirname(path) == f"{own_world}/tmp/tmpwarden-{os.geteuid()}"
    assert os.stat(path).st_mode & 0o777 == 0o700
    assert lease["env"] == {"TMPDIR": path, "TMP": path, "TEMP": path}
    assert (lease["agent"], lease["session"]) == ("claude", "job-7")
    assert (lease["pid"], lease["start"]) == (keeper.pid, start_ticks(keeper.pid))


def test_a_lease_of_the_command_is_one_of_the_library(keeper: "subprocess.Popen[bytes]") -> None:
    path = opened(keeper, "--agent", "claude")["path"]
    with tmpwarden.lease("claude", session="by-library", pid=keeper.pid) as by_library:
        one, other = scratch.read(path), scratch.read(by_library.path)
        assert one and other
        facts = ("agent", "pid", "start", "boot", "machine", "pidns", "cgroup", "others", "config_home")
        assert [getattr(one, name) for name in facts] == [getattr(other, name) for name in facts]


def test_for_a_shell_script_open_prints_the_path_and_nothing_else(keeper: "subprocess.Popen[bytes]") -> None:
    said = command("lease", "open", "--session", "job-7", "--pid", str(keeper.pid))
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout == f"{opened(keeper)['path']}\n"


def test_open_again_gives_the_same_directory_with_what_is_in_it(keeper: "subprocess.Popen[bytes]") -> None:
    first = opened(keeper, "--agent", "claude")["path"]
    Path(first, "work").write_text("x")
    assert opened(keeper, "--agent", "claude")["path"] == first
    assert opened(keeper)["path"] == first, "the session tells which agent is meant"
    assert os.listdir(first) == ["work"]
    assert opened(keeper, session="job-8")["path"] != first


def test_without_a_session_each_open_is_one_of_its_own(keeper: "subprocess.Popen[bytes]") -> None:
    one, other = (data("lease", "open", "--pid", str(keeper.pid)) for _ in range(2))
    assert one["session"] != other["session"] and one["path"] != other["path"]


def test_a_lease_keeps_its_directory_for_as_long_as_its_process_lives(keeper: "subprocess.Popen[bytes]") -> None:
    path = Path(opened(keeper)["path"])
    (path / "work").write_text("x")
    assert command("clean", "--yes", later_s=9 * 86400).returncode == 0
    assert (path / "work").exists()
    ended(keeper)
    assert command("clean", "--yes", later_s=9 * 86400).returncode == 0
    assert not path.exists()


def test_two_processes_own_a_session_until_both_have_closed_it(
    keeper: "subprocess.Popen[bytes]", other: "subprocess.Popen[bytes]"
) -> None:
    first, second = opened(keeper), opened(other)
    assert first["path"] == second["path"]
    closed = data("lease", "close", "--session", "job-7", "--pid", str(other.pid))
    assert (closed["released"], closed["removed"]) == (False, [])
    assert closed["owners"] == [{"pid": keeper.pid, "start": first["start"], "state": "alive"}]
    assert os.path.isdir(first["path"])
    closed = data("lease", "close", "--session", "job-7", "--pid", str(keeper.pid), "--start", str(first["start"]))
    assert (closed["released"], closed["owners"]) == (True, [])
    assert [each["path"] for each in closed["removed"]] == [first["path"]]
    assert not os.path.exists(first["path"])


def test_closing_gives_back_only_the_process_that_is_named_not_the_one_that_asks(
    keeper: "subprocess.Popen[bytes]",
) -> None:
    """The one that asks owns it too, and was resumed."""
    path = data("lease", "open", "--session", "s", "--pid", str(os.getpid()))["path"]
    opened(keeper, session="s")
    said = command("lease", "close", "--session", "s", "--pid", str(keeper.pid))
    assert said.returncode == 0, said.stderr
    assert os.path.isdir(path)


def test_an_end_without_close_counts_for_the_one_that_has_ended(
    keeper: "subprocess.Popen[bytes]", other: "subprocess.Popen[bytes]"
) -> None:
    path = opened(keeper)["path"]
    opened(other)
    ended(keeper)
    assert data("lease", "close", "--session", "job-7", "--pid", str(other.pid))["released"]
    assert not os.path.exists(path)


def test_close_names_the_process_also_by_its_start(keeper: "subprocess.Popen[bytes]") -> None:
    lease = opened(keeper)
    status, envelope = answer(
        "lease", "close", "--session", "job-7", "--pid", str(keeper.pid), "--start", str(lease["start"] + 1)
    )
    assert (status, envelope["error"]["code"]) == (6, "not-the-owner")
    assert os.path.isdir(lease["path"])
    (listed,) = data("lease", "list")["leases"]
    assert listed["owners"] == [{"pid": keeper.pid, "start": lease["start"], "state": "alive"}]


def test_only_an_owner_can_be_closed(keeper: "subprocess.Popen[bytes]", other: "subprocess.Popen[bytes]") -> None:
    path = opened(keeper)["path"]
    status, envelope = answer("lease", "close", "--session", "job-7", "--pid", str(other.pid))
    assert (status, envelope["error"]["code"]) == (6, "not-the-owner")
    assert os.path.isdir(path)


def test_close_may_be_called_twice_and_for_what_never_was(keeper: "subprocess.Popen[bytes]") -> None:
    opened(keeper)
    close = ("lease", "close", "--session", "job-7", "--pid", str(keeper.pid))
    assert data(*close)["released"] is True
    assert data(*close)["released"] is False
    assert data("lease", "close", "--session", "never", "--pid", str(keeper.pid))["released"] is False


def test_close_keeps_what_a_child_of_the_agent_still_uses(keeper: "subprocess.Popen[bytes]") -> None:
    path = opened(keeper)["path"]
    with subprocess.Popen(["sleep", "600"], cwd=path) as child:
        try:
            closed = data("lease", "close", "--session", "job-7", "--pid", str(keeper.pid))
        finally:
            child.kill()
    assert (closed["released"], [each["path"] for each in closed["kept"]]) == (False, [path])


def test_close_takes_what_else_names_the_session_as_teardown_does(
    own_world: Path, keeper: "subprocess.Popen[bytes]"
) -> None:
    unit = claude_session(own_world / "tmp")
    path = opened(keeper, "--agent", "claude", session=unit.name)["path"]
    closed = data("lease", "close", "--session", unit.name, "--pid", str(keeper.pid), "--wait")
    assert sorted(each["path"] for each in closed["removed"]) == sorted([path, str(unit)])


def test_a_process_that_is_gone_or_another_can_open_nothing(own_world: Path, keeper: "subprocess.Popen[bytes]") -> None:
    start = start_ticks(keeper.pid)
    assert start is not None
    status, envelope = answer("lease", "open", "--pid", str(keeper.pid), "--start", str(start + 1))
    assert (status, envelope["error"]["code"]) == (5, "not-found")
    ended(keeper)
    status, envelope = answer("lease", "open", "--pid", str(keeper.pid))
    assert (status, envelope["error"]["code"]) == (5, "not-found")
    assert list((own_world / "tmp").rglob("*.lease")) == []


@pytest.mark.parametrize("words", [("--session", ""), ("--session", " "), ("--session", "x" * 300), ("--agent", "")])
def test_an_empty_variable_opens_nothing(own_world: Path, words: tuple[str, str]) -> None:
    status, envelope = answer("lease", "open", "--pid", str(os.getpid()), *words)
    assert (status, envelope["error"]["code"]) == (3, "bad-argument")
    assert list((own_world / "tmp").iterdir()) == []


@pytest.mark.parametrize("verb", ["open", "close"])
def test_whose_it_is_is_never_guessed(verb: str) -> None:
    status, envelope = answer("lease", verb, "--session", "job-7")
    assert (status, envelope["error"]["code"]) == (3, "bad-argument")
    assert "--pid" in envelope["error"]["message"]


def test_list_tells_each_lease_and_which_of_its_owners_live(
    keeper: "subprocess.Popen[bytes]", other: "subprocess.Popen[bytes]"
) -> None:
    lease = opened(keeper, "--agent", "codex")
    gone = opened(other, session="job-8")
    ended(other)
    listed = {each["session"]: each for each in data("lease", "list")["leases"]}
    assert set(listed) == {"job-7", "job-8"}
    one = listed["job-7"]
    assert (one["path"], one["agent"], one["state"]) == (lease["path"], "codex", "alive")
    assert one["owners"] == [{"pid": keeper.pid, "start": lease["start"], "state": "alive"}]
    assert isinstance(one["age_seconds"], int)
    assert (listed["job-8"]["state"], listed["job-8"]["path"]) == ("dead", gone["path"])
    said = command("lease", "list")
    assert said.returncode == 0 and "job-7" in said.stdout and lease["path"] in said.stdout


def test_a_root_of_its_own_is_found_again_without_being_named(
    own_world: Path, keeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    root = own_world / "elsewhere"
    root.mkdir(mode=0o700)
    path = opened(keeper, "--root", str(root))["path"]
    assert path.startswith(f"{root}/")
    monkeypatch.delenv("TMPWARDEN_ROOTS")
    here = [each for each in data("lease", "list")["leases"] if each["path"].startswith(str(own_world))]
    assert [each["path"] for each in here] == [path]  # the machine's own /tmp may hold others
    assert data("lease", "close", "--session", "job-7", "--pid", str(keeper.pid))["released"]
    assert not os.path.exists(path)


def test_of_many_that_open_and_close_one_session_at_once_none_is_forgotten() -> None:
    owners = [subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"]}) for _ in range(8)]
    try:
        _at_once("open", owners)
        (listed,) = data("lease", "list")["leases"]
        assert {one["pid"] for one in listed["owners"]} == {each.pid for each in owners}
        _at_once("close", owners[1:])
        (listed,) = data("lease", "list")["leases"]
        assert [one["pid"] for one in listed["owners"]] == [owners[0].pid]
    finally:
        for each in owners:
            each.kill()
            each.wait()


def _at_once(verb: str, owners: "list[subprocess.Popen[bytes]]") -> None:
    line = [sys.executable, "-m", "tmpwarden", "lease", verb, "--session", "shared", "--pid"]
    running = [subprocess.Popen([*line, str(each.pid)], stdout=subprocess.DEVNULL) for each in owners]
    assert [each.wait(timeout=60) for each in running] == [0] * len(owners)


@pytest.mark.parametrize(("verb", "window"), [("open", "open_scratch"), ("close", "disown")])
def test_while_one_reads_and_writes_a_lease_no_other_does(
    verb: str, window: str, keeper: "subprocess.Popen[bytes]", other: "subprocess.Popen[bytes]",
    own_world: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    opened(keeper), opened(other)
    holder = own_world / "tmp" / f"tmpwarden-{os.geteuid()}"
    seen: list[bool] = []
    real = getattr(scratch, window)

    def looked(*words: object, **more: object) -> object:
        with closing(os.open(holder, os.O_RDONLY)) as fd:
            seen.append(locks.try_flock(fd))
        return real(*words, **more)

    monkeypatch.setattr(scratch, window, looked)
    assert answer("lease", verb, "--session", "job-7", "--pid", str(keeper.pid))[0] == 0
    assert seen == [False]
