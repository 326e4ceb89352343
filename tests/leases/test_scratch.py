"""A session's scratch is private, stays the same for the session, and says whose it is."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from support.mounts import fill_bytes, needs_root, tmpfs
from tmpwarden.errors import UnsafeScratch
from tmpwarden.leases import scratch
from tmpwarden.leases.lease_state import live_pids, state_of
from tmpwarden.model.terms import OwnerState
from tmpwarden.oskit.proc import namespaces, procs

ME = os.getpid()


def test_a_scratch_is_private_short_and_leased(tmp_path: Path) -> None:
    made = scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=ME)
    assert os.stat(made.path).st_mode & 0o7777 == 0o700
    assert Path(made.path).parent == tmp_path / f"tmpwarden-{os.geteuid()}"
    assert len(Path(made.path).name) == 8
    assert made.env == {"TMPDIR": made.path, "TMP": made.path, "TEMP": made.path}
    lease = json.loads(Path(made.path + ".lease").read_text())
    assert lease.pop("created") > 1.7e9
    assert lease == {
        "path": made.path,
        "agent": "claude",
        "session": "s-1",
        "machine": namespaces.machine_id(),
        "pid": ME,
        "start": procs.start_ticks(ME),
        "boot": namespaces.boot_id(),
        "pidns": namespaces.pid_namespace(),
        "config_home": None,
        "cgroup": procs.cgroup(ME),
    }
    assert os.stat(made.path + ".lease").st_mode & 0o7777 == 0o600


def test_the_same_session_gets_the_same_scratch_and_another_session_another(tmp_path: Path) -> None:
    first = scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=ME)
    Path(first.path, "note").write_text("x")
    assert scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=1).path == first.path
    assert Path(first.path, "note").exists()
    others = {scratch.open_scratch(str(tmp_path), agent, s, pid=ME).path for agent in "ab" for s in ("s-1", "s-2")}
    assert len(others | {first.path}) == 5


def test_the_new_process_of_a_resumed_session_is_the_owner(tmp_path: Path) -> None:
    scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=ME)
    scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=1)
    (lease,) = scratch.read_all((str(tmp_path),))
    assert lease.pid == 1
    assert scratch.find(str(tmp_path), "claude", "s-1").pid == 1  # type: ignore[union-attr]
    assert scratch.find(str(tmp_path), "claude", "s-2") is None


def test_two_sessions_whose_names_collide_get_two_scratches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_hash", lambda text: int(text[0]))
    first = scratch.open_scratch(str(tmp_path), "a", "1", pid=ME)
    second = scratch.open_scratch(str(tmp_path), "a", "2", pid=ME)
    assert first.path != second.path
    assert scratch.open_scratch(str(tmp_path), "a", "2", pid=ME).path == second.path


def test_inside_the_agents_sandbox_it_lies_where_the_sandbox_may_write(tmp_path: Path) -> None:
    made = scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=ME, sandboxed=True)
    assert Path(made.path).parent == tmp_path / f"claude-{os.geteuid()}" / "tw"
    assert [lease.path for lease in scratch.read_all((str(tmp_path),))] == [made.path]


@pytest.mark.parametrize("squat", ["link", "file", "open to all"])
def test_a_squatted_directory_is_refused(tmp_path: Path, squat: str) -> None:
    name = tmp_path / f"tmpwarden-{os.geteuid()}"
    if squat == "link":
        (tmp_path / "elsewhere").mkdir()
        name.symlink_to(tmp_path / "elsewhere")
    elif squat == "file":
        name.write_text("")
    else:
        name.mkdir()
        name.chmod(0o777)
    with pytest.raises(UnsafeScratch):
        scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=ME)


BROKEN = ["", "{", "[]", "null", '{"pid": 1}', '{"agent": 1, "session": "x", "pid": 2}', "[" * 90000,
          "\x00", "x" * 70000,
          '{"agent": "a", "session": "s", "pid": -1}', '{"agent": "a", "session": "s", "pid": true}',
          '{"agent": "a", "session": "s", "pid": 99999999999999999999}']  # fmt: skip


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_record_is_nobodys_and_never_a_crash(tmp_path: Path, text: str) -> None:
    made = scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=ME)
    Path(made.path + ".lease").write_text(text)
    assert scratch.read_all((str(tmp_path),)) == ()
    assert scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=ME).path == made.path


def test_an_adopted_process_owns_it_too(tmp_path: Path) -> None:
    made = scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=ME)
    scratch.adopt(made.lease, 1)
    (lease,) = scratch.read_all((str(tmp_path),))
    assert lease.others == ((1, procs.start_ticks(1)),)


def test_two_living_processes_of_one_session_own_its_scratch_together(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        made = scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=other.pid)
        scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=ME)
        lease = scratch.read(made.path)
        assert lease is not None
        assert lease.others == ((other.pid, procs.start_ticks(other.pid)),)
        assert set(live_pids(lease)) == {ME, other.pid}
        again = scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=other.pid).lease
        assert again.others == ((ME, procs.start_ticks(ME)),)
        other.kill()
    assert scratch.open_scratch(str(tmp_path), "claude", "s-1", pid=ME).lease.others == ()


@needs_root
def test_a_session_that_goes_on_where_nothing_fits_is_not_taken_for_a_dead_one(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "small", "256k") as root:
        with subprocess.Popen(["sleep", "60"]) as other:
            made = scratch.open_scratch(str(root), "claude", "s-1", pid=other.pid)
            other.kill()
        fill_bytes(root)
        scratch.open_scratch(str(root), "claude", "s-1", pid=ME)
        lease = scratch.read(made.path)
        assert lease is None or state_of(lease) is OwnerState.ALIVE
