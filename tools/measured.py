"""The page about real agents, drawn from what `make measure-agents` wrote: docs/measured-agents.jsonl."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tmpwarden.agent_facts import FACTS
from tmpwarden.catalogue.load import load
from tmpwarden.catalogue.matcher import Place
from tmpwarden.model.terms import Kind

_SOURCE = Path(__file__).parents[1] / "docs" / "measured-agents.jsonl"
_ENDS = ("exit", "large output", "INT", "HUP", "TERM", "KILL", "TERM, idle", "KILL, idle")
_KINDS = {"f": Kind.FILE, "d": Kind.DIR, "s": Kind.SOCKET}
_OF_COMMANDS = re.compile(r"/(probe-\w+-\w+|tmp\.\w{10})$")
_WAYS = {
    "env-file": "a scratch for each session, by a hook",
    "answer": "a scratch for each session, by a hook",
    "toml-set": "one directory, named in its settings",
    "dotenv": "one directory, named in its `.env`",
    "shell": "a scratch for each session, by a shell function",
}
_HEAD = """\
# What agents leave

Measured with the real programs under a scripted model, offline, as an ordinary user, after `tmpwarden setup` had
found all of them (`make measure-agents`; tests/clients/cells.py). In each session a command made a file and a directory
by `mktemp`. The columns are ways to end: by itself, after a large output, by a signal while a command runs, and by one
while the model thinks (idle).
"""
_BEFORE = """
## When the session has ended

In the temp root, some seconds later; what waits in quarantine is not counted. Each word is a row of the
[catalogue](catalogue.md).
"""
_AFTER = """
## After one clean, two hours later

What stays waits longer: `claude.session` may be resumed and goes after three days.
"""


def page() -> str:
    cells = _cells()
    return "".join(
        [_HEAD, *_ways(cells), _BEFORE, *_table(cells, "at_end"), _AFTER, *_table(cells, "later"), _sum(cells)]
    )


def _cells() -> dict[tuple[str, str], dict[str, Any]]:
    """The last measurement of each."""
    lines = [json.loads(line) for line in _SOURCE.read_text().splitlines()]
    return {(cell["agent"], cell["end"]): cell for cell in lines}


def _measured(cells: dict[tuple[str, str], dict[str, Any]]) -> list[tuple[str, Any]]:
    """The agents that were measured: one that has just been added was not yet."""
    return [(agent, facts) for agent, facts in FACTS.items() if any(name == agent for name, _ in cells)]


def _ways(cells: dict[tuple[str, str], dict[str, Any]]) -> Iterator[str]:
    yield "\n| agent | version | temp files of its commands | went to |\n|---|---|---|---|\n"
    for agent, facts in _measured(cells):
        measured = [cell for (name, _), cell in cells.items() if name == agent]
        versions = ", ".join(sorted({cell["version"] for cell in measured}))
        places = {re.sub(r"r?[0-9a-f]{8}", "*", path.rpartition("/")[0]) for cell in measured for path in cell["made"]}
        where = ", ".join(f"`{place.replace('1000', '<uid>')}`" for place in sorted(places))
        yield f"| {facts['name']} | {versions} | {_WAYS[facts['temp_by']]} | {where} |\n"


def _table(cells: dict[tuple[str, str], dict[str, Any]], when: str) -> Iterator[str]:
    yield f"\n| agent | {' | '.join(_ENDS)} |\n|{'---|' * (len(_ENDS) + 1)}\n"
    for agent, facts in _measured(cells):
        words = [_left(cells[agent, end], when) for end in _ENDS]
        yield f"| {facts['name']} | {' | '.join(words)} |\n"


def _left(cell: dict[str, Any], when: str) -> str:
    parents = {line.partition(" ")[2].rpartition("/")[0] for line in cell[when]}
    rows = sorted(set(filter(None, (_row(line, parents) for line in cell[when]))))
    alive = "lives on; " if cell["lives_on"] and when == "at_end" else ""
    return alive + (", ".join(f"`{row}`" for row in rows) or "nothing")


def _row(line: str, parents: set[str]) -> str:
    """The row of one entry, "" for a directory on the way to where rows look."""
    letter, _, path = line.partition(" ")
    if path in parents and letter == "d":
        return ""
    for place in load(dirs=()).places(("/tmp",), "/home/u", uid=1000, environ={}):
        if path.startswith(place.path + "/") and (found := _found(place, path, _KINDS.get(letter, Kind.OTHER))):
            return found
    return "" if letter == "d" else path


def _found(start: Place, path: str, kind: Kind) -> str:
    place: Place | None = start
    *above, name = path[len(start.path) + 1 :].split("/")
    for part in above:
        match = place.classify(part, Kind.DIR) if place else None
        if match and not match.only_if_empty:
            return "" if match.is_never else match.litter.key
        place = place.child(part) if place else None
    match = place.classify(name, kind) if place else None
    return match.litter.key if match and not match.is_never else ""


def _sum(cells: dict[tuple[str, str], dict[str, Any]]) -> str:
    clean = sum(not any(map(_OF_COMMANDS.search, cell["later"])) for cell in cells.values())
    return f"\nNo temp file of a command was left in {clean} of {len(cells)} sessions.{_survivors(cells.values())}\n"


def _survivors(cells: Iterable[dict[str, Any]]) -> str:
    names = [f"{FACTS[cell['agent']]['name']} ({cell['end']})" for cell in cells if cell["lives_on"]]
    if not names:
        return ""
    still = f"Five seconds after the signal there still lived {', '.join(names)}"
    return f" {still}: nothing of theirs went until they were killed."
