"""`tmpwarden run` in front of real programs: they notice nothing, and nothing of theirs is left."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support import mounts
from support.bases import base_for_all, users_of
from support.command import AHEAD, tmpwarden
from support.litter import later
from support.shell import InteractiveShell
from support.user import UID, OrdinaryUser
from support.wrapped import FORMS, NAMES, RUN, eventually, in_quarantine, left_behind, outcome, started
from tmpwarden.errors import NotFound
from tmpwarden.lifecycle.run import environment
from tmpwarden.model.sweep import Keep
from tmpwarden.sweep.compose import clean, scan
from tmpwarden.sweep.store.undo import undo

BYTES = bytes(range(256)) * 300
C_PROGRAM = b'#include <stdio.h>\nint main(void) { puts("built"); return 9; }\n'
IN_A_PTY = ["sh", "-c", "test -t 1 && echo tty; exit 4"]
PROGRAMS = {
    "shell": (["sh", "-c", 'cat; echo x >"$(mktemp)"; exit 3'], BYTES),
    "python": (
        [sys.executable, "-c", "import sys, tempfile as t; t.mkstemp(); print(sys.stdin.read()); sys.exit(5)"],
        b"in\n",
    ),
    "node": (
        [
            "node",
            "-e",
            "const fs = require('fs'); fs.mkdtempSync(require('os').tmpdir() + '/n');"
            "process.stdout.write(fs.readFileSync(0)); process.exitCode = 7",
        ],
        BYTES,
    ),
    "git": (["sh", "-c", "git init -q repo && cd repo && git hash-object -w --stdin && rm -rf ../repo"], BYTES),
    "gcc": (["sh", "-c", "gcc -x c - -o built && ./built"], C_PROGRAM),
    "pty": ([sys.executable, "-c", f"import pty, sys; sys.exit(pty.spawn({IN_A_PTY!r}) >> 8)"], b""),
}  # fmt: skip
WRITE_AND_WAIT = 'echo x >"$TMPDIR/work"; exec sleep 600'


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_ends_and_speaks_as_without(name: str, form: list[str], root: Path, own_world: Path) -> None:
    argv, stdin = PROGRAMS[name]
    if shutil.which(argv[0]) is None or (name == "gcc" and shutil.which("gcc") is None):
        pytest.skip(f"needs the program {name}")
    cwd = own_world / "work"
    cwd.mkdir()
    bare = ["env", f"TMPDIR={cwd}", *argv]  # what it leaves there is its own
    assert outcome([*form, *argv], stdin, cwd) == outcome(bare, stdin, cwd)
    assert eventually(lambda: left_behind(root) == [])


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1])
def test_a_signal_for_the_wrapper_alone_reaches_the_command(number: int, form: list[str], root: Path) -> None:
    with started(form, WRITE_AND_WAIT) as (wrapper, _):
        wrapper.send_signal(number)
        assert wrapper.wait(timeout=60) == -number
    assert eventually(lambda: left_behind(root) == [])


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_a_command_that_catches_the_signal_decides_its_status(form: list[str], root: Path) -> None:
    with started(form, "trap 'exit 42' TERM; echo set; while :; do sleep 0.05; done") as (wrapper, _):
        assert wrapper.stdout
        assert wrapper.stdout.readline() == "set\n"
        wrapper.terminate()
        assert wrapper.wait(timeout=60) == 42


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_nothing_is_left_when_the_command_is_killed(form: list[str], root: Path) -> None:
    with started(form, WRITE_AND_WAIT) as (wrapper, command):
        os.kill(command, signal.SIGKILL)
        assert wrapper.wait(timeout=60) == -signal.SIGKILL
    assert eventually(lambda: left_behind(root) == [])


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_a_killed_wrapper_costs_the_command_nothing_and_the_next_clean_takes_what_is_left(
    form: list[str], root: Path
) -> None:
    with started(form, WRITE_AND_WAIT) as (wrapper, command):
        wrapper.kill()
        wrapper.wait(timeout=60)
        clean(now_ns=later(100))
        assert [path.read_text() for path in root.glob("tmpwarden-*/*/work")] == ["x\n"]
        os.kill(command, signal.SIGKILL)
        assert eventually(lambda: not os.path.exists(f"/proc/{command}/cwd"))
    clean(now_ns=later(1))
    assert left_behind(root) == []


def test_the_next_run_takes_what_a_killed_one_left(root: Path) -> None:
    """No clean is due, nobody asks for one: a record names the dead owner, and a minute has passed."""
    with started(RUN, WRITE_AND_WAIT) as (wrapper, command):
        wrapper.kill()
        wrapper.wait(timeout=60)
        os.kill(command, signal.SIGKILL)
    assert left_behind(root) != []
    subprocess.run([*RUN, "true"], check=True)
    assert eventually(lambda: not users_of(root)), "who cleans for it in the background holds the lock"
    assert left_behind(root) != [], "its owner has been dead for a moment only"
    subprocess.run([sys.executable, AHEAD, "100", *RUN[1:], "true"], check=True)
    assert eventually(lambda: left_behind(root) == [])


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_a_child_that_outlives_the_command_keeps_the_scratch_until_it_ends(form: list[str], root: Path) -> None:
    done = subprocess.run(
        [*form, "sh", "-c", 'echo x >"$TMPDIR/work"; sleep 600 >/dev/null 2>&1 & echo $!'],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    child = int(done.stdout)
    try:
        (work,) = root.glob("tmpwarden-*/*/work")
        (verdict,) = (found for found in scan(now_ns=later(100)) if found.finding.path == str(work.parent))
        assert isinstance(verdict, Keep)
        clean(now_ns=later(100))
        assert work.exists()
    finally:
        os.kill(child, signal.SIGKILL)
        assert eventually(lambda: not os.path.exists(f"/proc/{child}/cwd"))
    clean(now_ns=later(1))
    assert left_behind(root) == []


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_job_control_works_as_without(form: list[str]) -> None:
    words = shlex.join(form)
    with InteractiveShell() as shell:
        shell.write(f'{words} sh -c \'echo sta""rted; read line; echo "got:$line"; exec sleep 600\'\n')
        shell.wait_for("started")
        shell.write("\x1a")
        shell.wait_for("Stopped")
        shell.write("fg\n")
        shell.wait_for("read line")  # bash names the job it continues
        shell.write("hello\n")
        shell.wait_for("got:hello")
        shell.write("\x03")  # `exec`: a bash that is about to fork would wait for a child that never saw the signal
        shell.wait_for("$ ")
        shell.write('echo status=""$?\n')
        shell.wait_for("status=130")


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_an_interactive_shell_inside_has_job_control_of_its_own(form: list[str]) -> None:
    with InteractiveShell() as shell:
        shell.write(f"{shlex.join(form)} env PS1=in''ner'> ' bash --norc -i\n")
        shell.wait_for("inner> ")
        shell.write("sh -c 'echo u''p; read line; echo got:$line; exec sleep 600'\n")
        shell.wait_for("up\r\n")
        shell.write("\x1a")
        shell.wait_for("Stopped")
        shell.wait_for("inner> ")
        shell.write("fg\n")
        shell.wait_for("exec sleep")  # bash names the job it continues
        shell.write("hello\n")
        shell.wait_for("got:hello")
        shell.write("\x03")
        shell.wait_for("inner> ")
        shell.write("suspend -f\n")
        shell.wait_for("Stopped")  # told by the shell around it
        shell.wait_for("$ ")
        shell.write("fg\n")
        shell.wait_for("bash --norc")
        shell.write('echo a""live; exit 7\n')
        shell.wait_for("alive")
        shell.wait_for("$ ")
        shell.write('echo status=""$?\n')
        shell.wait_for("status=7")


def test_the_size_of_the_terminal_and_its_change_reach_the_command() -> None:
    watch = "trap 'stty size' WINCH; echo sta\"\"rted; while :; do sleep 0.05; done"
    with InteractiveShell() as shell:
        shell.write(f"{shlex.join(RUN)} -- bash -c {shlex.quote(watch)}\n")
        shell.wait_for("started")
        shell.resize(33, 77)
        shell.wait_for("33 77")


def test_a_command_that_does_not_stop_keeps_the_terminal() -> None:
    """A wrapper that stopped alone would leave two readers on one terminal."""
    with InteractiveShell() as shell:
        shell.write(f'{shlex.join(RUN)} -- sh -c \'trap "" TSTP; echo sta""rted; read line; echo "got:$line"\'\n')
        shell.wait_for("started")
        shell.write("\x1a")
        shell.write("hello\n")
        shell.wait_for("got:")
        shell.wait_for("$ ")


@pytest.mark.parametrize(("command", "status"), [("no-such-command-here", 127), ("/etc/passwd", 126)])
def test_a_command_that_cannot_start_gives_the_shells_status(command: str, status: int, root: Path) -> None:
    done = subprocess.run([*RUN, "--", command], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith(f"tmpwarden run: {command}: ")
    assert eventually(lambda: left_behind(root) == [])


def test_the_command_gets_signals_as_its_user_had_them() -> None:
    """Python ignores SIGPIPE, and what is ignored stays so through exec."""
    look = ["grep", "^Sig[IB]", "/proc/self/status"]
    assert outcome([*RUN, "--", *look], b"", Path("/")) == outcome(look, b"", Path("/"))


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_closed_descriptors_stay_closed_and_nothing_is_left(form: list[str], closed: str, root: Path) -> None:
    look = (
        'echo x >"$TMPDIR/file"; exec 9>"$0"; for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] && echo $fd >&9; done; exit 3'
    )
    seen = []
    for wrapper in ([], form):
        line = f"{shlex.join([*wrapper, 'sh', '-c', look, str(root.parent / 'seen')])} {closed}"
        env = {**os.environ, "TMPDIR": str(root.parent)}
        assert subprocess.run(["sh", "-c", line], env=env, cwd=root.parent, check=False).returncode == 3
        seen.append((root.parent / "seen").read_text())
    assert seen[0] == seen[1]
    assert eventually(lambda: left_behind(root) == [])


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_started_by_somebody_who_ignores_its_children_it_still_knows_the_status(form: list[str], root: Path) -> None:
    source = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])"
    )
    argv = [sys.executable, "-c", source, *form, "sh", "-c", "exit 3"]
    assert outcome(argv, b"", Path("/")) == (3, b"")
    assert eventually(lambda: left_behind(root) == [])


def test_even_with_json_stdout_is_the_commands_own() -> None:
    assert outcome([*RUN, "--json", "--", "echo", "hi"], b"", Path("/")) == (0, b"hi\n")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs the program tmux")
@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_inside_tmux_it_has_the_terminal_and_reaches_tmux(form: list[str], root: Path) -> None:
    with base_for_all() as base:  # short: the socket's path has 107 bytes
        tmux = ["env", "SHELL=/bin/sh", "tmux", "-S", str(base / "s"), "-f", "/dev/null"]  # nobody's is nologin
        inside = f"test -t 0 && {shlex.join(tmux)} display-message -p reached >{base}/said"
        line = f"{shlex.join([*form, 'sh', '-c', inside])}; echo $? >{base}/status"
        try:
            subprocess.run([*tmux, "new-session", "-d", "-c", "/", line, ";", "set", "exit-empty", "on"], check=True)
            assert eventually(lambda: (base / "status").exists() and (base / "status").read_text() == "0\n")
            assert (base / "said").read_text() == "reached\n"
            assert eventually(lambda: left_behind(root) == [])
        finally:
            subprocess.run([*tmux, "kill-server"], check=False, capture_output=True)


@pytest.mark.parametrize("words", [["--agent", "claude", "--", "sh"], ["--", "{bin}/claude"]], ids=["told", "seen"])
def test_what_an_agent_leaves_waits_a_day_and_can_come_back(words: list[str], root: Path, own_world: Path) -> None:
    (own_world / "claude").symlink_to("/bin/sh")
    argv = [*RUN, *(word.format(bin=own_world) for word in words), "-c", 'echo work >"$TMPDIR/notes"; echo "$TMPDIR"']
    _, path = outcome(argv, b"", Path("/"))
    scratch = Path(os.fsdecode(path.strip()))
    assert eventually(lambda: [(unit / "notes").read_text() for unit in in_quarantine(root)] == ["work\n"])
    assert not scratch.exists()
    assert eventually(_comes_back), "it is told of once it was judged in quarantine"
    assert (scratch / "notes").read_text() == "work\n"


def _comes_back() -> bool:
    try:
        return len(undo()) == 1
    except NotFound:
        return False


def test_git_work_that_exists_nowhere_else_stays(root: Path) -> None:
    script = 'cd "$TMPDIR" && git init -q repo && echo x >repo/only-copy; pwd'
    _, path = outcome([*RUN, "--", "sh", "-c", script], b"", Path("/"))
    kept = Path(os.fsdecode(path.strip())) / "repo" / "only-copy"
    assert eventually(lambda: kept.exists() and in_quarantine(root) == [])
    clean(now_ns=later(100))
    assert kept.read_text() == "x\n"


def test_a_root_that_was_named_and_is_not_there_is_an_error(own_world: Path) -> None:
    words = ["--root", str(own_world / "missing"), "--", "touch", str(own_world / "ran")]
    done = subprocess.run([*RUN, *words], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 5
    assert f"there is no directory {own_world}/missing" in done.stderr
    assert not (own_world / "ran").exists()


@mounts.needs_root
@pytest.mark.parametrize(("form", "status"), [(FORMS[0], 3), (FORMS[1], 1)], ids=NAMES)
def test_with_a_full_disk_it_runs_anyway_and_says_so_but_never_in_the_shared_tmp_by_mistake(
    form: list[str], status: int, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mounts.tmpfs(own_world / "small", size="1m", inodes=64) as small:
        mounts.fill_inodes(small)
        monkeypatch.setenv("TMPWARDEN_ROOTS", str(small))
        done = subprocess.run([*form, "sh", "-c", "exit 3"], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == status
        assert ("running without a private temp directory" in done.stderr) == (status == 3)
        assert "No space left on device" in done.stderr


def test_one_inside_the_other_gets_a_scratch_beside_it(root: Path) -> None:
    argv = [*RUN, "--", "sh", "-c", 'echo "$TMPDIR"; "$@"', "sh", *RUN, "--", "sh", "-c", 'echo "$TMPDIR"']
    outer, inner = outcome(argv, b"", Path("/"))[1].decode().split()
    assert outer != inner
    assert os.path.dirname(outer) == os.path.dirname(inner) == str(root / f"tmpwarden-{os.geteuid()}")
    assert eventually(lambda: left_behind(root) == [])


def test_variables_that_name_temporary_places_lead_into_the_scratch() -> None:
    env = environment("/s", {"TMPDIR": "/tmp", "GOTMPDIR": "/go", "NODE_COMPILE_CACHE": "/tmp/node", "A": "b"})
    assert env.pop("A") == "b"
    assert env.pop("NODE_COMPILE_CACHE") == "/s/node-compile-cache"
    assert set(env.values()) == {"/s"}
    assert "NODE_COMPILE_CACHE" not in environment("/s", {}), "it would switch a cache on that nobody asked for"


@pytest.mark.parametrize("options", [(), ("--private-tmp",)], ids=NAMES)
def test_an_ordinary_user_needs_no_privilege(ordinary_user: OrdinaryUser, options: tuple[str, ...]) -> None:
    script = 'id -u; echo x >"$TMPDIR/file"; test -w "$TMPDIR" && exit 3'
    done = ordinary_user.tmpwarden("run", *options, "--", "sh", "-c", script)
    assert (done.returncode, done.stdout) == (3, f"{UID}\n"), done.stderr
    assert eventually(lambda: left_behind(ordinary_user.tmp, uid=UID) == [])


@mounts.needs_root
@pytest.mark.skipif(shutil.which("sudo") is None, reason="needs the program sudo")
@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_under_sudo_it_is_the_target_users_and_leaves_nothing(form: list[str], root: Path, own_world: Path) -> None:
    """sudo keeps a terminal, resets the environment and may run its command on a pty of its own."""
    kept = [f"{name}={os.environ[name]}" for name in ("TMPWARDEN_ROOTS", "XDG_STATE_HOME", "HOME", "PATH")]
    argv = ["sudo", "-n", "env", *kept, *form, "sh", "-c", 'id -u; stat -c %u "$TMPDIR"; echo x >"$TMPDIR/x"; exit 5']
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60, cwd="/")
    if "sudo:" in done.stderr:
        pytest.skip(f"this machine lets nobody use sudo: {done.stderr}")
    assert (done.returncode, done.stdout) == (5, "0\n0\n")
    assert eventually(lambda: left_behind(root) == [])


def test_a_file_past_its_limit_ends_the_command_with_the_right_words() -> None:
    done = tmpwarden("run", "--max-file", "1M", "--", "sh", "-c", 'exec yes > "$TMPDIR/x"')
    assert done.returncode in (-25, 128 + 25)
    assert "past --max-file 1.0 MB, and the kernel ended it" in done.stderr


def test_a_shell_whose_command_died_of_its_file_is_told_of_too() -> None:
    done = tmpwarden("run", "--max-file", "1M", "--", "sh", "-c", 'yes > "$TMPDIR/x"; exit $?')
    assert done.returncode == 128 + 25
    assert "sh wrote a file past --max-file 1.0 MB" in done.stderr


def test_a_temp_directory_past_its_limit_is_warned_of_and_ends_the_command_with_what_it_started(tmp_path: Path) -> None:
    """A shell that ended alone would leave the one that writes."""
    go = tmp_path / "go"
    script = f"""
        head -c 3000000 /dev/zero > "$TMPDIR/x"; until [ -e {go} ]; do sleep 0.1; done
        head -c 8000000 /dev/zero > "$TMPDIR/y"; sleep 90 & echo $!; wait; exit 0"""
    argv = [sys.executable, "-m", "tmpwarden", "run", "--max-bytes", "4M", "--", "sh", "-c", script]
    command = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert command.stderr is not None
    assert "half of --max-bytes 4.0 MB; at this rate COMMAND is ended in about" in command.stderr.readline()
    go.touch()
    out, said = command.communicate(timeout=60)
    assert "more than --max-bytes 4.0 MB; COMMAND is ended" in said
    assert command.returncode in (-15, 128 + 15)
    assert int(out) > 0  # it held our pipe, too


def test_limits_come_from_the_configuration_where_no_option_says_otherwise(own_world: Path) -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[run]\nmax_file = "1M"\n')
    writes = ("--", "sh", "-c", 'exec head -c 3000000 /dev/zero > "$TMPDIR/x"')
    assert "past --max-file 1.0 MB" in tmpwarden("run", "--agent", "claude", *writes).stderr
    assert tmpwarden("run", "--max-file", "4M", *writes).returncode == 0


def test_limits_that_are_not_reached_change_nothing() -> None:
    done = tmpwarden("run", "--max-file", "1M", "--max-bytes", "1G", "--", "sh", "-c", "echo here; exit 3")
    assert (done.returncode, done.stdout, done.stderr) == (3, "here\n", "")


def test_a_private_tmp_of_a_size_is_full_when_the_size_is_reached() -> None:
    script = "head -c 8000000 /dev/zero > /tmp/too-much-for-it; df --output=size -B1 /tmp | tail -1"
    done = tmpwarden("run", "--private-tmp", "--size", "4M", "--", "sh", "-c", script)
    if "does not allow a private /tmp" in done.stderr:
        pytest.skip("needs mount namespaces")
    assert "No space left" in done.stderr
    assert done.stdout.split() == [str(4 << 20)]
    assert tmpwarden("run", "--size", "4M", "--", "true").returncode == 3
