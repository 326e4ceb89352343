# ruff: noqa: E402
"""Every row of the catalogue planted on a machine of its own, and one caller that judges them, a little before and a
little after each age: `python waiting_rows.py CALLER every|some`, below own_machine.run. Prints one JSON object.

Each row has a temp root of its own, known as one that an earlier run cleaned: so that no caller is confined to roots,
and what lies in the home is looked at as well.
"""

import contextlib
import io
import json
import os
import sys
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support import ahead

ahead.move(0)  # before the clock is kept as anybody's default
from support.holding import ended_pid
from tmpwarden.catalogue.load import load
from tmpwarden.catalogue.planting import plant, root_for
from tmpwarden.lifecycle import background, tick
from tmpwarden.lifecycle.periodic import Periodic
from tmpwarden.model.sweep import Verdict
from tmpwarden.oskit.files import places, state_file
from tmpwarden.sweep import compose
from tmpwarden.sweep.weigh import consent

HOUR_S, DAY_S = 3600, 86400
GENERAL_S, USERS_S = 30 * HOUR_S, 10 * DAY_S  # [periodic] max_age, and the user's word on Claude's sessions
CONFIG = """
[periodic]
max_age = "30h"
[automatic]
max = "100%"
[rows."claude.session"]
max_age = "10d"
"""


def everything(caller: str, *, every: bool) -> None:
    paths = planted(CONFIG.replace("30h", "50h") if caller == "server" else CONFIG)
    first = {path: heard for path, heard in hearing() if path in paths}
    waits_s = {path: longest_s(verdict) for path, verdict in first.items()}
    too_early, taken, said = set(), set(), []
    ages_s = sorted({each for each in waits_s.values() if each > 2 * HOUR_S}, reverse=True)
    for age_s in sorted(ages_s if every else ages_s[:3:2]):
        for seconds in (age_s - HOUR_S, age_s + HOUR_S):
            there = {path for path in waits_s if os.path.lexists(path)}
            complaints, seen_s = at(seconds, caller)
            said += complaints
            # The owner's state is the machine's: a session of another test that lived at the first look has ended now.
            waits_s |= {path: min(wait_s, seen_s.get(path, wait_s)) for path, wait_s in waits_s.items()}
            gone = {path for path in there if not os.path.lexists(path)}
            too_early |= {f"{key_of(first[path])} after {seconds} s" for path in gone if waits_s[path] > seconds}
            taken |= {key_of(first[path]) for path in gone}
    rows = sorted({key_of(each) for each in first.values()})
    print(json.dumps({"rows": rows, "too_early": sorted(too_early), "taken": sorted(taken), "said": said}))


def at(seconds: float, caller: str) -> tuple[list[str], dict[str, int]]:
    """What it says when it is called with a clock that is ahead from the start; what each row waited right before."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with open(writing, "w") as told:
            try:
                ahead.move(seconds)
                seen_s = {path: longest_s(verdict) for path, verdict in hearing()}
                CALLERS[caller]()
                json.dump([SAID, seen_s], told)
            except BaseException:
                json.dump([[traceback.format_exc()], {}], told)
        os._exit(0)
    os.close(writing)
    with open(reading) as told:
        said, seen_s = json.load(told)
    os.waitpid(child, 0)
    return said, seen_s


def planted(config: str) -> frozenset[str]:
    os.makedirs(places.config_dir())
    Path(places.config_dir(), "config.toml").write_text(config)
    roots, paths, session, pid = ["/tmp", "/var/tmp", "/dev/shm"], set(), str(uuid.uuid4()), ended_pid()
    for row in load(dirs=()).rows:
        if "{project}" not in row.place and "linux" in (row.os or ("linux",)):
            roots.append(root_for(row, f"/tmp/roots/{row.key}"))
            paths |= {each.path for each in plant(row, roots[-1], places.home(), pid=pid, session=session)}
    os.makedirs(places.state_dir(), mode=0o700)
    assert state_file.write(state_file.path("roots"), roots)
    consent.note_first_run(places.state_dir())
    consent.give()
    return frozenset(paths)


def hearing() -> Iterator[tuple[str, Verdict]]:
    for verdict in compose.scan():
        for name in verdict.finding.members or (verdict.finding.name,):
            yield os.path.join(verdict.finding.parent, name), verdict


def key_of(verdict: Verdict) -> str:
    return verdict.finding.litter.key


def longest_s(verdict: Verdict) -> int:
    """What the row says of an owner in this state, written down once more: the general limit is the settings'."""
    row, state = verdict.finding.litter, verdict.evidence.owner.state.value
    own_s = USERS_S if row.key == "claude.session" else GENERAL_S if row.max_age_s == 72 * HOUR_S else row.max_age_s
    if state == "dead":
        return max(row.grace_s, own_s if row.resume else 0)
    return max(row.min_age_s, own_s if row.resume else 0) if state == "absent" else own_s


SAID: list[str] = []


def command(*words: str) -> None:
    from tmpwarden.cli.main import main as run

    with contextlib.redirect_stdout(io.StringIO()) as told, contextlib.redirect_stderr(told):
        status = run(list(words))
    if status not in (0, 2):
        SAID.append(f"{words}: {status} {told.getvalue()[-300:]}")


def periodic() -> None:
    server = Periodic(max_age="30h")  # its settings say 50h
    server._once()
    if server.last_error:
        SAID.append(server.last_error)


def looks() -> None:
    """Those that take nothing must not say that something may go before its time either."""
    for path, verdict in hearing():
        measure, wait_s = verdict.evidence.measure, longest_s(verdict)
        is_young = measure is not None and time.time_ns() - measure.newest_ns < wait_s * 10**9
        if verdict.reason.value in ("older-than-max-age", "nobody-owns-it") and is_young:
            SAID.append(f"scan: {key_of(verdict)} {path}")
    command("why", "--json", "/tmp")
    command("doctor", "--json")


CALLERS: dict[str, Callable[[], object]] = {
    "hook": background.clear_the_dead,
    "tick": lambda: tick.main([]),
    "server": periodic,
    "cron": lambda: command("clean", "--if-due", "30m", "--yes", "--quiet"),
    "person": lambda: command("clean", "--yes", "--quiet"),
    "looks": looks,
}

if __name__ == "__main__":
    everything(sys.argv[1], every=sys.argv[2] == "every")
