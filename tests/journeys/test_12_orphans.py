"""An agent is killed, and its MCP servers outlive it.

Each server holds memory and a port. `tmpwarden orphans` names the dead session's server, `orphans end` ends it and
nothing else: the server of a session that lives stays, and so does the user's own program of the same name. A dead
session's server that has a file in the home open for writing is kept, and named.
"""

from collections.abc import Callable

import pytest

from journeys.conftest import Start
from journeys.machine import Agent, Machine, Person

pytestmark = pytest.mark.journey
SERVER = """
import os, sys, time
open(os.path.expanduser(sys.argv[1]), "w").write(str(os.getpid()))
books = open(os.path.expanduser(sys.argv[2]), "r+") if len(sys.argv) > 2 else None
time.sleep(600)
"""


def server(ann: Person, agent: Agent, name: str, *books: str) -> int:
    """A tool server that an agent started; its pid."""
    agent.background(f"exec python3 ~/mcp-server-notes.py ~/{name}.pid {' '.join(books)}")
    return pid_of(ann, name)


def pid_of(ann: Person, name: str) -> int:
    ann.types(f"for i in $(seq 200); do [ -s ~/{name}.pid ] && exit 0; sleep 0.05; done; exit 1").must()
    return int(ann.path(f"~/{name}.pid").read_text())


def runs(ann: Person, pid: int) -> bool:
    return ann.types(f"grep -q '^State:.[^ZX]' /proc/{pid}/status").status == 0


def begun(start: Start) -> tuple[Machine, Person]:
    machine = start("ext4", 48, "ann")
    ann = machine.person("ann")
    ann.path("~/mcp-server-notes.py").write_text(SERVER)
    return machine, ann


def test_the_dead_sessions_server_ends_and_nothing_else(start: Start, tell: Callable[[str], None]) -> None:
    machine, ann = begun(start)
    dead, alive = ann.agent(), ann.agent(project="long")
    orphan, needed = server(ann, dead, "orphan"), server(ann, alive, "needed")
    ann.starts("python3", "/home/ann/mcp-server-notes.py", "~/own.pid")
    own = pid_of(ann, "own")
    dead.is_killed()
    machine.days_pass(1)
    listed = ann.types("tmpwarden orphans --json").must().data["processes"]
    verdicts = {each["pid"]: each["verdict"] for each in listed}
    assert verdicts.get(orphan) == "end", listed
    assert verdicts.get(needed) != "end" and verdicts.get(own) != "end", listed
    said = ann.types("tmpwarden orphans end --yes").must()
    assert not runs(ann, orphan), said.text
    assert runs(ann, needed) and runs(ann, own), said.text
    ann.types("tmpwarden log -n 20").must(str(orphan))
    tell("of three MCP servers the dead session's was ended; the living session's and Ann's own run on")


def test_a_server_that_writes_in_the_home_is_kept_and_named(start: Start, tell: Callable[[str], None]) -> None:
    machine, ann = begun(start)
    ann.types("mkdir ~/books && echo 12 > ~/books/ledger.db").must()
    dead = ann.agent()
    writer = server(ann, dead, "writer", "~/books/ledger.db")
    dead.is_killed()
    machine.days_pass(1)
    said = ann.types("tmpwarden orphans end --yes")
    assert runs(ann, writer), said.text
    assert "ledger.db" in ann.types("tmpwarden orphans").text
    tell("a dead session's server with ~/books/ledger.db open for writing is kept, and named")
