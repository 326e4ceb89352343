"""A SIGKILL or an error at every system call that changes something, and at every read of /proc, while we work.

Whatever is struck: nothing that lives is touched, no unit is halved, no mode stays changed, nobody sees a traceback,
the exit status is true, and the next run settles the rest. `make test` strikes a little, `make test-long` everywhere.
"""

import json
import os
import re
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from hooks.calling import PYTHON, RUN
from support.command import AHEAD
from support.litter import later
from support.strikes import MUTATING, READING, Blow, Call, Ended, Sought, record, strike, why_not
from support.struck_world import KEPT, PINNED, SESSION, UNDECIDED, StruckWorld, struck_world
from tmpwarden.cli import envelope as _envelope  # noqa: F401  (loaded before the blow: no import is to be struck)
from tmpwarden.cli.main import main
from tmpwarden.errors import NotFound
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store.undo import undo
from tmpwarden.sweep.weigh import consent

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
HOURS = 200  # older than every threshold
DAYS_LATER = later(HOURS)
OTHER = str(uuid.uuid4())
ERRORS = ("EIO", "ENOSPC", "EACCES", "EMFILE")
PARTS = 31  # of all blows, for several cores: together they are all of them
OF_PROC = Sought(READING, "/proc/")
_OUTPUT = re.compile(r"/(out|err)[\">]")  # what the harness itself writes down
Prepare = Callable[[StruckWorld], object]


@dataclass(frozen=True)
class Deed:
    """Something that we do: how the world is made ready for it, and what must be true of its answer."""

    name: str
    do: Callable[[], int]
    prepare: Prepare
    keeps: bool = True  # what it takes can come back
    is_hook: bool = False


def sweeping(world: StruckWorld) -> None:
    world.plant()


def bringing_back(world: StruckWorld) -> None:
    world.plant()
    clean(Request(), now_ns=DAYS_LATER)
    assert len(world.tokens()) == len(world.dead)


def ending(world: StruckWorld) -> None:
    world.plant(is_agent_alive=True)
    assert world.agent is not None
    write_payload(world, "SessionEnd", SESSION)
    os.environ["CLAUDE_PID"] = str(world.agent.pid)


def starting(world: StruckWorld) -> None:
    world.plant()
    consent.give(str(world.state))  # else a hook leaves what is older than its first run to a person
    write_payload(world, "SessionStart", OTHER)
    os.environ["CLAUDE_PID"] = str(os.getppid())


def hook(event: str, *words: str) -> int:
    """Becomes the hook, as an agent starts it; what it does in the background is traced too."""
    os.dup2(os.open(f"{os.environ['HOME']}/{event}", os.O_RDONLY), 0)
    os.execve(PYTHON, [PYTHON, "-I", "-S", *words, str(RUN), "claude", event], os.environ)


def write_payload(world: StruckWorld, event: str, session: str) -> None:
    payload = {"session_id": session, "hook_event_name": event, "cwd": "/", "reason": "other", "source": "startup"}
    (world.world / "home" / event).write_text(json.dumps(payload))


DEEDS = [
    Deed("clean", lambda: main(["clean", "--force", "--json"], now_ns=DAYS_LATER), sweeping),
    Deed(
        "clean for good",
        lambda: main(["clean", "--force", "--no-quarantine", "--json"], now_ns=DAYS_LATER),
        sweeping,
        keeps=False,
    ),
    Deed("undo", lambda: main(["undo", "--json"], now_ns=DAYS_LATER), bringing_back),
    # --wait: else it answers before what it took has been judged, and a law may still put it back
    Deed("teardown", lambda: main(["teardown", "--session", SESSION, "--wait", "--json"], now_ns=DAYS_LATER), sweeping),
    Deed("end of a session", lambda: hook("SessionEnd"), ending, is_hook=True),
    Deed("start of another", lambda: hook("SessionStart", AHEAD, str(HOURS * 3600)), starting, is_hook=True),
]
OF_PROCESSES = [deed for deed in DEEDS if deed.name != "undo"]


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.name)
def test_a_few_strikes_lose_nothing(own_world: Path, tmp_path: Path, deed: Deed) -> None:
    """One at a change and one at a read of /proc; all of them are for `make test-long`."""
    with struck_world(own_world) as world:
        wanted = (changing(own_world), OF_PROC) if deed in OF_PROCESSES else (changing(own_world),)
        changes, *reads = calls_of(deed, world, tmp_path, *wanted)
        strike_all(deed, world, tmp_path, [middle(at_changes(changes))])
        for calls in reads:
            strike_all(deed, world, tmp_path, [middle(at_reads(calls))], in_doubt=True)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.name)
def test_a_strike_at_a_change_loses_nothing(own_world: Path, tmp_path: Path, deed: Deed, part: int) -> None:
    with struck_world(own_world) as world:
        (calls,) = calls_of(deed, world, tmp_path, changing(own_world))
        strike_all(deed, world, tmp_path, at_changes(calls)[part::PARTS])


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("deed", OF_PROCESSES, ids=lambda deed: deed.name)
def test_a_process_that_cannot_be_read_loses_nothing(own_world: Path, tmp_path: Path, deed: Deed, part: int) -> None:
    with struck_world(own_world) as world:
        (calls,) = calls_of(deed, world, tmp_path, OF_PROC)
        strike_all(deed, world, tmp_path, at_reads(calls)[part::PARTS], in_doubt=True)


def changing(world: Path) -> Sought:
    return Sought(MUTATING, str(world))


def at_changes(calls: list[Call]) -> list[Blow]:
    return [Blow(call, error, lasting) for call in calls for error, lasting in _mutations()]


def at_reads(calls: list[Call]) -> list[Blow]:
    found = representative(calls)
    return [Blow(call, error, lasting) for call in found for error in ERRORS for lasting in (False, True)]


def middle(blows: list[Blow]) -> Blow:
    """The same in each run, and of another kind for each deed."""
    return blows[len(blows) // 2]


def _mutations() -> Iterable[tuple[str, bool]]:
    yield "", False
    yield from ((error, lasting) for error in ERRORS for lasting in (False, True))


def calls_of(deed: Deed, world: StruckWorld, place: Path, *sought: Sought) -> list[list[Call]]:
    world.plant()
    clean(Request(), now_ns=DAYS_LATER)  # makes the quarantine, with room for names: else the strikes fall beside it
    deed.prepare(world)
    found = record(deed.do, place, *sought, afterwards=world.end_agent)
    assert all(len(calls) > 5 for calls in found), ("it did next to nothing", [len(calls) for calls in found])
    return [[call for call in calls if not _OUTPUT.search(call.text)] for calls in found]


def strike_all(deed: Deed, world: StruckWorld, place: Path, blows: list[Blow], *, in_doubt: bool = False) -> None:
    hits, complaints = 0, []
    for blow in blows:
        deed.prepare(world)
        ended = strike(deed.do, place, blow, afterwards=world.end_agent)
        if _OUTPUT.search(ended.hit):
            continue  # a hook that has its code at hand opens fewer files: this one met the harness
        hits += bool(ended.hit)
        try:
            check(deed, world, blow, ended, in_doubt)
        except Exception as error:
            said = f"{ended.status} {ended.err}{ended.out}"
            complaints.append(f"{blow}: {type(error).__name__}: {error}\n  {ended.hit}\n  {said}")
            if not world.is_alive:
                break  # the next trial would begin without it
    assert not complaints, "\n".join([f"{len(complaints)} of {len(blows)}", *complaints])
    if len(blows) > 3:  # of a few, all may be meant for a process that has ended since
        assert hits * 2 >= len(blows), f"the blows fell beside it: {ended}"


def check(deed: Deed, world: StruckWorld, blow: Blow, ended: Ended, in_doubt: bool) -> None:
    was_killed = not blow.error
    if in_doubt:
        world.assert_nothing_live_was_lost()
    else:
        world.assert_nothing_live_was_touched()
    world.assert_no_half_unit(keeps=deed.keeps, modes=not was_killed)
    assert "Traceback" not in ended.err + ended.out
    if deed.is_hook:
        assert ended.status == 0 or was_killed
        assert ended.err == ""
        assert not ended.out or was_killed or isinstance(json.loads(ended.out), dict)
    else:
        assert_true(world, ended, was_killed)
    settle(world, deed.keeps)  # law 7: there is room, so that no ENOSPC makes anything go for good


def assert_true(world: StruckWorld, ended: Ended, was_killed: bool) -> None:
    """The answer says what is: nothing that was told as gone is here, and what failed is in the exit status."""
    assert was_killed or ended.status in (0, 1, 2, 6, 7), ended.status
    if not ended.out.endswith("}\n"):
        assert ended.status != 0
        return
    answer = json.loads(ended.out)
    found = answer["data"] or {}
    assert answer["ok"] is (ended.status == 0)
    assert not found.get("failed") or ended.status == 2
    for gone in found.get("removed", ()):
        assert "count" in gone or not os.path.lexists(gone["path"]), "it was told as removed and is there"
        assert not gone.get("undoable") or is_stored(world, gone["receipt"]), "undo has nothing"
    for kept in (*found.get("kept", ()), *found.get("restored", ())):
        may_follow = "count" in kept or kept["path"].endswith(".lease")  # a lease follows its scratch
        assert may_follow or os.path.lexists(kept["path"]), "it was told as kept and is gone"
    assert not world.stored(PINNED) or ended.status == 2, "nobody was told what could not be put back"


def is_stored(world: StruckWorld, token: str) -> bool:
    """Also while it is not judged yet: then the next run puts it back."""
    place = world.quarantine / token
    return place.exists() or place.with_suffix(UNDECIDED).exists()


def settle(world: StruckWorld, keeps: bool) -> None:
    """The next run that nothing strikes does the rest, and undo brings all of it back as it was."""
    clean(Request(), now_ns=DAYS_LATER)
    world.assert_settled()
    for token in world.tokens():
        with suppress(NotFound):  # it was brought back before, and that could not be written down
            undo(token)
    assert world.stored(KEPT) == [], "what is kept for undo cannot be brought back"
    if keeps:
        world.assert_all_came_back()
    world.assert_nothing_live_was_touched()


def representative(calls: list[Call]) -> list[Call]:
    """Thousands of processes are read alike: of each file of a process in /proc the first and the last that we read."""
    found: dict[tuple[str, str], list[Call]] = {}
    for call in calls:
        path = re.search(r'["<](/proc/[^">]*)', call.text)
        shape = re.sub(r"\d+", "N", path[1]) if path else ""
        found.setdefault((call.name, shape), []).append(call)
    return [call for alike in found.values() for call in dict.fromkeys((alike[0], alike[-1]))]
