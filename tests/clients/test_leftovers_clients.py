"""A real Claude Code is killed; the tool server, the headless Chromium and the dev server that it had started are found
with their ports and end when told. The same three of a user's shell, of tmux and of a live agent stay, and a database.

Needs chromium, tmux, PostgreSQL and npm (apt install chromium tmux postgresql). Versions of today end a stdio server
with its pipe; the ones that outlive their agent listen on a port, or are held by a wrapper.
"""

import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from clients.harness import CLIENTS, NPM, PLUGIN, TMPWARDEN, run_claude

pytestmark = pytest.mark.clients
Told = dict[str, Any]

HERE = Path(__file__).parent
PROGRAMS, LOOK = HERE / "leftover_programs.sh", HERE / "leftover_look.py"
LEFTOVERS = NPM / "leftovers"
PACKAGES = ("@playwright/mcp", "vite")
CLAUDE = NPM / "claude" / "node_modules" / "@anthropic-ai" / "claude-code" / "bin" / "claude.exe"
DEAD, TERMINAL, TMUX, LIVE, AGENTS_TMUX = 5100, 5200, 5300, 5400, 5500  # whose programs, by their first port
POSTGRES = 5999


@pytest.fixture(scope="module")
def told() -> Told:
    """One killed agent beside all the others, and what tmpwarden said and did."""
    need_programs()
    out = Path("/var/tmp/tmpwarden-client-runs") / f"leftovers-{os.getpid()}"
    second = [
        {"tool": "Bash", "input": {"command": f"{PROGRAMS} {LIVE}", "description": "start"}},
        {"delay": 400, "text": "done"},
    ]
    commands = [f"{PROGRAMS} {DEAD}", f"tmux -L agent new-session -d '{PROGRAMS} {AGENTS_TMUX} --stay'", postgres()]
    main = [{"tool": "Bash", "input": {"command": command, "description": "start"}} for command in commands]
    script = {"scripts": {"main": [*main, {"delay": 400, "text": "done"}], "second": second}}
    result = run_claude(
        json.dumps(script), "--tmp-size", "2g", "--timeout", "300",
        "--plugin-dir", str(PLUGIN), "--env", f"LEFTOVERS={LEFTOVERS}", "--env", f"PLUGIN={PLUGIN}",
        "--signal", "KILL", "--signal-at", f"main:{len(main)}:0.5", "--settle", "1",
        "--pre", users_own(),
        "--post", f"/usr/bin/python3 {LOOK} {TMPWARDEN} {CLAUDE} {PROGRAMS} {LIVE}",
        out=out,
    )  # fmt: skip
    try:
        assert result["rc"] == -9, result["stderr"]
        requests = result["requests"]
        assert isinstance(requests, list)
        said = json.dumps([one["tool_results"] for one in requests])
        assert "all three answer" in said and "server started" in said, said
        found = json.loads((out / "work" / "told.json").read_text())
        assert isinstance(found, dict)
        assert found["live_started"] is True
        return found
    finally:
        shutil.rmtree(out, ignore_errors=True)


def need_programs() -> None:
    if os.geteuid() != 0 or not CLIENTS.is_dir():
        pytest.skip("needs root and the harness that TMPWARDEN_CLIENTS names")
    for program in ("chromium", "tmux", "psql", "npm", "/usr/lib/postgresql/15/bin/initdb"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    LEFTOVERS.mkdir(parents=True, exist_ok=True)
    with open(LEFTOVERS / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (LEFTOVERS / "node_modules" / "vite").is_dir():
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", *PACKAGES], cwd=LEFTOVERS, check=True)


def users_own() -> str:
    """The same three programs at a terminal of the user's, and in a tmux of the user's; without our plugin."""
    spawn = f"import pty; pty.spawn([{str(PROGRAMS)!r}, '{TERMINAL}', '--stay'])"
    return (
        f"tmux -L user new-session -d '{PROGRAMS} {TMUX} --stay'; "
        f'setsid -f python3 -c "{spawn}" < /dev/null > /dev/null 2>&1'
    )


def postgres() -> str:
    bin_ = "/usr/lib/postgresql/15/bin"
    options = f"-p {POSTGRES} -k $PWD -c listen_addresses="
    return f'{bin_}/initdb -D pg > initdb.log && {bin_}/pg_ctl -w -D pg -l pg.log -o "{options}" start'


def ports_of(told: Told, verdict: str) -> set[tuple[str, int]]:
    return {(one["kind"], port) for one in told["before"] if one["verdict"] == verdict for port in one["ports"]}


def test_what_a_killed_agent_left_is_found_with_its_ports(told: Told) -> None:
    assert ports_of(told, "end") == {("mcp", DEAD + 1), ("browser", DEAD + 2), ("dev-server", DEAD + 3)}


def test_it_ends_when_told_and_nothing_of_it_is_left(told: Told) -> None:
    assert {one["pid"] for one in told["before"] if one["verdict"] == "end"} <= {one["pid"] for one in told["ended"]}
    assert {one["outcome"] for one in told["ended"]} <= {"ended", "killed", "gone"}
    assert not [one for one in told["after"] if one["verdict"] == "end"]
    assert not {DEAD + 1, DEAD + 2, DEAD + 3} & set(told["answering"])


@pytest.mark.parametrize("whose", [TERMINAL, TMUX, LIVE, AGENTS_TMUX], ids=["terminal", "tmux", "live", "agents-tmux"])
def test_the_same_programs_of_somebody_else_are_not_for_removal_and_go_on(told: Told, whose: int) -> None:
    """Also those in a tmux that the dead agent had started: a person may be at work in it."""
    ports = {whose + 1, whose + 2, whose + 3}
    assert not {port for _, port in ports_of(told, "end")} & ports
    assert ports <= set(told["answering"])
    if whose != AGENTS_TMUX:  # nothing of theirs is as much as listed
        assert not {port for _, port in ports_of(told, "keep")} & ports


def test_a_database_with_a_client_is_refused_even_by_its_number(told: Told) -> None:
    servers = [one for one in told["before"] if "postgres" in one["command"]]
    assert servers and {one["verdict"] for one in servers} == {"keep"}
    assert not any(one["can_be_named"] for one in servers)
    assert json.loads(told["refused"])["ok"] is False
    assert "database" in told["refused"]
    assert told["client"] is None  # still asking


def test_the_live_agent_goes_on(told: Told) -> None:
    assert told["live_agent"] is None
