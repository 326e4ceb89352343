"""Run by test_private_tmp.py where /tmp is a directory of the test: what a script in a private /tmp costs outside.

Arguments: where to tell it, the script, the directory to stand in, the program that runs the script, options.
"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

told, script, stand_in, program, *options = sys.argv[1:]
assert Path("/tmp/of-the-test").exists(), "this is the machine's own /tmp"
FILES = [
    "emacs1000/auto-save", "emacs.d/notes", "emacs-draft.txt", "nvim.me/0/undo", "nvim.log", "ssh-AbCdEf/key",
    "pulse-xyz/cookie", "dbus-1/record", f"tmux-{os.geteuid()}/notes", "tmux-resurrect/last", "report.txt", "data/a",
    "tool/lib", "stand/here", "cookie",
]  # fmt: skip
SOCKETS = [f"tmux-{os.geteuid()}/default", "ssh-AbCdEf/agent.12", ".X11-unix/X0", "stand/server", "deep/er/than/s"]


def reachable(names: list[str]) -> list[str]:
    found = []
    for name in names:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(f"/tmp/{name}")
                found.append(name)
            except OSError:
                pass
    return found


def seen() -> dict[str, list[object]]:
    tops = [path for path in Path("/tmp").iterdir() if not path.name.startswith("tmpwarden-")]  # a job is at work there
    paths = [path for top in tops for path in (top, *top.rglob("*"))]
    return {
        str(path): [path.stat().st_mode, path.stat().st_ino, path.read_text() if path.is_file() else None]
        for path in sorted(paths)
    }


listening = []
for name in [*FILES, *SOCKETS, "dead.sock"]:
    Path("/tmp", name).parent.mkdir(parents=True, exist_ok=True)
for name in FILES:
    Path("/tmp", name).write_text(f"text of {name}\n")
Path("/tmp/tool/bin").mkdir()
Path("/tmp/tool/bin/shell").write_text('#!/bin/sh\nexec sh "$@"\n')
Path("/tmp/tool/bin/shell").chmod(0o755)
for name in SOCKETS:
    listening.append(socket.socket(socket.AF_UNIX))
    listening[-1].bind(f"/tmp/{name}")
    listening[-1].listen()
with socket.socket(socket.AF_UNIX) as dead:
    dead.bind("/tmp/dead.sock")
before = seen()
command = [sys.executable, "-m", "tmpwarden", "run", "--private-tmp", *options, "--", program, script, sys.executable]
done = subprocess.run([*command, *SOCKETS], cwd=stand_in, capture_output=True, text=True, timeout=120, check=False)
after = seen()
result = {
    "status": done.returncode,
    "said": done.stdout,
    "complained": done.stderr,
    "gone": sorted(set(before) - set(after)),
    "new": sorted(set(after) - set(before)),
    "changed": sorted(path for path in set(before) & set(after) if before[path] != after[path]),
    "reachable": reachable(SOCKETS),
    "sockets": SOCKETS,
}
Path(told).write_text(json.dumps(result))
