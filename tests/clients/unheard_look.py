"""Runs as the agent's user after Claude Code was killed: what `tmpwarden orphans` says and ends, eleven minutes apart.

unheard_look.py PYTHON CLAUDE SERVER LATER...: prints JSON. Started by test_unheard_clients."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

PYTHON, CLAUDE, SERVER, *LATER = sys.argv[1:]
NEEDED = json.dumps({"mcpServers": {"needed": {"command": "node", "args": [SERVER, "needed"]}}})


def orphans(start, *words):
    done = subprocess.run([*start, "orphans", *words, "--json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["data"]


def servers():
    """Name -> pid of each tool server that runs."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if len(words) > 2 and words[0].endswith("node") and words[1] == SERVER:
            found[words[2]] = int(pid)
    return found


def worker_runs():
    """Whether `cat x | nohup worker &` of the user goes on; its name is that of a tool server."""
    return subprocess.run(["pgrep", "-f", "python3 mcp-server-worker.py"], stdout=subprocess.DEVNULL).returncode == 0


def wait_until(happened):
    until = time.monotonic() + 90
    while not happened() and time.monotonic() < until:
        time.sleep(0.1)
    return happened()


shutil.rmtree(Path.home() / ".claude" / "sessions", ignore_errors=True)  # nothing written names the dead session
live = subprocess.Popen(
    [CLAUDE, "-p", "--mcp-config", NEEDED, "--strict-mcp-config",
     "--permission-mode", "bypassPermissions", "SCRIPT:second go"],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)  # fmt: skip
Path("mcp-server-worker.py").write_text("import sys, time; sys.stdin.read(); time.sleep(400)")
subprocess.run("echo 1 | nohup python3 mcp-server-worker.py > /dev/null 2>&1 &", shell=True, check=True)
wait_until(lambda: "needed" in servers() and worker_runs())
now, later = [LATER[-1]], LATER
told = {"running": servers(), "first": orphans(now)["processes"], "second": orphans(later)["processes"]}
told["ended"] = orphans(later, "end", "--kind", "mcp", "--yes")["ended"]
told["left"] = servers()
told["live"], told["uid"] = live.poll(), os.getuid()
told["worker"] = worker_runs()
Path("told.json").write_text(json.dumps(told))
