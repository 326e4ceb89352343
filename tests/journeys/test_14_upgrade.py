"""Ann upgrades tmpwarden while her agents run, and later goes back to the edition before.

The last edition has made a lease for a session that lives, put a killed session into quarantine, and registered
hooks. With the new edition the living session goes on: its hooks answer, its files stay, its end is tidy; `undo`
brings back what the old edition put aside. Back on the old edition nothing that the new one keeps is lost: what the
old code cannot read stays.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from journeys import machine as machines
from journeys.conftest import Start
from journeys.machine import CACHE, REPOSITORY, Agent, Machine, Person
from support.told import NOT_PROVEN

pytestmark = pytest.mark.journey
LAST_EDITION = "3ca294a"
OLD = {"PATH": machines.PATH.replace("/opt/tmpwarden/", "/opt/last/")}
HOOKS_OF_NOW = "tmpwarden setup --yes --guard"


@pytest.fixture(scope="module")
def both(opt: Path) -> Path:
    """/opt with both editions; the last one is built from its commit once, and kept."""
    if not (opt / "last").exists():
        archive = CACHE / f"edition-{LAST_EDITION}.tar"
        if not archive.exists():
            CACHE.mkdir(parents=True, exist_ok=True)
            made = archive.with_suffix(".new")
            words = ["git", "-C", str(REPOSITORY), "archive", "-o", str(made), LAST_EDITION]
            if subprocess.run(words, capture_output=True, check=False).returncode != 0:
                pytest.skip(f"{NOT_PROVEN}the upgrade (commit {LAST_EDITION} is not in this clone)")
            made.rename(archive)
        source = opt.parent / "last-source"
        source.mkdir()
        subprocess.run(["tar", "-x", "-f", str(archive), "-C", str(source)], check=True)
        machines.install(source, opt, "last")
    return opt


def killed(machine: Machine, ann: Person, env: dict[str, str]) -> str:
    """The temp directory of a session with work in it that was killed nine days ago."""
    agent = ann.agent(env=env)
    where = str(agent.bash('echo precious > "$TMPDIR/work"; echo "$TMPDIR"')["out"]).split()[-1]
    assert ann.path(where).is_dir()
    agent.is_killed()
    machine.days_pass(9)
    return where


def is_well(alive: Agent) -> None:
    said = alive.bash('mkdir -p "$TMPDIR/x" && rmdir "$TMPDIR/x" && cat "$TMPDIR/notes"')
    assert said.get("status") == 0 and said["out"] == "mine\n", said
    assert all(hook["status"] == 0 and not hook["err"] for hook in said["hooks"]), said


def undone(ann: Person, path: str) -> None:
    """What a clean, or a hook's before it, has put aside is back: each `undo` brings back one run."""
    for _ in range(3):
        if not ann.path(path).exists():
            ann.types("tmpwarden undo").must()
    assert ann.path(f"{path}/work").read_text() == "precious\n"


def with_both(start: Start, both: Path) -> tuple[Machine, Person]:
    machine = start("ext4", 64, "ann", opt=both)
    return machine, machine.person("ann")


def test_a_living_session_survives_the_upgrade_and_undo_brings_back_what_the_old_edition_took(
    start: Start, both: Path, tell: Callable[[str], None]
) -> None:
    machine, ann = with_both(start, both)
    ann.types(f"{HOOKS_OF_NOW}", env=OLD).must()
    taken = killed(machine, ann, OLD)
    alive = ann.agent(env=OLD, project="long")
    alive.bash('echo mine > "$TMPDIR/notes"')
    ann.types("tmpwarden clean --yes", env=OLD).must()
    assert not ann.path(taken).exists()
    ann.types("tmpwarden").must()
    is_well(alive)
    ann.types(HOOKS_OF_NOW).must()
    is_well(alive)
    machine.days_pass(0.5)
    ann.types("tmpwarden clean --yes").must()
    is_well(alive)
    undone(ann, taken)
    scratch = str(alive.bash('echo "$TMPDIR"')["out"]).strip()
    assert all(hook["status"] == 0 for hook in alive.ends()["hooks"])
    ann.types(f"for i in $(seq 100); do [ -e {scratch} ] || exit 0; sleep 0.1; done; exit 1").must()
    tell("upgrade under a living session: hooks answered, files stayed, undo brought back what the old edition took")


def test_back_on_the_old_edition_nothing_of_the_new_one_is_lost(
    start: Start, both: Path, tell: Callable[[str], None]
) -> None:
    machine, ann = with_both(start, both)
    ann.types(HOOKS_OF_NOW).must()
    taken = killed(machine, ann, {})
    alive = ann.agent(project="long")
    alive.bash('echo mine > "$TMPDIR/notes"')
    ann.types("tmpwarden clean --yes").must()
    assert not ann.path(taken).exists()
    for line in ("tmpwarden", "tmpwarden scan", "tmpwarden clean --yes", HOOKS_OF_NOW, "tmpwarden clean --yes"):
        said = ann.types(line, env=OLD)
        assert "Traceback" not in said.err, said.text
        is_well(alive)
    while not ann.path(taken).exists():  # each `undo` brings back one run: a hook may have cleaned as well
        said = ann.types("tmpwarden undo", env=OLD)
        assert "Traceback" not in said.err, said.text
        if "Brought back" not in said.out:  # it may refuse, and says how to go on; nothing is lost
            assert "upgrade" in said.text, said.text
            break
    undone(ann, taken)
    tell("back on the old edition: the living session stayed, and what the new one had put aside was brought back")
