"""Six real agents in eight ends each, set up by `tmpwarden setup`: docs/measured-agents.md is drawn from these runs."""

import re

import pytest

from clients import measured
from clients.cells import ENDS, measure
from clients.set_up import AGENTS, version_of

pytestmark = pytest.mark.clients
SOME = ("exit", "KILL")  # of `make test-clients`; `make measure-agents` makes all of them
OURS = re.compile(r"/tmp/tmpwarden-1000/([a-z]+|r?[0-9a-f]{8})/")
OF_COMMANDS = re.compile(r"/(probe-\w+-\w+|tmp\.\w{10})$")


@pytest.mark.parametrize("end", [pytest.param(end, marks=() if end in SOME else pytest.mark.long) for end in ENDS])
@pytest.mark.parametrize("agent", AGENTS)
def test_after_one_clean_two_hours_later_no_temp_file_of_its_commands_is_left(agent: str, end: str) -> None:
    cell = measure(agent, end)
    measured.note(cell.line(version_of(agent)))
    assert len(cell.made) == 2 and all(map(OURS.match, cell.made)), cell
    assert cell.signalled is (end.partition(",")[0].isupper()), cell
    assert not [line for line in cell.later if OF_COMMANDS.search(line)], cell
