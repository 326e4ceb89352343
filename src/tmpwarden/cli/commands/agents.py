"""`tmpwarden agents`: the catalogue as a table; `show` one of its agents; `try` a file of your own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from enum import Enum

import click

from ...agent_facts import FACTS
from ...catalogue import wording
from ...catalogue.load import Catalogue, load
from ...catalogue.settings import load_settings
from ...errors import BadConfig
from ...model.sweep import Agent, Litter
from ...model.terms import Tier
from ...text import plural, shown
from .. import completing
from ..call import Answer, Call
from ..group import pass_call
from ..rehearsal import Rehearsal, rehearse
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
    """The catalogue: every agent, and every shape of file it leaves.

    What is AUTO goes by itself when its owner is gone, what is ASK only with `clean --all`; what is NEVER is state, and
    stays whatever else it may look like. A file of your own in ~/.config/tmpwarden/agents.d adds an agent.
    """
    agents = _catalogue(call).agents
    data = {"agents": [_summary(agent) for agent in agents]}
    return Answer(data, lambda: draw(_AGENTS, [_line(agent) for agent in agents], for_a_person=call.for_a_person))


@command.command()
@click.argument("agent", shell_complete=completing.agents)
@pass_call
def show(call: Call, agent: str) -> Answer:
    """All that AGENT leaves: where it lies, when it goes and why."""
    found = _catalogue(call).agent(agent)
    data = _summary(found) | {
        "session_env": list(found.session_env),
        "registry": found.registry,
        "keeps_rewrite": _since(found.id),
        "source": found.source,
        "litter": [_plain(row) for row in found.rows],
    }
    return Answer(data, lambda: _shown(found, for_a_person=call.for_a_person))


def _since(agent: str) -> str | None:
    facts = FACTS.get(agent)
    return ">=" + ".".join(map(str, facts["keeps_rewrite"])) if facts and facts["keeps_rewrite"] else None


@command.command("try")
@click.argument("file", type=click.Path())
@pass_call
def try_(call: Call, file: str) -> Answer:
    """Prove FILE before you use it: decode it, run its examples, plant them in a scratch and sweep them for real.

    Nothing of yours is looked at or touched. Copy FILE to ~/.config/tmpwarden/agents.d when it passes.
    """
    rehearsal = rehearse(file)
    call.warn(*rehearsal.warnings)
    wrong = rehearsal.complaints
    error = BadConfig(shown(file), wrong[0], hint="docs/add-an-agent.md tells what a row needs") if wrong else None
    return Answer(_tried(rehearsal), lambda: _told(rehearsal), error=error)


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


def _tried(rehearsal: Rehearsal) -> dict[str, object]:
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


def _told(rehearsal: Rehearsal) -> Iterator[str]:
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
        yield "All as the file says. Copy it to ~/.config/tmpwarden/agents.d to use it."
