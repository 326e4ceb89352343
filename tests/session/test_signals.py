"""Signals: children first, one last line, the right status, and the host program's own handlers as they were."""

import contextlib
import json
import os
import select
import signal
import subprocess
from pathlib import Path

import pytest

from support.program import Programs

HOLDS = """
import sys, time, tmpwarden
with tmpwarden.session("mycli", on_cancel=print) as s:
    s.file("work")
    print("ready", flush=True)
    time.sleep(60)
"""
HOST = """
import signal, sys, time, tmpwarden
def handler(signum, frame):
    print("host", flush=True)
    %s
signal.signal(signal.%s, handler)
with tmpwarden.session("mycli", on_cancel=print) as s:
    s.file("work")
    print("ready", flush=True)
    sys.stdin.readline()
    print("still", __import__("os").path.exists(s.path), flush=True)
assert signal.getsignal(signal.%s) is handler
"""


@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)])
def test_the_last_line_is_one_json_cancellation(programs: Programs, name: str, status: int) -> None:
    with programs.started(HOLDS) as process:
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=30)
        assert process.returncode == status
        assert (err, out.count("\n")) == ("", 1)
        answer = json.loads(out)
        assert (answer["ok"], answer["meta"]["partial"], answer["data"]) == (False, True, None)
        assert answer["error"] == {"code": "CANCELLED", "message": f"stopped by {name}"}
        assert programs.sessions() == []


def test_nobody_who_did_not_ask_gets_a_line(programs: Programs) -> None:
    with programs.started(HOLDS.replace(", on_cancel=print", "")) as process:
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=30)[0] == ""


def test_children_are_stopped_before_their_directory_goes(programs: Programs, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    child = f"trap 'ls -d $TMPDIR > {seen}; exit 0' TERM; echo up; while :; do sleep 0.05; done"
    source = f"""
import tmpwarden
with tmpwarden.session("mycli") as s:
    child = s.popen(["sh", "-c", {child!r}], stdout=-1, text=True)
    child.stdout.readline()
    print("ready", flush=True)
    print(s.path, flush=True)
    child.wait()
"""
    with programs.started(source) as process:
        path = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
        assert seen.read_text() == path


@pytest.mark.parametrize("how", ["popen", "run"])
def test_a_child_that_ignores_sigterm_is_killed_after_its_grace(programs: Programs, tmp_path: Path, how: str) -> None:
    note = tmp_path / "pid"
    child = f"trap '' TERM; echo $$ > {note}; echo ready; while :; do sleep 0.05; done"
    source = f"""
import tmpwarden
with tmpwarden.session("mycli", grace=0.2) as s:
    child = s.{how}(["sh", "-c", {child!r}])
    child.wait()
"""
    with programs.started(source) as process:
        pid = int(note.read_text())
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
        assert not _runs(pid)
        assert programs.sessions() == []


def test_a_whole_process_group_goes_when_the_child_leads_one(programs: Programs) -> None:
    source = """
import tmpwarden
with tmpwarden.session("mycli") as s:
    child = s.popen(["sh", "-c", "sleep 300 & echo $!; wait"], stdout=-1, text=True, process_group=0)
    print(child.stdout.readline(), end="")
"""
    result = programs.run(source)
    assert result.returncode == 0, result.stderr
    assert not _runs(int(result.stdout))


def _runs(pid: int) -> bool:
    """Whether it goes on; what was ended may need its time on a loaded machine."""
    try:
        end = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        return not select.select([end], [], [], 60)[0]
    finally:
        os.close(end)


def test_a_second_sigint_leaves_at_once_and_the_next_run_clears_up(programs: Programs) -> None:
    source = """
import tmpwarden
with tmpwarden.session("mycli", grace=300) as s:
    child = s.popen(["sh", "-c", "trap '' INT TERM; echo up; while :; do sleep 0.05; done"], stdout=-1, text=True)
    child.stdout.readline()
    print("ready", flush=True)
    print(child.pid, flush=True)
    child.wait()
"""
    with programs.started(source) as process:
        child = int(process.stdout.readline())
        for _ in range(4):  # the second of them ends Popen.wait's own quarter of a second of patience
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.4)
                break
        assert process.wait(60) == 130
        assert not _runs(child)
    programs.run('import tmpwarden\nwith tmpwarden.session("mycli"): pass')
    assert programs.sessions() == []


def test_a_handled_interrupt_does_not_end_the_program(programs: Programs) -> None:
    source = """
import signal, os, sys, tmpwarden
with tmpwarden.session("mycli", on_cancel=print) as s:
    for _ in range(3):
        try: os.kill(os.getpid(), signal.SIGINT); signal.pause()
        except KeyboardInterrupt: pass
    assert os.path.isdir(s.path)
    sys.exit(7)
"""
    result = programs.run(source)
    assert (result.returncode, result.stdout, result.stderr) == (7, "", "")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_host_handler_is_called_decides_and_is_restored(programs: Programs, name: str) -> None:
    with programs.started(HOST % ("pass", name, name)) as process:
        process.send_signal(getattr(signal, name))
        assert process.stdout.readline() == "host\n"
        out, err = process.communicate("go on\n", timeout=30)
        assert (process.returncode, out, err) == (0, "still True\n", "")
        assert programs.sessions() == []


def test_a_host_handler_that_leaves_takes_the_directory_along(programs: Programs) -> None:
    with programs.started(HOST % ("sys.exit(9)", "SIGTERM", "SIGTERM")) as process:
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=30)[0] == "host\n"
        assert process.returncode == 9
        assert programs.sessions() == []


def test_an_ignored_signal_stays_ignored(programs: Programs) -> None:
    source = HOLDS.replace("import sys", "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\nimport sys")
    with programs.started(source) as process:
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143


def test_the_handlers_are_those_of_before_when_the_last_session_ends(programs: Programs) -> None:
    source = """
import signal, tmpwarden
names = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
before = [signal.getsignal(one) for one in names]
with tmpwarden.session("mycli"):
    inside = [signal.getsignal(one) for one in names]
    with tmpwarden.session("mycli"): pass
    assert inside == [signal.getsignal(one) for one in names] != before
assert before == [signal.getsignal(one) for one in names]
def later(*_): pass
with tmpwarden.session("mycli"): signal.signal(signal.SIGTERM, later)
assert signal.getsignal(signal.SIGTERM) is later
"""
    result = programs.run(source)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_signal_while_entering_waits_until_there_is_something_to_remove(programs: Programs) -> None:
    source = """
import os, signal, sys, tmpwarden
from tmpwarden.session import directory
write = directory._write_lease
def struck(*words):
    os.kill(os.getpid(), signal.SIGTERM)
    write(*words)
directory._write_lease = struck
with tmpwarden.session("mycli"): print("inside")
"""
    result = programs.run(source)
    assert (result.returncode, result.stdout) == (143, "")
    assert programs.sessions() == []


def test_a_signal_while_leaving_does_not_stop_the_removal(programs: Programs) -> None:
    source = """
import os, signal, tmpwarden
from tmpwarden.session import directory
purge = directory.purge_own
def struck(*words):
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGINT)
    return purge(*words)
directory.purge_own = struck
with tmpwarden.session("mycli") as s: s.file("work")
"""
    result = programs.run(source)
    assert result.returncode == 143
    assert programs.sessions() == []


def test_an_exception_and_sys_exit_remove_the_directory(programs: Programs) -> None:
    for deed, status in (("1 / 0", 1), ("raise SystemExit(5)", 5)):
        result = programs.run(f'import tmpwarden\nwith tmpwarden.session("mycli") as s: s.file("a"); {deed}')
        assert result.returncode == status
        assert programs.sessions() == []


def test_another_thread_opens_sessions_without_touching_the_handlers(programs: Programs) -> None:
    source = """
import signal, threading, tmpwarden
before = signal.getsignal(signal.SIGTERM)
def work():
    with tmpwarden.session("mycli") as s:
        s.file("a")
        assert signal.getsignal(signal.SIGTERM) is before
        print("fine")
thread = threading.Thread(target=work); thread.start(); thread.join()
"""
    result = programs.run(source)
    assert (result.stdout, result.stderr) == ("fine\n", "")
    assert programs.sessions() == []
    assert os.path.isdir(programs.root)
