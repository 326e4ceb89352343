"""A process is its number and its start; everything else about it may be made to deceive."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import holding, uids
from support.answers import witnesses
from support.holding import process
from support.mounts import needs_root
from support.users import dead_process
from tmpwarden.leases.roster import is_program_of
from tmpwarden.model.terms import OwnerState
from tmpwarden.oskit.proc import identity, namespaces, procs
from tmpwarden.oskit.proc.holders import Holders
from tmpwarden.oskit.proc.identity import identity_state
from tmpwarden.oskit.system.linux import processes, visibility

ME = os.getpid()
RENAME = "import ctypes, sys; ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)"
HIDE = "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)"


@pytest.mark.parametrize("name", ["a b", ") R 1 (", "((", "x) 1 2 3 4", ")"])
def test_a_command_with_spaces_and_parentheses_does_not_move_the_start(name: str) -> None:
    with process(RENAME, name) as running:
        found = procs.process(running.pid)
        assert found is not None
        assert (found.command, found.parent) == (name, ME)
        assert found.start >= (procs.start_ticks(ME) or 0)


@given(st.binary(max_size=15).filter(lambda name: b"\0" not in name), st.integers(0, 2**40))
def test_any_command_can_be_read_past(name: bytes, start: int) -> None:
    fields = [b"S", b"7", *(b"0" for _ in range(17)), str(start).encode(), b"0"]
    found = processes.parse_stat(5, b"5 (" + name + b") " + b" ".join(fields))
    assert found is not None
    assert (found.parent, found.start, os.fsencode(found.command)) == (7, start, name)


@given(st.binary())
def test_no_line_is_too_strange(line: bytes) -> None:
    processes.parse_stat(1, line)


def test_a_zombie_is_no_process_any_more() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert os.path.exists(f"/proc/{child.pid}/stat")
    assert procs.start_ticks(child.pid) is None
    child.wait()


def test_a_process_whose_first_thread_has_ended_still_lives_and_holds(tmp_path: Path) -> None:
    source = (
        "import ctypes, os, sys, threading\n"
        "fd = os.open(sys.argv[1], os.O_RDONLY)\n"
        "def rest():\n"
        "    while 'State:\\tZ' not in open(f'/proc/{os.getpid()}/status').read(): pass\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.read(); os._exit(0)\n"
        "threading.Thread(target=rest).start()\n"
        "ctypes.CDLL(None).syscall(60, 0)\n"
    )
    argv = [sys.executable, "-I", "-c", source, str(tmp_path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin
        assert child.stdout
        assert child.stdout.readline() == b"ready\n"
        assert procs.start_ticks(child.pid) is not None
        assert refused(child.pid) != ()
        assert witnesses(Holders.look().within(str(tmp_path)))[0].pid == child.pid
        child.stdin.close()


# Identity


def test_a_process_is_alive_by_number_and_start() -> None:
    boot, machine, pidns = namespaces.boot_id(), namespaces.machine_id(), namespaces.pid_namespace()
    start = procs.start_ticks(ME)
    assert identity_state(ME, start, boot, machine, pidns) is OwnerState.ALIVE
    assert identity_state(ME, start, None, machine, pidns) is OwnerState.ALIVE
    assert identity_state(ME, start, boot, None, pidns) is OwnerState.ALIVE
    assert identity_state(ME, (start or 0) + 1, boot, machine, pidns) is OwnerState.DEAD
    pid, ended = dead_process()
    assert identity_state(pid, ended, boot, machine, pidns) is OwnerState.DEAD
    assert identity_state(pid) is OwnerState.DEAD


def test_a_number_without_a_start_is_judged_by_dates_and_doubt_keeps() -> None:
    """Clocks are corrected: only a record from before this boot is proof, one from before the process is a doubt."""
    started = procs.started_s(ME, procs.start_ticks(ME) or 0)
    booted = procs.boot_time_s()
    assert started
    assert booted
    assert identity_state(ME) is OwnerState.ALIVE
    assert identity_state(ME, recorded_s=started + 1) is OwnerState.ALIVE
    assert identity_state(ME, recorded_s=started - 60) is OwnerState.ALIVE
    assert identity_state(ME, recorded_s=booted - identity.CLOCK_SLACK_S - 60) is OwnerState.DEAD
    assert identity_state(1, recorded_s=booted - 60) is OwnerState.ALIVE


def test_without_a_machine_id_another_boot_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces, "machine_id", lambda: None)
    assert identity_state(ME, 1, "another boot", None, None) is OwnerState.UNKNOWN
    assert identity_state(ME, 1, namespaces.boot_id(), None, namespaces.pid_namespace()) is OwnerState.DEAD


# Who can be seen


def test_root_sees_everybody_here() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    assert Holders.look().doubts == ()


SOMEBODY = uids.HIDING
LOOK = """
from tmpwarden.oskit.proc.holders import Holders
holders = Holders.look(("CLAUDE_CODE_SESSION_ID",))
print(type(holders.unseen).__name__ == "Nobody")
print(*holders.doubts, sep="\\n")
"""


@needs_root
def test_an_ordinary_user_sees_everybody_who_matters(ordinary_user) -> None:  # type: ignore[no-untyped-def]
    """Root's daemons cannot be read, and need not be."""
    done = _look(ordinary_user, LOOK)
    assert done.stdout.split("\n")[0] == "True", done.stdout + done.stderr


@needs_root
def test_an_own_process_that_hides_makes_the_look_incomplete_unless_it_is_known_to(ordinary_user) -> None:  # type: ignore[no-untyped-def]
    for name, complete in (("secretive", "False"), ("ssh-agent", "True")):
        with _as_user(ordinary_user, HIDE + "; " + RENAME, name):
            done = _look(ordinary_user, LOOK)
            assert done.stdout.split("\n")[0] == complete, done.stdout + done.stderr


@needs_root
def test_a_process_of_another_user_that_ours_started_makes_the_look_incomplete(ordinary_user) -> None:  # type: ignore[no-untyped-def]
    """As sudo does: our shell, below it a process of root that may carry any session."""
    sudo = Path(ordinary_user.base, "sudo")
    subprocess.run(["cp", ordinary_user.python, sudo], check=True)
    sudo.chmod(0o4755)
    source = (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen([sys.argv[1], '-I', '-c', 'import os, sys; os.setuid(0); "
        'print("up", flush=True); sys.stdin.read()\'], stdout=subprocess.PIPE, stdin=0)\n'
        "assert child.stdout.readline() == b'up\\n'\n"
    )
    with _as_user(ordinary_user, source, str(sudo)):
        done = _look(ordinary_user, LOOK)
        assert done.stdout.split("\n")[0] == "False", done.stdout + done.stderr
        assert "started by this user under another user's name" in done.stdout


@needs_root
def test_a_container_client_of_ours_makes_the_look_incomplete(ordinary_user) -> None:  # type: ignore[no-untyped-def]
    with _as_user(ordinary_user, RENAME, "docker"):
        assert _look(ordinary_user, LOOK).stdout.split("\n")[0] == "False"


@needs_root
def test_a_command_in_an_agents_sandbox_can_be_seen(ordinary_user) -> None:  # type: ignore[no-untyped-def]
    """Sandboxes of agents put commands into a user and mount namespace of their own."""
    unit = ordinary_user.base / "unit"
    unit.mkdir()
    unit.chmod(0o777)
    source = (
        "import ctypes, os, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "assert libc.unshare(0x10000000 | 0x20000) == 0, ctypes.get_errno()\n"
        "os.chdir(sys.argv[1])\n"
    )
    with _as_user(ordinary_user, source, str(unit)):
        done = _look(ordinary_user, LOOK + f"print([w.kind.value for w in holders.within({str(unit)!r}).by])")
        assert done.stdout == "True\n\n['working-directory']\n", done.stdout + done.stderr


@needs_root
def test_hidepid_makes_the_look_incomplete(ordinary_user) -> None:  # type: ignore[no-untyped-def]
    script = 'mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid "$2" --clear-groups "$0" -c "$1"'
    done = subprocess.run(
        ["unshare", "-m", "--propagation", "private", "sh", "-c", script, ordinary_user.python, LOOK, str(SOMEBODY)],
        env=ordinary_user.env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == ["False", "/proc is mounted with hidepid"]


@needs_root
def test_another_pid_namespace_makes_the_look_incomplete() -> None:
    done = subprocess.run(
        ["unshare", "-p", "-f", "--mount-proc", sys.executable, "-c", LOOK], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[0] == "False"
    assert "PID namespace" in done.stdout


def _look(user, source: str) -> subprocess.CompletedProcess[str]:  # type: ignore[no-untyped-def]
    return subprocess.run(
        [user.python, "-c", source], env=user.env, cwd="/", user=SOMEBODY, group=SOMEBODY, extra_groups=[],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def _as_user(user, source: str, *args: str):  # type: ignore[no-untyped-def]
    """Through an exec: a process that only changed its uid hides from its new owner."""
    become = (
        f"import os, sys; os.setgroups([]); os.setgid({SOMEBODY}); os.setuid({SOMEBODY}); "
        "os.execv(sys.executable, [sys.executable, '-I', '-c', *sys.argv[1:]])"
    )
    return process(become, source + holding._WAIT, *args, env=user.env, python=user.python)


def test_a_sandboxed_browser_and_the_like_are_known_to_hide() -> None:
    assert {"(sd-pam)", "ssh-agent", "gpg-agent"} <= visibility.SHY_COMMANDS


def refused(pid: int) -> tuple[str, ...]:
    """What a look doubts that was not let at this process."""
    known = {pid: procs.Process(pid, ME, 0, "x")}
    return visibility.doubts(known, {pid: PermissionError(13, "Permission denied")}, outside=False)


def test_who_was_on_its_way_out_when_it_refused_leaves_no_doubt() -> None:
    """From the end of its memory to its own, its files in /proc are root's: whoever ends is one for a moment."""
    with process("") as child:
        assert refused(child.pid) == (f"process {child.pid} (x) of this user cannot be read",)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert procs.owner_of(child.pid) == os.geteuid(), "a zombie still has its owner"
        assert refused(child.pid) == ()


@pytest.mark.parametrize(("state", "flags", "threads", "is_over"), [
    (b"S", 0x400000, 1, False), (b"R", 0x400004, 1, True), (b"D", 0x40000C, 1, True), (b"R", 0x400004, 2, False),
])  # fmt: skip
def test_whoever_exits_runs_no_program_any_more(
    state: bytes, flags: int, threads: int, is_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = b"5 (x) %b 7 0 0 0 0 %d 0 0 0 0 0 0 0 0 0 0 %d 0 99 0" % (state, flags, threads)
    monkeypatch.setattr(processes, "read", lambda path: line)
    assert procs.is_ending(5) is is_over


# Which program is an agent


@pytest.mark.parametrize(
    "arguments",
    [
        (b"codex",),
        (b"/opt/vendor/bin/codex", b"exec"),
        (b"codex.exe",),
        (b"node", b"/usr/lib/node_modules/@openai/codex/bin/codex.js", b"exec"),
        (b"/usr/bin/node", b"--no-warnings", b"/x/@openai/codex/dist/cli.js"),
        (b"bun", b"/x/codex-cli/index.ts"),
    ],
)
def test_a_program_is_known_by_its_own_name_or_its_scripts(arguments: tuple[bytes, ...]) -> None:
    assert is_program_of(b"codex", arguments)


@pytest.mark.parametrize(
    "arguments",
    [(), (b"",), (b"vim", b"codex.md"), (b"codexology",), (b"node", b"/x/other.js", b"codex"), (b"grep", b"codex")],
)
def test_a_file_that_is_called_like_an_agent_is_no_agent(arguments: tuple[bytes, ...]) -> None:
    assert not is_program_of(b"codex", arguments)


def test_a_script_in_an_agents_scratch_directory_is_not_the_agent() -> None:
    """Claude's scratchpad lies below claude-<uid>, which is no program; whose name it has in a file still is."""
    scratch = b"/tmp/claude-%d/-home-u-p/5e551011/scratchpad" % os.geteuid()
    assert not is_program_of(b"claude", (b"python3", scratch + b"/fill.py"))
    assert not is_program_of(b"claude", (b"node", scratch + b"/a/fill.js"))
    assert is_program_of(b"claude", (b"node", scratch + b"/claude-code/cli.js"))
    assert is_program_of(b"claude", (b"node", b"/usr/lib/claude-%d" % os.geteuid()))
    assert is_program_of(b"claude", (b"node", b"/opt/claude-%d/cli.js" % (os.geteuid() + 1)))  # some version of it
