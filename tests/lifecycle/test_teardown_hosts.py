"""Teardown in the hosts that call it: whatever state they are in, nothing is raised and nothing of theirs is kept."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from support.litter import claude_session
from support.mounts import mounted, needs_root
from support.user import UID, OrdinaryUser
from support.wrapped import eventually
from tmpwarden.sweep.store.journal import open_intents

CALL = "result = tmpwarden.teardown(session=sys.argv[1])"
TELL = "open(told, 'w').write(repr((result.error, len(result.removed))))"
HOSTS = {
    "plain": f"{CALL}\n{TELL}",
    "no HOME": f"os.environ.pop('HOME')\n{CALL}\n{TELL}",
    "no environment": "for name in set(os.environ) - {'TMPWARDEN_ROOTS', 'XDG_STATE_HOME'}: del os.environ[name]\n"
    f"{CALL}\n{TELL}",
    "closed descriptors": f"for fd in (0, 1, 2): os.close(fd)\n{CALL}\n{TELL}",
    "no working directory": f"os.mkdir(told); os.chdir(told); os.rmdir(told)\n{CALL}\n{TELL}",
    "ignores its children": f"signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n{CALL}\n{TELL}",
    "in a signal handler": f"def stop(*_):\n    {CALL}\n    {TELL}\n"
    "signal.signal(signal.SIGTERM, stop)\nos.kill(os.getpid(), signal.SIGTERM)",
    "in a thread": f"def stop():\n    {CALL}\n    {TELL}\n"
    "import threading; t = threading.Thread(target=stop); t.start(); t.join()",
    "after a fork": f"if os.fork() == 0:\n    {CALL}\n    {TELL}\n    os._exit(0)\nos.wait()",
    "no processes left": f"import resource; resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))\n{CALL}\n{TELL}",
    "at the end of the interpreter": f"import atexit\ndef stop():\n    {CALL}\n    {TELL}\natexit.register(stop)",
}


@pytest.mark.parametrize("host", HOSTS)
def test_it_takes_what_it_should_in_any_host(host: str, own_world: Path) -> None:
    unit = claude_session(own_world / "tmp")
    source = f"import os, signal, sys, tmpwarden\ntold = sys.argv[2]\n{HOSTS[host]}"
    argv = [sys.executable, "-c", source, unit.name, str(own_world / "told")]
    subprocess.run(argv, check=True, timeout=60)
    assert (own_world / "told").read_text() == "(None, 1)"
    assert not unit.exists()
    state = str(own_world / "state" / "tmpwarden")
    assert eventually(lambda: open_intents(state) == []), "and what goes on afterwards has written its receipt"


@needs_root
def test_with_a_state_that_cannot_be_written_it_says_so_and_keeps(ordinary_user: OrdinaryUser) -> None:
    """What may be worth something goes only when that can be written down."""
    user = ordinary_user
    session = str(uuid.uuid4())
    plant = f"import os; os.makedirs('{user.tmp}/claude-{UID}/-w/{session}/tasks')"
    assert user.code(plant).returncode == 0
    with mounted(user.home, "-t", "tmpfs", "-o", f"ro,uid={UID},mode=700", "tmpfs"):
        done = user.code(f"import tmpwarden; r = tmpwarden.teardown('{session}'); print(r.error, len(r.failed))")
    assert done.stdout == "None 1\n", done.stderr
    assert (user.tmp / f"claude-{UID}" / "-w" / session).exists()


SERVER = """
import os, signal, socket, sys, time, tmpwarden
from tmpwarden.lifecycle import teardown
held = socket.create_server(("127.0.0.1", 0))
signal.signal(signal.SIGTERM, lambda *_: open(sys.argv[2] + "/shutdown-again", "w").close())
ordinary = teardown._rest
def slow(*words):
    with open(sys.argv[2] + "/judge", "w") as file: file.write(str(os.getpid()))
    while not os.path.exists(sys.argv[2] + "/go"): time.sleep(0.02)
    return ordinary(*words)
teardown._rest = slow
result = tmpwarden.teardown(session=sys.argv[1])
print(held.getsockname()[1], flush=True)
"""


def test_what_goes_on_afterwards_holds_nothing_of_the_host_and_runs_none_of_its_handlers(own_world: Path) -> None:
    """A server that starts again binds its port; a signal for the whole group does not shut it down twice."""
    unit = claude_session(own_world / "tmp")
    argv = [sys.executable, "-c", SERVER, unit.name, str(own_world)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip().isdecimal()
    assert eventually(lambda: (own_world / "judge").exists() and (own_world / "judge").read_text() != "")
    judge = int((own_world / "judge").read_text())
    open_there = [os.readlink(f"/proc/{judge}/fd/{fd}") for fd in os.listdir(f"/proc/{judge}/fd")]
    assert not [path for path in open_there if path.startswith(("socket:", "pipe:"))]
    os.kill(judge, 15)
    assert eventually(lambda: not os.path.exists(f"/proc/{judge}"))
    assert not (own_world / "shutdown-again").exists()
