"""A program that the fork server of the tests runs is what it would be if it had been started (support/forked.py)."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import forked, interpreters
from support.mounts import needs_root
from support.planted import session
from support.user import UID, OrdinaryUser

WAYS = (subprocess.Popen, forked.Popen)
PIPES: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
EXACTLY = [
    "--version", "--help", "agents", "config show", "help clean", "undo", "log", "guard check 'rm -rf /'",
    "guard packs", "nonsense", "scan --nonsense", "completion bash", "keep", "why --help",
    "run -- sh -c 'exit 3'", "run -- echo $0 a",
]  # fmt: skip
# how full the disk is, ages and processes differ from one second to the next
BUT_FOR_NUMBERS = [
    "scan", "scan --json", "scan --each", "clean -n", "clean -y --json", "why /nowhere --json",
    "teardown --session x --json", "guard check 'rm -rf /' --json", "run --json -- true",
]  # fmt: skip
ABOUT_ITSELF = """
import json, os, signal, sys, threading
def read(name): return open(f"/proc/self/{name}", errors="surrogateescape").read()
streams = [(s.name, s.encoding, s.errors, s.mode, s.isatty()) for s in (sys.stdin, sys.stdout, sys.stderr)]
buffering = [(s.line_buffering, s.write_through) for s in (sys.stdout, sys.stderr)]
handlers = [str(signal.getsignal(n)) for n in (1, 2, 3, 13, 15, 17)]
print(json.dumps({
    "argv": sys.argv, "path": sys.path, "flags": str(sys.flags), "name": __name__, "executable": sys.executable,
    "orig": sys.orig_argv, "cmdline": read("cmdline"), "environ": read("environ"), "comm": read("comm"),
    "os.environ": dict(os.environ), "cwd": os.getcwd(), "umask": os.umask(0), "parent": os.getppid(),
    "leads": (os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid()), "ids": (os.getresuid(), os.getresgid()),
    "groups": os.getgroups(), "proc": os.stat("/proc/self/environ").st_uid, "exe": os.readlink("/proc/self/exe"),
    "fds": sorted(os.listdir("/proc/self/fd"))[:-1], "threads": threading.active_count(), "streams": streams[0][1:4],
    "buffering": buffering, "handlers": handlers, "said": sys.stdin.read(), "write": sys.dont_write_bytecode,
    "mask": str(signal.pthread_sigmask(0, [])), "main": sys.modules["__main__"].__dict__.get("json") is json,
}, sort_keys=True))
"""


def outcome(way: type["subprocess.Popen[Any]"], argv: list[str], stdin: str = "", **options: Any) -> tuple[Any, ...]:
    process = way(argv, text=True, **PIPES, **options)
    return (*process.communicate(stdin, timeout=60), process.returncode)


@pytest.mark.parametrize("words", EXACTLY + BUT_FOR_NUMBERS)
def test_a_command_says_the_same_and_ends_the_same(own_world: Path, words: str) -> None:
    session(own_world / "tmp")
    argv = [sys.executable, "-m", "tmpwarden", *shlex.split(words)]
    plain, ours = (outcome(way, argv) for way in WAYS)
    if words in BUT_FOR_NUMBERS:
        plain, ours = (re.sub(r"[\d.]+(e[+-]\d+)?|\s+", "N", str(each)) for each in (plain, ours))
    assert ours == plain


OPTIONS: list[Any] = [
    {},
    {"start_new_session": True},
    {"process_group": 0},
    {"umask": 0o077, "cwd": "/"},
    {"env": {"PATH": "/bin", "A": "bad \udcff", "LC_ALL": "C.UTF-8"}},
    {"env": {"PYTHONUNBUFFERED": "1"}},
    {"env": {"LANG": "C", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "/nowhere"}},
    pytest.param({"user": UID, "group": UID, "extra_groups": [0], "cwd": "/"}, marks=needs_root),
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options.get("env", options)) or "plain")
@pytest.mark.parametrize("start", ["-c", "-I -c", "a script"])
def test_a_program_finds_itself_as_it_would_if_it_had_been_started(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, readable_library: Path, start: str, options: dict[str, Any]
) -> None:
    script = readable_library / "about_itself.py"
    script.write_text(ABOUT_ITSELF)
    words = [str(script)] if start == "a script" else [*start.split(), ABOUT_ITSELF]
    python = interpreters.for_everybody() if "user" in options else sys.executable
    monkeypatch.chdir(own_world / "tmp")
    options = {"env": dict(os.environ), **options}
    plain, ours = (outcome(way, [python, *words, "a word", "bad \udcff"], "said\n", **options) for way in WAYS)
    assert ours[1:] == plain[1:] == ("", 0)
    its, real = json.loads(ours[0]), json.loads(plain[0])
    assert {name: its[name] for name in real if its[name] != real[name]} == {}
    assert real["said"] == "said\n"


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("raise SystemExit(7)", 7),
        ("raise SystemExit('words')", 1),
        ("raise SystemExit", 0),
        ("1 / 0", 1),
        ("import os; os.kill(os.getpid(), 15)", -signal.SIGTERM),
        ("import os; os.kill(os.getpid(), 2); import time; time.sleep(60)", -signal.SIGINT),
        ("import atexit; atexit.register(print, 'at its end'); print('first')", 0),
        ("import threading, time; threading.Thread(target=lambda: (time.sleep(0.1), print('a thread'))).start()", 0),
        ("import sys; sys.stdout.write('no line'); sys.stderr.write('nor here')", 0),
        ("import os, sys; print('1'); print('2', end='', file=sys.stderr); os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("import multiprocessing, os; print(os.fork() and os.wait()[1])", 0),
    ],
)
def test_it_ends_as_it_would(source: str, status: int) -> None:
    plain, ours = (outcome(way, [sys.executable, "-c", source]) for way in WAYS)
    assert (ours[0], ours[2]) == (plain[0], plain[2]) and ours[2] == status
    assert ours[1].splitlines()[-1:] == plain[1].splitlines()[-1:]


def test_what_cannot_be_started_is_refused_with_the_same_error() -> None:
    for way in WAYS:
        with pytest.raises(FileNotFoundError):
            way([sys.executable, "-c", ""], cwd="/nowhere at all")


def test_it_was_forked() -> None:
    """Or this file compares a thing with itself: what the server has imported is there before the first line."""
    argv = [sys.executable, "-c", "import sys; print('tmpwarden.cli.main' in sys.modules)"]
    assert [outcome(way, argv)[0] for way in WAYS] == ["False\n", "True\n"]


def test_other_flags_start_an_interpreter() -> None:
    argv = [sys.executable, "-I", "-S", "-c", "import sys; print('tmpwarden' in sys.modules)"]
    assert outcome(forked.Popen, argv)[0] == "False\n"


def test_another_user_runs_a_copy_that_he_can_read(ordinary_user: OrdinaryUser) -> None:
    where = ordinary_user.code("import tmpwarden, os; print(tmpwarden.__file__, os.getuid())").stdout
    assert where == f"{ordinary_user.library}/tmpwarden/__init__.py {UID}\n"
