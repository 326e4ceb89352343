"""`tmpwarden agents`: the catalogue as a table; `show` one of its agents; `try` a file of your own."""

from __future__ import annotations

import os
import subprocess
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import Enum

import click

from ...agent_facts import FACTS
from ...catalogue import wording
from ...catalogue.files import BUILT_IN
from ...catalogue.load import Catalogue, load, read, rows_of_every_system
from ...catalogue.planting import Planted, plant, root_for
from ...catalogue.settings import load_settings
from ...errors import BadConfig
from ...lazy_dataclass import dataclass
from ...model.request import Request, Thresholds
from ...model.sweep import Agent, Litter
from ...model.terms import Tier
from ...session import session
from ...sweep import compose
from ...text import plural, shown
from .. import kinds
from ..call import Answer, Call
from ..group import pass_call
from ..table import Row, draw

_AGENTS = ("AGENT", ">ROWS", ">AUTO", ">ASK", ">NEVER", "VERIFIED", "NAME")
_ROWS = ("ROW", "TIER", "WORTH", "WHAT")


class _ShowsByName(click.Group):
    """`agents claude` is `agents show claude`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        is_command = args[0] in self.commands or args[0].startswith("-")
        return super().resolve_command(ctx, args if is_command else ["show", *args])


@click.group(cls=_ShowsByName, invoke_without_command=True)
@pass_call
def command(call: Call) -> Answer:
    """List the agents tmpwarden knows, and the files that each leaves behind.

    AUTO: removed when its session has ended. ASK: removed only with `clean --all`. NEVER: settings, history and other
    state, never removed. To add an agent, put a file into ~/.config/tmpwarden/agents.d.
    """
    agents = _catalogue(call).agents
    data = {"agents": [_summary(agent) for agent in agents]}
    return Answer(data, lambda: draw(_AGENTS, [_line(agent) for agent in agents], for_a_person=call.for_a_person))


@command.command()
@click.argument("agent", shell_complete=kinds.agents)
@pass_call
def show(call: Call, agent: str) -> Answer:
    """Show all that AGENT leaves behind: where, and when it can be removed."""
    shown_agent = _catalogue(call).agent(agent)
    data = _summary(shown_agent) | {
        "session_env": list(shown_agent.session_env),
        "registry": shown_agent.registry,
        "keeps_rewrite": _since(shown_agent.id),
        "source": shown_agent.source,
        "litter": [_plain(row) for row in shown_agent.rows],
    }
    return Answer(data, lambda: _shown(shown_agent, for_a_person=call.for_a_person))


def _since(agent: str) -> str | None:
    facts = FACTS.get(agent)
    return ">=" + ".".join(map(str, facts["keeps_rewrite"])) if facts and facts["keeps_rewrite"] else None


@command.command("try")
@click.argument("file", type=kinds.AnsweringPath())
@pass_call
def try_(call: Call, file: str) -> Answer:
    """Check FILE before you use it: read it, try its examples, and clean sample files in a private directory.

    Your own files are not read or changed. If the check passes, copy FILE to ~/.config/tmpwarden/agents.d.
    """
    rehearsal = rehearse(file)
    call.warn(*rehearsal.warnings)
    wrong = rehearsal.complaints
    error = BadConfig(shown(file), wrong[0], hint="docs/add-an-agent.md explains what a row needs") if wrong else None
    return Answer(_rehearsal_document(rehearsal), lambda: _lines(rehearsal), error=error)


def _catalogue(call: Call) -> Catalogue:
    settings = load_settings(call.config_file)
    catalogue = load(overrides=settings.rows)
    call.warn(*settings.warnings, *catalogue.warnings)
    return catalogue


def _summary(agent: Agent) -> dict[str, object]:
    tiers = {tier.value: wording.count(agent, tier) for tier in Tier}
    verified = wording.measured_with(agent)
    return {"id": agent.id, "name": agent.name, "rows": len(agent.rows), "tiers": tiers, "verified": verified}


def _line(agent: Agent) -> Row:
    counts = (str(wording.count(agent, tier)) for tier in (Tier.AUTO, Tier.ASK, Tier.NEVER))
    return Row((agent.id, str(len(agent.rows)), *counts, wording.measured_with(agent), shown(agent.name)))


def _plain(row: Litter) -> dict[str, object]:
    return {name: value.value if isinstance(value, Enum) else value for name, value in asdict(row).items()}


def _shown(agent: Agent, *, for_a_person: bool) -> Iterable[str]:
    yield f"{shown(agent.name)}: {plural(len(agent.rows), 'row')}, verified with {wording.measured_with(agent)}"
    yield from draw(_ROWS, [_row(row) for row in agent.rows], for_a_person=for_a_person)


def _row(row: Litter) -> Row:
    note = wording.fixed_note(row)
    what = f"{row.why} ({note})" if note else row.why
    style = "dim" if row.tier is Tier.NEVER else ""
    return Row((row.id, row.tier.value, row.worth.value, shown(what)), shown(wording.where(row)), style)


def _rehearsal_document(rehearsal: Rehearsal) -> dict[str, object]:
    examples = [
        {
            "row": each.planted.row.key,
            "name": each.planted.path.rpartition("/")[2],
            "spared": not each.planted.is_match,
            "found_as": each.row,
            "taken": each.gone_when_asked,
            "complaint": each.complaint,
        }
        for each in rehearsal.seen
    ]
    return _summary(rehearsal.agent) | {"examples": examples, "complaints": list(rehearsal.complaints)}


def _lines(rehearsal: Rehearsal) -> Iterator[str]:
    for row in rehearsal.agent.rows:
        seen = [each for each in rehearsal.seen if each.planted.row is row]
        wrong = [each.complaint for each in seen if each.complaint]
        taken = sum(each.planted.is_match and each.gone_when_asked for each in seen)
        kept = sum(not each.gone_when_asked for each in seen)
        yield f"{row.key}: {row.tier.value}, {plural(taken, 'example')} taken, {kept} kept" + (
            ", WRONG" if wrong else ""
        )
        yield from (f"  {shown(sentence)}" for sentence in wrong)
    if not rehearsal.complaints:
        yield "Every check passed. To use it, copy it to ~/.config/tmpwarden/agents.d."


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
            return f"{name} must be kept, and was removed" if self.row == row.key and self.gone_when_asked else None
        if row.tier is Tier.NEVER:
            return f"{name} must never be removed, and was removed" if self.gone_when_asked else None
        if self.row != row.key:
            return f"{name} was found as {self.row or 'nothing'}"
        if row.tier is Tier.ASK and self.gone_unasked:
            return f"{name} was removed, although its tier is ask"
        was_removed = self.gone_unasked if row.tier is Tier.AUTO else self.gone_when_asked
        return None if was_removed else f"{name} was kept, although it was a year old"


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
        first = complaints[0] if complaints else f"{path}:1: is empty"
        where, _, sentence = first.partition(": ")
        raise BadConfig(
            where, "; ".join([sentence, *complaints[1:]]), hint="docs/add-an-agent.md explains what a row needs"
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

    with rows_of_every_system():
        return _rehearse(agent, planted, request)


def _rehearse(agent: Agent, planted: list[Planted], request: Callable[[bool], Request]) -> Rehearsal:
    survey = compose.scan(request(False), now_ns=_in_a_year)
    rows = {
        os.path.join(verdict.finding.parent, name): verdict.finding.litter.key
        for verdict in survey
        for name in verdict.finding.members or (verdict.finding.name,)
    }
    result = compose.clean(request(False), now_ns=_in_a_year)
    unasked = [not os.path.lexists(each.path) for each in planted]
    compose.clean(request(True), now_ns=_in_a_year)
    is_gone_after = [not os.path.lexists(each.path) for each in planted]
    seen = (
        Rehearsed(*each)
        for each in zip(planted, [rows.get(p.path) for p in planted], unasked, is_gone_after, strict=True)
    )
    return Rehearsal(agent, tuple(seen), tuple(result.warnings))


def _in_a_year() -> int:
    return time.time_ns() + _A_YEAR_NS


def _gone_pid() -> int:
    """The pid of a process that has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid
