"""Runs as the agent's user after the agent was killed: what `tmpwarden orphans` says, ends, and leaves alone.

leftover_look.py TMPWARDEN CLAUDE PROGRAMS LIVE_BASE: prints JSON. Started by test_leftovers_clients."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

TMPWARDEN, CLAUDE, PROGRAMS, LIVE_BASE = sys.argv[1:5]


def orphans(*words):
    done = subprocess.run([TMPWARDEN, "orphans", *words, "--json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["data"]


def answers(port):
    for address in ("127.0.0.1", "::1"):
        try:
            socket.create_connection((address, port), timeout=5).close()
        except OSError:
            continue
        return True
    return False


def wait_until(happened):
    until = time.monotonic() + 90
    while not happened() and time.monotonic() < until:
        time.sleep(0.1)
    return happened()


ports = [int(LIVE_BASE) + n for n in (1, 2, 3)]
plugin = ["--plugin-dir", os.environ["PLUGIN"]]
live = subprocess.Popen(
    [CLAUDE, "-p", *plugin, "--permission-mode", "bypassPermissions", "SCRIPT:second go"],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)  # fmt: skip
client = subprocess.Popen(
    ["psql", "-h", os.getcwd(), "-p", "5999", "-d", "postgres", "-c", "select pg_sleep(600)"],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)  # fmt: skip
told = {"live_started": wait_until(lambda: all(map(answers, ports)))}
told["before"] = orphans()["processes"]
told["refused"] = subprocess.run(
    [TMPWARDEN, "orphans", "end", Path("pg/postmaster.pid").read_text().split()[0], "--yes", "--json"],
    capture_output=True, text=True, check=False,
).stdout  # fmt: skip
told["ended"] = orphans("end", "--yes")["ended"]
told["after"] = orphans()["processes"]
told["answering"] = [port for port in range(5100, 5600) if answers(port)]
told["live_agent"], told["client"] = live.poll(), client.poll()
Path("told.json").write_text(json.dumps(told))
