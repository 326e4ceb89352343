"""A hundred documents: every way in which a program that follows docs/cli-authors.md, or tmpwarden itself, ends.

Each comes from a real run, and is held against the published schema (support/envelope.py): by
tests/session/test_envelopes.py and tests/cli/test_envelopes.py.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from support import planted
from tmpwarden.sweep.lock import clean_lock

_CLICK = """
import sys, click, tmpwarden
from tmpwarden.session import answers, run_argparse, run_click
@click.command()
@click.option("--rows", type=int)
@answers("mycli")
def main(s, rows):
    s.file("work")
    {work}
"""
_CLICK_RUN = _CLICK + "sys.exit(run_click(main))\n"
ARGPARSE = """
import argparse, sys, click, tmpwarden
from tmpwarden.session import run_argparse
def work(s, arguments):
    s.file("work")
    {work}
parser = argparse.ArgumentParser("mycli")
parser.add_argument("--rows", type=int)
sys.exit(run_argparse(parser, work))
"""
PROGRAMS = {"click": _CLICK + "main()\n", "run_click": _CLICK_RUN, "run_argparse": ARGPARSE}
PARSING = {"run_click": _CLICK_RUN, "run_argparse": ARGPARSE}  # those that hear of arguments that do not parse
WAYS = {  # what the command does: (exit status, error.code)
    "return {'rows': 1}": (0, None),
    "return": (0, None),
    "return [1, 2]": (0, None),
    "s.hand_over('report'); return {}": (0, None),
    "sys.exit()": (0, None),
    "sys.exit(0)": (0, None),
    "sys.exit('no such row')": (1, "exit"),
    "sys.exit(3)": (3, "exit"),
    "sys.exit(143)": (143, "exit"),
    "raise SystemExit('no such row')": (1, "exit"),
    "raise ValueError('a bug')": (1, "internal"),
    "raise click.ClickException('no such row')": (1, "error"),
    "raise click.UsageError('rows, please')": (2, "usage"),
    "raise click.Abort": (1, "aborted"),
    "raise click.exceptions.Exit(4)": (4, "exit"),
    "raise tmpwarden.errors.NotFound('no such row')": (5, "not-found"),
    "raise KeyboardInterrupt": (130, "CANCELLED"),
    "import os, signal; os.kill(os.getpid(), signal.SIGTERM)": (143, "CANCELLED"),
    "import os, signal; os.kill(os.getpid(), signal.SIGHUP)": (129, "CANCELLED"),
}
UNPARSED = [("--rows", "many"), ("--colour",), ("--rows",), ("surplus",)]


@contextlib.contextmanager
def litter(world: Path) -> Iterator[None]:
    planted.session(world / "tmp")
    yield


@contextlib.contextmanager
def locked(world: Path) -> Iterator[None]:
    planted.session(world / "tmp")
    with clean_lock(str(world / "state" / "tmpwarden"), 0):
        yield


@contextlib.contextmanager
def broken_config(world: Path) -> Iterator[None]:
    (world / "config" / "tmpwarden").mkdir()
    (world / "config" / "tmpwarden" / "config.toml").write_text("[keep\n")
    yield


@contextlib.contextmanager
def squatted(world: Path) -> Iterator[None]:
    (world / "tmp").chmod(0o1777)
    (world / "tmp" / f"tmpwarden-{os.geteuid()}").symlink_to("/")
    yield


World = Callable[[Path], contextlib.AbstractContextManager[None]]
COMMANDS: list[tuple[World, str, int, str | None]] = [  # a world, words of tmpwarden, its exit status, error.code
    (litter, "status", 0, None),
    (litter, "scan", 0, None),
    (litter, "scan --each --agent claude", 0, None),
    (litter, "clean --dry-run", 0, None),
    (litter, "clean --yes", 0, None),
    (litter, "clean", 4, "input-required"),
    (litter, "clean --yes --time-limit 0s", 10, "time-limit"),
    (locked, "clean --yes", 6, "lock-held"),
    (locked, "clean --if-due 1h --yes", 0, None),
    (broken_config, "clean --yes --config /nowhere/config.toml", 3, "bad-config"),
    (broken_config, "config show", 0, None),
    (squatted, "doctor", 2, "partial"),
    (squatted, "lease open --agent claude --session s --pid 1", 7, "unsafe-scratch"),
    (litter, "scan --root /nowhere", 5, "no-such-root"),
    (litter, "clean --yes --root /", 7, "unsafe-root"),
    (litter, "scan --agent nobody", 3, "unknown-agent"),
    (litter, "teardown --agent nobody", 3, "unknown-agent"),
    (litter, "teardown", 3, "bad-argument"),
    (litter, "teardown --session job-1", 0, None),
    (litter, "lease open --agent claude --session s --pid 4194304", 5, "not-found"),
    (litter, "lease list", 0, None),
    (litter, "undo nothing", 5, "not-found"),
    (litter, "undo", 5, "not-found"),
    (litter, "why", 3, "bad-argument"),
    (litter, "why /nowhere", 5, "not-found"),
    (litter, "log", 0, None),
    (litter, "keep", 0, None),
    (litter, "agents", 0, None),
    (litter, "orphans", 0, None),
    (litter, "worktrees", 0, None),
    (litter, "rescue list", 0, None),
    (litter, "guard check ls", 0, None),
    (litter, "run", 3, "bad-argument"),
    (litter, "nonsense", 3, "bad-argument"),
    (litter, "scan --min-age soon", 3, "bad-argument"),
]
COUNT = len(PROGRAMS) * len(WAYS) + len(PARSING) * len(UNPARSED) + len(COMMANDS)
