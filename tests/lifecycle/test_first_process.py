"""`tmpwarden run` as pid 1 of a container: it buries orphans, passes signals on, and ends as its command ended."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.mounts import needs_root
from support.wrapped import RUN, eventually

pytestmark = needs_root
ENTER = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
# A grandchild whose parent is gone belongs to pid 1; when it ends, somebody has to wait for it.
ORPHANS = """
for n in 1 2 3; do (sh -c 'echo $$ >> "$0"; exit 3' "$1" &); done
while [ "$(wc -l < "$1")" -lt 3 ]; do :; done
while read pid; do while [ -e /proc/$pid ]; do :; done; done < "$1"
test "$PPID" = 1 && echo buried
"""
TOLD = "trap 'echo told; exit 7' TERM; echo $$ > \"$1\"; while :; do sleep 0.05; done"


@pytest.fixture
def noted(tmp_path: Path) -> Path:
    path = tmp_path / "noted"
    path.touch()
    return path


@pytest.fixture
def running(noted: Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen([*ENTER, *RUN, "--", "sh", "-c", TOLD, "sh", str(noted)], stdout=-1, text=True)
    eventually(lambda: noted.read_text().strip())
    yield process
    process.kill()
    process.wait()


def first_process(unshare: int) -> int:
    """pid 1 of the namespace, as we see it."""
    return int(Path(f"/proc/{unshare}/task/{unshare}/children").read_text().split()[0])


def test_orphans_are_buried_while_the_command_goes_on(noted: Path, own_world: Path) -> None:
    argv = [*ENTER, *RUN, "--", "sh", "-c", ORPHANS, "sh", str(noted)]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "buried\n", "")
    assert not list((own_world / "tmp").glob("tmpwarden-*/[0-9a-f]*"))


def test_a_signal_from_outside_reaches_the_command_and_its_status_comes_back(
    running: "subprocess.Popen[str]", own_world: Path
) -> None:
    os.kill(first_process(running.pid), signal.SIGTERM)
    out, _ = running.communicate(timeout=60)
    assert (running.returncode, out) == (7, "told\n")
    assert not list((own_world / "tmp").glob("tmpwarden-*/[0-9a-f]*"))


def test_a_stopped_command_goes_on_when_it_is_told_to(running: "subprocess.Popen[str]") -> None:
    first = first_process(running.pid)
    [command] = map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())
    os.kill(command, signal.SIGSTOP)
    eventually(lambda: Path(f"/proc/{command}/stat").read_text().rpartition(") ")[2][0] == "T")
    os.kill(command, signal.SIGCONT)
    os.kill(first, signal.SIGTERM)
    out, _ = running.communicate(timeout=60)
    assert (running.returncode, out) == (7, "told\n")


def test_a_command_that_a_signal_ended_is_told_by_the_status_that_shells_give(noted: Path) -> None:
    argv = [*ENTER, *RUN, "--", "sh", "-c", "kill -KILL $$"]
    assert subprocess.run(argv, timeout=60, check=False).returncode == 128 + signal.SIGKILL
