"""`tmpwarden install`: write us into an agent's own settings, or say where we stand with each agent here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ...agent_facts import FACTS
from ...errors import BadArgument
from ...text import plural, shown
from .. import ask, documents
from ..call import Answer, Call
from ..group import pass_call

if TYPE_CHECKING:
    from ...setup.edits import Edit

_NAMES = click.Choice([*FACTS, "timer"])
_NOTHING = "Nothing was changed."


@click.command()
@click.argument("what", required=False, metavar="[AGENT|timer]", type=_NAMES)
@click.option("--guard", is_flag=True, help="Also check each command before it runs (a hook before each tool call).")
@click.option("--observe", is_flag=True, help="Remove nothing: hooks only log what they would have removed.")
@click.option("-n", "--dry-run", is_flag=True, help="Show the changes without making them.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask (it never asks without a terminal).")
@click.option("--include-backlog", is_flag=True, help="Automatic clean-up may also remove items older than this setup.")
@click.option("--system", is_flag=True, help="With timer, as root: one timer for all users of this machine.")
@click.option("--metrics", metavar="DIR", help="With timer --system: write DIR/tmpwarden.prom for node_exporter.")
@pass_call
def command(
    call: Call,
    what: str | None,
    guard: bool,
    observe: bool,
    dry_run: bool,
    yes: bool,
    include_backlog: bool,
    system: bool,
    metrics: str | None,
) -> Answer:
    """Write tmpwarden into an agent's settings, as hooks: shows the change and asks. Without a name: the agents found
    here and their state. For all of them at once: `tmpwarden setup`."""
    check_metrics(metrics, what, system)
    if what is None:
        return _table()
    is_asked = call.can_ask and not yes and not dry_run
    if what == "timer":
        return timer(system, metrics or "", dry_run, is_asked)
    from ...setup.apply import install, is_guarded

    if not (guard or dry_run) and is_guarded(what):
        ask.refuse_agents()
    if is_asked and not _agreed(install(what, guard=guard, observe=observe, dry_run=True).changed):
        return Answer({"agent": what, "changed": [], "dry_run": False}, lambda: [_NOTHING])
    outcome = install(what, guard=guard, observe=observe, dry_run=dry_run)
    if include_backlog and not dry_run:
        from ...oskit.files.places import state_dir
        from ...sweep.weigh.consent import give

        give(state_dir())
    data = {
        "agent": what,
        "changed": [edit.path for edit in outcome.changed],
        "dry_run": dry_run,
        "runtime": outcome.runtime,
        "advice": list(outcome.advice),
    }
    if dry_run:
        return Answer(data | {"diff": [edit.diff() for edit in outcome.changed]}, lambda: _diffs(outcome.changed))
    return Answer(data, lambda: _installed(outcome.target.name, what, bool(outcome.changed), observe, outcome.advice))


def _agreed(edits: tuple[Edit, ...]) -> bool:
    """The diff, and a yes to it; nothing to change needs none."""
    if not edits:
        return True
    ask.say(_diffs(edits))
    return ask.yes(f"Change {plural(len(edits), 'file')}?")


def _table() -> Answer:
    from ...setup.apply import table
    from ...setup.timer import state

    states = table()
    agents = [{"agent": seen.id} | documents.of(seen, "name", "state", "settings", "guard") for seen in states]

    def text() -> Iterator[str]:
        if not states:
            yield f"No agent was found. tmpwarden knows {', '.join(FACTS)}."
        for seen in states:
            is_at = f"{seen.state}, guard" if seen.guard else seen.state
            yield f"{seen.id:<9} {is_at:<18} {seen.name}, {shown(seen.settings)}"
        yield f"{'timer':<9} {state()}"
        yield "To set one up: tmpwarden setup NAME. With --dry-run it only shows the changes."

    return Answer({"agents": agents, "timer": state()}, text)


def check_metrics(metrics: str | None, what: str | None, system: bool) -> None:
    """Raises BadArgument."""
    if metrics is not None and not (what == "timer" and system):
        raise BadArgument("--metrics needs `setup timer --system`", hint="`tmpwarden metrics` prints your own")


def timer(system: bool, metrics: str, dry_run: bool, is_asked: bool) -> Answer:
    from ...lifecycle import textfile
    from ...setup import timer

    if metrics and os.geteuid() == 0:  # else it is refused for a better reason
        textfile.check(metrics)
    if is_asked and not _agreed(timer.install(system=system, metrics=metrics, dry_run=True).changed):
        return Answer({"changed": [], "dry_run": False}, lambda: [_NOTHING])
    outcome = timer.install(system=system, metrics=metrics, dry_run=dry_run)
    changed = [edit.path for edit in outcome.changed]
    data = {"scheduler": outcome.kind, "changed": changed, "dry_run": dry_run, "advice": list(outcome.advice)}
    if dry_run:
        return Answer(data | {"diff": [edit.diff() for edit in outcome.changed]}, lambda: _diffs(outcome.changed))
    return Answer(
        data, lambda: [f"Every hour, by {outcome.kind}. Stop it with `tmpwarden uninstall timer`.", *outcome.advice]
    )


def _diffs(edits: tuple[Edit, ...]) -> Iterator[str]:
    for edit in edits:
        yield edit.diff()
    if not edits:
        yield "Nothing would change."


def _installed(name: str, agent: str, changed: bool, observe: bool, advice: tuple[str, ...]) -> Iterator[str]:
    yield f"{name}: {'hooks are installed' if changed else 'already installed, nothing changed'}."
    from ...sweep.weigh.unattended import refusal

    verb = "Recorded, not removed" if observe else "Removed"
    if why := "" if observe else refusal():
        yield f"Sessions get no temp directory, and nothing is removed automatically: {why}."
    else:
        yield f"{verb} from now on: temp files of ended sessions, and what crashed sessions left behind (hourly)."
    yield "Never removed: items in use, other users' files, settings, transcripts, and unique git work."
    yield f"To uninstall: tmpwarden uninstall {agent}. To pause it: tmpwarden off --for 1h"
    yield "To see what was removed: tmpwarden log. To bring it back within 24 hours: tmpwarden undo"
    yield from advice


@click.command()
@click.argument("what", required=False, metavar="[AGENT|timer]", type=_NAMES)
@click.option("-n", "--dry-run", is_flag=True, help="Show the changes without making them.")
@pass_call
def uninstall(call: Call, what: str | None, dry_run: bool) -> Answer:
    """Remove tmpwarden from an agent's settings. Without a name: list where it is installed."""
    from ...setup import apply, timer

    if what is None:
        return _where()
    if not dry_run:
        ask.refuse_agents()
    outcome = timer.uninstall(dry_run=dry_run) if what == "timer" else apply.uninstall(what, dry_run=dry_run)
    paths = [edit.path for edit in outcome.changed]
    data = {"agent": what, "changed": paths, "dry_run": dry_run}
    if dry_run:
        return Answer(data | {"diff": [edit.diff() for edit in outcome.changed]}, lambda: _diffs(outcome.changed))

    def text() -> Iterator[str]:
        for edit in outcome.changed:
            yield f"{'restored' if edit.is_former else 'removed tmpwarden from'} {shown(edit.path)}"
        if not paths:
            yield f"tmpwarden was not in the settings of {what}."

    return Answer(data, text)


def _where() -> Answer:
    """What `uninstall NAME` could be called with."""
    from ...setup.apply import table
    from ...setup.timer import state

    states = [seen for seen in table() if seen.state != "absent"]
    scheduled = state()
    agents = [{"agent": seen.id} | documents.of(seen, "name", "state", "settings", "guard") for seen in states]

    def text() -> Iterator[str]:
        for seen in states:
            yield f"{seen.id:<9} {seen.name}: {seen.state}"
            yield f"  {shown(seen.settings)}"
        if scheduled.startswith("installed"):
            yield f"{'timer':<9} {scheduled}"
        elif not states:
            yield "tmpwarden is not installed for any agent."
            return
        yield "To remove one: tmpwarden uninstall NAME. To remove all: tmpwarden setup --remove"

    return Answer({"agents": agents, "timer": scheduled}, text)
