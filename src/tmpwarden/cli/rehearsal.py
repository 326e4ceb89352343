"""Try out an agent's file before it is used: decode it, plant its examples in a scratch, sweep them for real."""

from __future__ import annotations

import os
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from ..catalogue.files import BUILT_IN
from ..catalogue.load import read
from ..catalogue.planting import Planted, plant, root_for
from ..errors import BadConfig
from ..lazy_dataclass import dataclass
from ..model.request import Request, Thresholds
from ..model.sweep import Agent
from ..model.terms import Tier
from ..session import session
from ..sweep import compose

_A_YEAR_NS = 365 * 86400 * 10**9
_POINTS_TO_HOME = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What became of one example."""

    planted: Planted
    row: str | None  # the row it was found as
    gone_unasked: bool
    gone_when_asked: bool

    @property
    def complaint(self) -> str | None:
        row, name = self.planted.row, os.path.basename(self.planted.path)
        if not self.planted.is_match:
            return f"{name} is to be spared, and was taken" if self.row == row.key and self.gone_when_asked else None
        if row.tier is Tier.NEVER:
            return f"{name} is never to go, and was taken" if self.gone_when_asked else None
        if self.row != row.key:
            return f"{name} was found as {self.row or 'nothing'}"
        if row.tier is Tier.ASK and self.gone_unasked:
            return f"{name} was taken without being asked about"
        gone = self.gone_unasked if row.tier is Tier.AUTO else self.gone_when_asked
        return None if gone else f"{name} was kept after a year"


@dataclass(frozen=True, slots=True)
class Rehearsal:
    agent: Agent
    seen: tuple[Rehearsed, ...]
    warnings: tuple[str, ...]

    @property
    def complaints(self) -> tuple[str, ...]:
        return tuple(f"row {each.planted.row.id}: {each.complaint}" for each in self.seen if each.complaint)


def rehearse(path: str) -> Rehearsal:
    """Raises BadConfig with every complaint about the file itself."""
    is_built_in = os.path.realpath(os.path.dirname(path)) == os.path.realpath(BUILT_IN)
    agent, complaints = read(path, builtin=is_built_in, trusted=False)
    if agent is None:
        first = complaints[0] if complaints else f"{path}:1: says nothing"
        where, _, sentence = first.partition(": ")
        raise BadConfig(
            where, "; ".join([sentence, *complaints[1:]]), hint="docs/add-an-agent.md tells what a row needs"
        )
    with session("tmpwarden-try") as scratch, _as_if_at_home(str(scratch.path)) as home:
        if not is_built_in:
            _install(path)
        return _sweep(agent, str(scratch.path), home)


@contextmanager
def _as_if_at_home(scratch: str) -> Iterator[str]:
    """HOME and all that hangs on it point into the scratch: no setting, state or home of the user is touched."""
    home = os.path.join(scratch, "home")
    os.mkdir(home, 0o700)
    before = {name: os.environ.get(name) for name in ("HOME", *_POINTS_TO_HOME)}
    for name in _POINTS_TO_HOME:
        os.environ.pop(name, None)
    os.environ["HOME"] = home
    try:
        yield home
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _install(path: str) -> None:
    directory = os.path.join(os.environ["HOME"], ".config", "tmpwarden", "agents.d")
    os.makedirs(directory, 0o700)
    name = os.path.basename(path)
    with open(path, "rb") as text, open(os.path.join(directory, name.removesuffix(".toml") + ".toml"), "wb") as copy:
        copy.write(text.read())


def _sweep(agent: Agent, scratch: str, home: str) -> Rehearsal:
    """Each row has a temp root of its own, so that no example hides another."""
    pid, session = _gone_pid(), str(uuid.uuid4())
    planted: list[Planted] = []
    roots = []
    for row in agent.rows:
        root = root_for(row, os.path.join(scratch, row.id))
        roots.append(root)
        planted += plant(row, root, home, pid=pid, session=session)

    def request(ask: bool) -> Request:
        return Request(roots=tuple(roots), projects=tuple(roots), home=home, thresholds=Thresholds(take_ask=ask))

    survey = compose.scan(request(ask=False), now_ns=_in_a_year)
    rows = {
        os.path.join(verdict.finding.parent, name): verdict.finding.litter.key
        for verdict in survey
        for name in verdict.finding.members or (verdict.finding.name,)
    }
    result = compose.clean(request(ask=False), now_ns=_in_a_year)
    unasked = [not os.path.lexists(each.path) for each in planted]
    compose.clean(request(ask=True), now_ns=_in_a_year)
    asked = [not os.path.lexists(each.path) for each in planted]
    seen = (Rehearsed(*each) for each in zip(planted, [rows.get(p.path) for p in planted], unasked, asked, strict=True))
    return Rehearsal(agent, tuple(seen), tuple(result.warnings))


def _in_a_year() -> int:
    return time.time_ns() + _A_YEAR_NS


def _gone_pid() -> int:
    """The pid of a process that has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid
