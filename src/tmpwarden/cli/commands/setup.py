"""`tmpwarden setup`: everything for the agents found here, with one diff and one question."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ...agent_facts import FACTS
from ...errors import BadArgument, WouldAsk
from ...oskit.files import places
from ...text import plural, shown
from .. import ask
from ..call import Answer, Call
from ..group import pass_call
from .completion import source_of

if TYPE_CHECKING:
    from ...setup.everything import SetupPlan


@click.command()
@click.option("--agent", "agents", multiple=True, type=click.Choice(list(FACTS)), help="Only this one; repeatable.")
@click.option("--guard", is_flag=True, help="Also ask before destructive commands outside the scratch.")
@click.option("--no-timer", is_flag=True, help="Without the hourly timer.")
@click.option("-n", "--dry-run", is_flag=True, help="Show the change and make none.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--remove", is_flag=True, help="Take all of it out again: every file as it was.")
@click.option("--all", "with_state", is_flag=True, help="With --remove: also our own logs, history and notes.")
@pass_call
def command(
    call: Call,
    agents: tuple[str, ...],
    guard: bool,
    no_timer: bool,
    dry_run: bool,
    yes: bool,
    remove: bool,
    with_state: bool,
) -> Answer:
    """Hooks, temp directories, timer and completion for the agents found here: one diff, one question."""
    from ...setup import everything
    from ...setup.shells import shell_of

    if with_state and not remove:
        raise BadArgument("--all goes with --remove")
    if remove and not dry_run:
        ask.refuse_agents()
    state = places.state_dir() if with_state and os.path.isdir(places.state_dir()) else ""
    if state:
        everything.refuse_to_lose_what_waits()
    shell = shell_of(os.environ.get("SHELL", ""))
    own = shutil.which("tmpwarden") or os.path.abspath(sys.argv[0])
    text = "" if remove else source_of(click.get_current_context(), shell)
    wanted = everything.Wanted(agents, guard, not no_timer, shell, own, text)
    made = everything.removal() if remove else everything.plan(wanted)
    data = _data(made, dry_run=dry_run, remove=remove) | ({"state": state} if state else {})
    if not dry_run and not made.changes:
        everything.remove_unused_runtimes()  # those that a session named when the last setup ran
    if dry_run or not (made.changes or state):
        return Answer(data, lambda: _shown(made, state))
    if not yes:
        if not call.can_ask:
            raise WouldAsk()
        ask.say(_shown(made, state))
        if not ask.yes(f"Make {plural(len(made.changes) + bool(state), 'change')}?"):
            return Answer(data | {"done": False}, lambda: ["Nothing was changed."])
    if remove:
        everything.take_out()
        if state:
            everything.take_out_state()
    else:
        everything.carry_out(made, wanted)
    return Answer(data | {"done": True}, lambda: _told(made, remove, state))


def _data(made: SetupPlan, *, dry_run: bool, remove: bool) -> dict[str, object]:
    changes = [
        {"path": change.edit.path, "kind": change.kind, "agent": change.agent or None, "diff": change.edit.diff()}
        for change in made.changes
    ]
    temp = {way.agent: {"by": way.by, "directory": way.directory or None} for way in made.ways}
    return {"changes": changes, "remaining": list(made.remaining), "temp": temp, "dry_run": dry_run, "remove": remove}


def _shown(made: SetupPlan, state: str) -> Iterator[str]:
    for change in made.changes:
        yield change.edit.diff()
    if state:
        yield f"Removes {shown(state)}: logs, history, notes."
    elif not made.changes:
        yield "Nothing is left to change."
    if len(made.changes) > 1:  # a diff of many screens has scrolled by
        yield f"In all, {plural(len(made.changes), 'change')}:"
        names = {target.id: target.name for target in made.agents}
        for change in made.changes:
            yield f"  {shown(change.edit.path)}{f': {names[change.agent]}' if change.agent in names else ''}"
    yield from made.remaining


def _told(made: SetupPlan, remove: bool, state: str) -> Iterator[str]:
    if state:
        yield f"Removed {shown(state)}. Your config.toml and what was rescued stay."
    if remove:
        yield f"tmpwarden is out of {plural(len(made.changes), 'file')}; each is as it was before."
        return
    for target in made.agents:
        way = next((way for way in made.ways if way.agent == target.id), None)
        if target.id not in made.refused and way is not None:
            by = "run" if way.by == "shell" and not any(map(shutil.which, target.programs)) else way.by
            yield f"{target.name}: hooks; {_WAYS[by].format(shown(way.directory) or target.programs[0])}"
    kinds = {change.kind for change in made.changes}
    if "timer" in kinds:
        yield "Every hour what ended sessions left is cleared."
    if "shell" in kinds:
        yield "Open a new shell for the shell functions."
    yield from made.remaining
    yield "To undo all of it: `tmpwarden setup --remove`."


_WAYS = {
    "hook": "each session's commands get a temp directory of their own.",
    "settings": "its commands get TMPDIR={0}.",
    "run": "`tmpwarden run -- {0}` gives a session a temp directory of its own.",
    "shell": "started by its shell function, each session gets a temp directory of its own.",
}
