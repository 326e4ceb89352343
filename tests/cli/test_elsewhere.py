"""A system without POSIX users and fork, as Windows is: nothing is swept, that is said, and scripts go on."""

import json
import subprocess
import sys

import pytest

WITHOUT = """
import os, sys
for name in ("fork", "geteuid", "getuid", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"):
    if hasattr(os, name):
        delattr(os, name)
sys.modules["fcntl"] = sys.modules["posix_is_gone"] = None
from tmpwarden.cli.main import main
raise SystemExit(main(sys.argv[1:]))
"""


def call(*words: str) -> "subprocess.CompletedProcess[str]":
    # subprocess itself wants fork_exec, not os.fork, so `run` can still start a program
    return subprocess.run([sys.executable, "-c", WITHOUT, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["scan", "clean", "status", "why", "doctor", "teardown"])
def test_nothing_is_done_and_that_is_said(command: str) -> None:
    done = call(command)
    assert (done.returncode, done.stderr) == (0, "")
    assert "does nothing on this system" in done.stdout


def test_a_program_gets_an_object() -> None:
    answer = json.loads(call("scan", "--json").stdout)
    assert answer["ok"]
    assert answer["data"] == {"skipped": "unsupported-system"}


def test_run_still_runs() -> None:
    done = call("run", "--", sys.executable, "-c", "print('ran'); raise SystemExit(7)")
    assert (done.returncode, done.stdout) == (7, "ran\n"), done.stderr
