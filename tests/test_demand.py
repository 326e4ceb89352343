"""docs/demand.md says what is there today: its commands exist, its rows exist, and no report is counted twice."""

import re
from pathlib import Path

from tmpwarden.catalogue.load import load
from tmpwarden.cli.commands import TABLE

PAGE = (Path(__file__).parents[1] / "docs" / "demand.md").read_text()


def test_every_report_is_in_one_cluster() -> None:
    counted = [int(number) for line in re.findall(r"^### .*", PAGE, re.M) for number in re.findall(r"\((\d+)", line)]
    assert sum(counted) == 265


def test_every_command_that_the_page_names_is_one() -> None:
    named = set(re.findall(r"`tmpwarden ([a-z]+)", PAGE))
    assert named - {name for _, name, _ in TABLE} == set()


def test_every_row_that_the_page_names_is_in_the_catalogue() -> None:
    catalogue = load(dirs=())
    agents = {agent.id for agent in catalogue.agents}
    named = {key for key in re.findall(r"`([a-z0-9-]+\.[a-z0-9-]+)`", PAGE) if key.partition(".")[0] in agents}
    assert len(named) >= 10
    assert [key for key in sorted(named) if catalogue.row(key) is None] == []
    assert f"{len(agents)} agents and tools" in PAGE
