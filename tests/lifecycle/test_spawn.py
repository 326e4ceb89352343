"""A scratch for agents that an orchestrator starts."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import tmpwarden
from support.litter import later
from tmpwarden.model.sweep import Keep
from tmpwarden.model.terms import Reason
from tmpwarden.sweep.compose import clean, scan


def test_a_child_writes_into_the_scratch_and_leaving_gives_it_back() -> None:
    with tmpwarden.lease("claude", session="s-1") as scratch:
        made = subprocess.run(["mktemp"], env=scratch.env, check=True, capture_output=True, text=True).stdout.strip()
        assert os.path.dirname(made) == scratch.path
        assert os.stat(scratch.path).st_mode & 0o777 == 0o700
        assert len(scratch.path.rsplit("/", 2)[-2] + scratch.path.rsplit("/", 1)[-1]) <= 40
    assert not os.path.exists(scratch.path)


def test_a_child_that_outlives_the_block_keeps_its_scratch() -> None:
    with tmpwarden.lease("claude") as scratch:
        child = subprocess.Popen(["sleep", "60"], env=scratch.env)
        (Path(scratch.path) / "work").write_text("x")
    try:
        assert (Path(scratch.path) / "work").exists()
        (kept,) = (v for v in scan(now_ns=later(100)) if v.finding.path == scratch.path)
        assert isinstance(kept, Keep)
        assert kept.reason is Reason.TMPDIR
    finally:
        child.kill()
        child.wait()
    clean(now_ns=later(1))
    assert not os.path.exists(scratch.path)


def test_a_crashed_spawner_leaves_a_scratch_that_the_next_clean_takes() -> None:
    source = "import tmpwarden, os, signal\nwith tmpwarden.lease('claude') as s:\n print(s.path, flush=True)\n"
    source += " open(s.path + '/x', 'w').close()\n os.kill(os.getpid(), signal.SIGKILL)"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    path = done.stdout.strip()
    assert os.path.exists(path)
    clean(now_ns=later(0.1))
    assert not os.path.exists(path)


def test_an_adopted_agent_owns_the_scratch_too() -> None:
    with tmpwarden.lease("claude") as scratch:
        child = subprocess.Popen(["sleep", "60"], env={"PATH": os.environ["PATH"]})
        scratch.adopt(child.pid)
        child.kill()
        child.wait()
    assert not os.path.exists(scratch.path)


def test_an_empty_scratch_that_a_child_may_still_write_to_stays() -> None:
    with tmpwarden.lease("claude") as scratch:
        child = subprocess.Popen(["sleep", "60"], env=scratch.env)
    try:
        assert os.path.isdir(scratch.path), "its next mktemp would fail"
    finally:
        child.kill()
        child.wait()


def test_an_adopted_agent_is_held_to_the_largest_file() -> None:
    with tmpwarden.lease("claude", max_file="1M") as scratch:
        shell = subprocess.Popen(["sh", "-c", 'read go; exec head -c 3000000 /dev/zero > "$TMPDIR/x"'],
                                 env=scratch.env, stdin=subprocess.PIPE)  # fmt: skip
        scratch.adopt(shell.pid)
        shell.communicate(b"go\n", timeout=60)
        assert shell.returncode == -signal.SIGXFSZ
        assert os.path.getsize(f"{scratch.path}/x") == 1 << 20


def test_an_adopted_agent_ends_with_what_it_started_when_its_scratch_is_too_big() -> None:
    heard: list[str] = []
    with tmpwarden.lease("claude", max_bytes="1M", warn=heard.append) as scratch:
        script = 'head -c 3000000 /dev/zero > "$TMPDIR/x"; sleep 90 & echo $!; wait'
        shell = subprocess.Popen(["sh", "-c", script], env=scratch.env, stdout=subprocess.PIPE, text=True)
        scratch.adopt(shell.pid)
        out, _ = shell.communicate(timeout=60)  # the sleep has its stdout too
        assert shell.returncode == -signal.SIGTERM
    assert int(out) > 0
    assert any("more than --max-bytes 1.0 MB; COMMAND is ended" in sentence for sentence in heard)


def test_a_forked_child_that_leaves_the_block_takes_nothing_from_its_parent() -> None:
    with tmpwarden.lease("claude", session="job") as scratch:
        work = Path(scratch.path) / "work"
        work.write_text("x")
        source = """
import os, sys, tmpwarden
with tmpwarden.lease("claude", session="other") as scratch:
    open(scratch.path + "/work", "w").close()
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
    print(os.path.exists(scratch.path + "/work"))
"""
        done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
        assert done.stdout == "True\n", done.stderr
        assert work.exists()


def test_the_last_of_several_threads_in_one_session_gives_it_back() -> None:
    barrier, missing = threading.Barrier(4), []

    def work(number: int) -> None:
        with tmpwarden.lease("claude", session="shared") as scratch:
            path = Path(scratch.path) / str(number)
            path.write_text("x")
            barrier.wait(10)
            if number:  # the first leaves at once
                first.join(10)
                missing.extend([path] if not path.exists() else [])

    first, *rest = threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in rest:
        thread.join(20)
    assert missing == []
    with tmpwarden.lease("claude", session="shared") as scratch:
        assert os.listdir(scratch.path) == [], "it was given back in the end"
