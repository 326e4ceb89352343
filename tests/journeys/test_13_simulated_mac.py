"""Max has a Mac: no /proc, and /tmp leads to /private/tmp.

This is a simulation on Linux and proves only what tmpwarden does where it cannot see processes. Sessions of an agent
end and are killed; every command that Max tries answers in sentences. What a preview promises, the deed does. Nothing
that lives is touched, and ten sessions leave no more than was there before, or the model is not told that they would.
"""

from collections.abc import Callable

import pytest

from journeys.conftest import Start
from journeys.machine import Machine, Person

pytestmark = pytest.mark.journey
COMMANDS = (
    "",
    "status",
    "scan",
    "scan --each",
    "clean -n",
    "doctor",
    "orphans",
    "brake --json",
    "worktrees",
    "log",
    "agents",
)


def a_mac(start: Start) -> tuple[Machine, Person]:
    machine = start("ext4", 48, "max", is_mac=True)
    return machine, machine.person("max")


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="issue 33, A: doctor shows a FileNotFoundError")
def test_every_command_answers_in_sentences_and_nothing_alive_is_touched(
    start: Start, tell: Callable[[str], None]
) -> None:
    machine, max_ = a_mac(start)
    max_.types("tmpwarden install claude --guard").must()
    dead, alive = max_.agent(), max_.agent(project="long")
    dead.bash("true")
    kept = alive.background("echo mine")["output"]
    max_.types(f"until [ -s {kept} ]; do sleep 0.05; done").must()
    dead.is_killed()
    machine.days_pass(9)
    for words in (*COMMANDS, "clean --yes", "clean --yes --all"):
        said = max_.types(f"tmpwarden {words}".strip())
        assert "Traceback" not in said.text and "Error:" not in said.text, said.text
    assert max_.path(kept).read_text() == "mine\n"
    assert alive.bash("true")["status"] == 0
    tell(f"without /proc: {len(COMMANDS) + 2} commands answered in sentences, and the living session lost nothing")


def test_what_the_preview_promises_the_deed_does(start: Start, tell: Callable[[str], None]) -> None:
    machine, max_ = a_mac(start)
    for _ in range(3):
        agent = max_.agent()
        agent.background("echo old")
        agent.is_killed()
    max_.types("pwd > /tmp/claude-1a2b-cwd").must()
    machine.settles()
    machine.days_pass(9)
    promised = max_.types("tmpwarden clean -n --all --json").must().data["removed"]
    done = max_.types("tmpwarden clean --yes --all --json").data["removed"]
    assert sorted(each["path"] for each in promised) == sorted(each["path"] for each in done), (promised, done)
    tell(f"without /proc: {len(promised)} items were promised and {len(done)} removed")


@pytest.mark.xfail(
    strict=True, raises=AssertionError, reason="issue 33, A: the model is told of an end that never comes"
)
def test_ten_sessions_leave_no_scratch_or_nobody_is_told_that_it_goes(
    start: Start, tell: Callable[[str], None]
) -> None:
    machine, max_ = a_mac(start)
    max_.types("tmpwarden install claude").must()
    told = False
    for _ in range(10):
        agent = max_.agent()
        told = told or any("deleted after this session" in hook["out"] for hook in agent.started["hooks"])
        agent.bash('echo x > "${TMPDIR:-/tmp}/x"')
        agent.ends()
    machine.settles()
    machine.days_pass(9)
    max_.types("tmpwarden clean --yes --all --purge")
    left = [path for path in max_.path("/private/tmp").glob("tmpwarden-*/[0-9a-f]*") if path.is_dir()]
    assert not (told and left), f"{len(left)} of 10 are left, and the model was told that they are deleted"
    tell(f"without /proc: ten sessions left {len(left)} scratches, and the model was not misled")
