"""What real agents leave after a normal end, SIGTERM and SIGKILL: every file of theirs belongs to a row.

Found with claude 2.1.325, codex 0.166.0, gemini 0.61.0, copilot 1.0.102, opencode 1.18.33 and qwen 0.24.4.
"""

import re
from collections.abc import Iterable, Iterator

import pytest

from clients.harness import CLIENTS, run_agent, run_claude
from tmpwarden.catalogue.load import load
from tmpwarden.catalogue.matcher import Place
from tmpwarden.model.terms import Kind

pytestmark = pytest.mark.clients

OTHERS = ("codex", "gemini", "copilot", "opencode", "qwen")
ENDS = ("exit", "term", "kill")
BIG_OUTPUT = "head -c 4800000 /dev/zero | tr '\\0' x | fold -w 100"
SANDBOXED = '{"sandbox": {"enabled": true}}'
HOME, ROOTS = "/home/u", ("/tmp", "/var/tmp", "/dev/shm")
_KINDS = {"f": Kind.FILE, "d": Kind.DIR, "s": Kind.SOCKET}
# made by the command that the model asked for, or by the harness: nobody's litter by name
_COMMANDS_OWN = re.compile(r"/tmp/(probe-|tmp\.|literal|a\.ipynb|note\.txt)|/home/u/(\.npmrc|rec\.js)")
Left = Iterable[tuple[str, Kind]]


def left_by_claude(result: dict[str, object]) -> Iterator[tuple[str, Kind]]:
    remained = result["remained"]
    assert isinstance(remained, dict) and remained
    for path, entry in remained.items():
        yield path.replace("$HOME", HOME), _KINDS.get(entry["k"], Kind.OTHER)


def left_by(result: dict[str, object]) -> Iterator[tuple[str, Kind]]:
    assert result["shells"], "the agent never ran its command"
    remain, home = result["remain"], result["home"]
    assert isinstance(remain, dict) and isinstance(home, list)
    for entry in [*(each for found in remain.values() for each in found), *home]:
        yield entry["path"], _KINDS.get(entry["type"], Kind.OTHER)


def strangers(left: Left) -> list[str]:
    """What no row knows. A directory on the way to where rows look is known."""
    places = load(dirs=()).places(ROOTS, HOME, uid=1000, environ={})
    bases = {place.path for place in places}
    on_the_way = {base.rsplit("/", depth)[0] for base in bases for depth in (1, 2)}
    return sorted(
        path
        for path, kind in left
        if not _COMMANDS_OWN.match(path)
        and path not in bases | on_the_way
        and not any(_is_known(path, kind, place) for place in places)
    )


def _is_known(path: str, kind: Kind, start: Place) -> bool:
    if not path.startswith(start.path + "/"):
        return False
    place: Place | None = start
    *above, name = path[len(start.path) + 1 :].split("/")
    for part in above:
        match = place.classify(part, Kind.DIR) if place else None
        if match and not match.only_if_empty:
            return True
        place = place.child(part) if place else None
    if place is None:
        return False
    return place.classify(name, kind) is not None or (kind is Kind.DIR and place.child(name) is not None)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("agent", OTHERS)
def test_every_file_that_an_agent_leaves_belongs_to_a_row(agent: str, end: str) -> None:
    assert strangers(left_by(run_agent(agent, "--end", end, "--target", "agent"))) == []


@pytest.mark.parametrize("end", ["exit", "kill"])
@pytest.mark.parametrize("agent", OTHERS)
def test_what_a_large_output_spills_into_belongs_to_a_row(agent: str, end: str) -> None:
    hang = ["--hang", "model"] if end == "kill" else []
    result = run_agent(agent, "--end", end, *hang, "--cmd", BIG_OUTPUT)
    result["shells"] = [BIG_OUTPUT]  # the probe did not run: the command was another
    assert strangers(left_by(result)) == []


@pytest.mark.parametrize("end", ["exit", "kill"])
def test_what_codex_leaves_of_its_sandbox_belongs_to_a_row(end: str) -> None:
    assert strangers(left_by(run_agent("codex", "--sandbox", "--end", end))) == []


@pytest.mark.parametrize("signal", ["", "TERM", "KILL"])
@pytest.mark.parametrize("sandbox", [False, True], ids=["", "sandboxed"])
def test_every_file_that_claude_leaves_belongs_to_a_row(signal: str, sandbox: bool) -> None:
    """After SIGKILL its commands live on and leave their markers later: wait for that."""
    options = ["--signal", signal, "--signal-at", "main:2:1.5", "--settle", "13"] if signal else ["--settle", "1"]
    options += ["--settings", SANDBOXED] if sandbox else []
    result = run_claude(str(CLIENTS / "claude" / "scripts" / "killable.json"), *options)
    assert strangers(left_by_claude(result)) == []


def test_every_file_that_claudes_tools_leave_belongs_to_a_row() -> None:
    result = run_claude(str(CLIENTS / "claude" / "scripts" / "all_tools.json"))
    assert strangers(left_by_claude(result)) == []
