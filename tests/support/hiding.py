"""An ordinary user of this test process alone, whose processes can hide from that user: what hides from one test must
not hide from another."""

import contextlib
import json
import os
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path

from support import forked, holding, uids
from support.user import OrdinaryUser

SOMEBODY = uids.HIDING
# Not dumpable: /proc/PID belongs to root, and nobody else can read who holds what.
HIDE = "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"
RENAME = "import ctypes, sys; ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)"
LATER = (
    "import sys, time; from tmpwarden.cli.main import main; "
    "sys.exit(main(sys.argv[1:], now_ns=lambda: time.time_ns() + 100 * 3600 * 10**9))"
)


def hand_over(user: OrdinaryUser) -> None:
    """Give the user's home and temp root to SOMEBODY."""
    for path in (user.home, user.tmp):
        os.chown(path, SOMEBODY, SOMEBODY)


def run(
    user: OrdinaryUser, source: str, *args: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return forked.run(
        [user.python, "-c", source, *args], env={**user.env, **(env or {})}, cwd="/", user=SOMEBODY, group=SOMEBODY,
        extra_groups=[], capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def process(user: OrdinaryUser, source: str, *args: str) -> "contextlib.AbstractContextManager[subprocess.Popen[str]]":
    """Through an exec: a process that only changed its uid hides from its new owner."""
    become = (
        f"import os, sys; os.setgroups([]); os.setgid({SOMEBODY}); os.setuid({SOMEBODY}); "
        "os.execv(sys.executable, [sys.executable, '-I', '-c', *sys.argv[1:]])"
    )
    return holding.process(become, source + holding._WAIT, *args, env=user.env, python=user.python)


def session(user: OrdinaryUser) -> Path:
    """A session's directory of that user, of a process that is gone."""
    name = str(uuid.uuid4())
    record = {"pid": 4_000_000, "sessionId": name, "procStart": "1"}
    source = (
        "import os, sys\n"
        f"os.makedirs({str(user.tmp)!r} + '/claude-{SOMEBODY}/-p/{name}/tasks')\n"
        f"open({str(user.tmp)!r} + '/claude-{SOMEBODY}/-p/{name}/tasks/b1.output', 'w').write('x' * 5000)\n"
        f"os.makedirs({str(user.home)!r} + '/.claude/sessions', exist_ok=True)\n"
        f"open({str(user.home)!r} + '/.claude/sessions/4000000.json', 'w').write({json.dumps(json.dumps(record))})\n"
    )
    assert run(user, source).returncode == 0
    return user.tmp / f"claude-{SOMEBODY}" / "-p" / name
