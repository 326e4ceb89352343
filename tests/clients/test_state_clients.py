"""What real agents keep in the home after three sessions: every file belongs to exactly one kind of `scan --state`."""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from clients.harness import run_agent, run_claude
from clients.test_catalogue_clients import _COMMANDS_OWN, CLIENTS, HOME, OTHERS
from tmpwarden.catalogue import state_rows

pytestmark = pytest.mark.clients
XDG = {"{xdg_data}": ".local/share", "{xdg_cache}": ".cache", "{xdg_config}": ".config", "{xdg_state}": ".local/state"}
SCRIPT = CLIENTS / "claude" / "scripts" / "all_tools.json"


def kinds_of(path: str) -> list[str]:
    """The kinds that a file belongs to: of each directory that rows speak of, the first row that fits it."""
    by_directory: dict[str, list[state_rows.StateRow]] = defaultdict(list)
    for row in state_rows.rows():
        start, _, rest = row.place.partition("/")
        by_directory[os.path.normpath(os.path.join(HOME, XDG.get(start, ""), rest))].append(row)
    below = {directory: path.removeprefix(f"{directory}/") for directory in by_directory}
    fits = (state_rows.Sorter(rows).row_of(below[at]) for at, rows in by_directory.items() if below[at] != path)
    return [row.key for row in fits if row]


def uncovered(files: Iterable[str]) -> dict[str, list[str]]:
    """Files of no kind, of two, or of the last kind of an agent, which takes what no other kind names."""
    kinds = {path: kinds_of(path) for path in files}
    assert kinds
    return {path: found for path, found in kinds.items() if len(found) != 1 or found[0].endswith(".other")}


def kept_by_claude(home: Path) -> Iterator[str]:
    for directory, _, names in os.walk(home):
        yield from (os.path.join(directory, name).replace(str(home), HOME) for name in names)


@pytest.mark.parametrize("agent", OTHERS)
def test_every_file_that_three_sessions_keep_is_of_one_kind(agent: str) -> None:
    result = run_agent(agent, "--runs", "3")
    assert result["rc"] == 0 and result["more_rcs"] == [0, 0]
    home = result["home"]
    assert isinstance(home, list)
    files = [each["path"] for each in home if each["type"] != "d" and not _COMMANDS_OWN.match(each["path"])]
    assert uncovered(files) == {}


@pytest.fixture
def home() -> Iterator[Path]:
    """Where uid 1000 may go, unlike pytest's own directories."""
    place = Path("/var/tmp/tmpwarden-client-runs") / f"state-{os.getpid()}"
    place.mkdir(parents=True)
    yield place
    shutil.rmtree(place)


def test_every_file_that_three_sessions_of_claude_keep_is_of_one_kind(home: Path) -> None:
    for _ in range(3):
        assert run_claude(str(SCRIPT), home=home)["rc"] == 0
    assert uncovered(kept_by_claude(home)) == {}
