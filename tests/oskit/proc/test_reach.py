"""Asking whether a path can be touched, from where a program happens to be."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tmpwarden.oskit.proc import reach
from tmpwarden.oskit.proc.namespaces import Mount
from tmpwarden.oskit.proc.reach import Reach

ASK = """
import os, sys
from tmpwarden.oskit.proc.namespaces import Mount
from tmpwarden.oskit.proc.reach import Reach
os.mkdir(sys.argv[1]); os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])
reach = Reach(None)
reach.risky["/srv/elsewhere"] = Mount(1, 0, "0:1", "/", "/srv/elsewhere", "rw", "nfs4", "srv:/x")
print(reach.frozen("/tmp"))
"""


def test_a_program_without_a_working_directory_can_ask_beside_a_network_mount(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path / "gone")], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("None\n", "")


def test_the_deadline_begins_when_the_child_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a starved machine an interpreter takes seconds to start: a sound mount would be called frozen, and a device
    that somebody uses by a lost mount would stay unknown."""
    slow = tmp_path / "python"
    slow.write_text(f'#!/bin/sh\nsleep 1.5\nexec "{sys.executable}" "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(slow))
    monkeypatch.setattr(reach, "DEADLINE_S", 1.0)
    assert reach.answer_of("os.write(1, b'here')", "/") == b"here"


def test_a_child_that_never_comes_has_given_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(slow))
    monkeypatch.setattr(reach, "_START_S", 0.2)
    with pytest.raises(TimeoutError):
        reach.answer_of("os.write(1, b'here')", "/")
    assert reach._asked(["/", "/usr"]) == [False, False]


def test_several_are_asked_at_once_and_each_has_its_own_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "DEADLINE_S", 1.0)
    began = time.monotonic()
    program = "import time\nif sys.argv[1] != '/usr': time.sleep(600)\nos.write(1, sys.argv[1].encode())"
    assert reach.answers_of(program, ["/a", "/usr", "/b", "/c"]) == [b"", b"/usr", b"", b""]
    assert time.monotonic() - began < 3.0


def test_what_may_hang_below_a_home_is_asked_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six agents' homes on one dead server cost one deadline, not six. An autofs would mount what it is asked for."""
    monkeypatch.setenv("HOME", "/srv/no-such-home")
    asked: list[list[str]] = []
    monkeypatch.setattr(reach, "_asked", lambda points: asked.append(points) or [False] * len(points))
    kinds = {".claude": "nfs4", ".codex": "fuse.sshfs", "net": "autofs", "../shared": "nfs4"}
    mounts = Reach(None)
    for number, (name, kind) in enumerate(kinds.items()):
        point = os.path.normpath(f"/srv/no-such-home/{name}")
        mounts.risky[point] = Mount(-number, 0, f"0:{number}", "/", point, "rw", kind, "srv:/x")
    assert all(mounts.is_frozen_at(point) for point in mounts.risky)
    home = "/srv/no-such-home"
    assert asked == [[f"{home}/.claude", f"{home}/.codex"], [f"{home}/net"], ["/srv/shared"]]
