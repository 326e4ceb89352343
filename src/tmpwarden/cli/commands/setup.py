"""`tmpwarden setup`: everything for the agents found here, with one summary and one question."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ...agent_facts import FACTS
from ...errors import BadArgument, WouldAsk
from ...lazy_dataclass import replace
from ...oskit.files import places
from ...text import duration, plural, shown
from .. import ask
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import byte_size
from . import install
from .completion import source_of

if TYPE_CHECKING:
    from ...setup.everything import SetupPlan, Wanted

_KINDS = {
    "hooks": "hooks",
    "temp": "temp directory",
    "shell": "shell function",
    "timer": "hourly clean-up",
    "completion": "shell completion",
}

_LETTERS = "d: show the diff; e: edit the choice"
_OBSERVE = "o: yes, but remove nothing yet, only log it (recommended for the first week)"


@click.command()
@click.argument("what", required=False, metavar="[AGENT|timer]", type=click.Choice([*FACTS, "timer"]))
@click.option(
    "--agent", "agents", multiple=True, type=click.Choice(list(FACTS)), help="Only this agent; may be repeated."
)
@click.option("--guard", is_flag=True, help="Also check each command first: destructive ones are asked about.")
@click.option("--observe/--no-observe", default=None, help="Remove nothing yet: hooks only log what they would remove.")
@click.option("--include-backlog", is_flag=True, help="Automatic clean-up may also remove items older than this setup.")
@click.option(
    "--max-file", help="No command of an agent may write a larger file, such as 50G (docs/processes.md); off: no limit."
)
@click.option("--no-timer", is_flag=True, help="Do not schedule the hourly clean-up.")
@click.option("--system", is_flag=True, help="With timer, as root: one timer for all users of this machine.")
@click.option("--metrics", metavar="DIR", help="With timer --system: write DIR/tmpwarden.prom for node_exporter.")
@click.option("-n", "--dry-run", is_flag=True, help="Show the changes without making them.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--remove", is_flag=True, help="Undo the setup: each file gets its former content back.")
@click.option("--all", "with_state", is_flag=True, help="With --remove: also delete tmpwarden's own logs and history.")
@pass_call
def command(
    call: Call,
    what: str | None,
    agents: tuple[str, ...],
    guard: bool,
    observe: bool | None,
    include_backlog: bool,
    max_file: str | None,
    no_timer: bool,
    system: bool,
    metrics: str | None,
    dry_run: bool,
    yes: bool,
    remove: bool,
    with_state: bool,
) -> Answer:
    """Set up every agent found: hooks, temp directory, hourly clean-up, shell completion. Shows a summary and asks."""
    from ...setup import everything
    from ...setup.shells import shell_of

    if with_state and not remove:
        raise BadArgument("--all needs --remove")
    install.check_metrics(metrics, what, system)
    if max_file not in (None, "off"):
        byte_size(max_file)  # refused before anything is changed
    if what == "timer" and not remove:
        return install.timer(system, metrics or "", dry_run, call.can_ask and not yes and not dry_run)
    if remove:
        if not dry_run:
            ask.refuse_agents()
        return _removal(call, dry_run=dry_run, yes=yes, with_state=with_state)
    shell = shell_of(os.environ.get("SHELL", ""))
    own = shutil.which("tmpwarden") or os.path.abspath(sys.argv[0])
    text = source_of(click.get_current_context(), shell)
    chosen = (*agents, *([what] if what else []))
    wanted = everything.Wanted(
        agents=chosen,
        guard=guard,
        observe=observe,
        timer=not no_timer,
        shell=shell,
        tmpwarden=own,
        completion=text,
    )
    made = everything.plan(wanted)
    if not dry_run and not made.changes:
        everything.remove_unused_runtimes()  # those that a session named when the last setup ran
    if dry_run or not made.changes:
        if include_backlog and not dry_run:
            _include_backlog()
        if max_file is not None and not dry_run:
            _limit_files(call, max_file)
        return Answer(_data(made, dry_run=dry_run, remove=False), lambda: _diffs(made))
    if not yes:
        if not call.can_ask:
            raise WouldAsk()
        agreed = _asked(made, wanted)
        if agreed is None:
            return Answer(_data(made, dry_run=False, remove=False) | {"done": False}, lambda: ["Nothing was changed."])
        made, wanted = agreed
    everything.carry_out(made, wanted)
    if max_file is not None:
        _limit_files(call, max_file)
    if include_backlog:
        _include_backlog()
    data = _data(made, dry_run=False, remove=False) | {"done": True}
    return Answer(data, lambda: _told(made, wanted))


def _limit_files(call: Call, size: str) -> None:
    """`[brake] ulimit`, which each start of a session puts before its commands."""
    from .config import change

    change(call, "brake.ulimit", None if size == "off" else (size,))


def _asked(made: SetupPlan, wanted: Wanted) -> tuple[SetupPlan, Wanted] | None:
    """The plan that was agreed to. `d` shows the diff, `e` edits the choice, `o` only observes at first."""
    from ...setup import everything

    ask.say(_summary(made, wanted))
    while True:
        ask.say([_LETTERS if wanted.observe else f"{_LETTERS}; {_OBSERVE}"])
        letters = "y/N/d/e" if wanted.observe else "y/N/d/e/o"
        answer = ask.line(f"Make {plural(len(made.changes), 'change')}? [{letters}] ")
        if answer in ("y", "yes"):
            return made, wanted
        if answer == "o" and not wanted.observe:
            wanted = replace(wanted, observe=True)
            return everything.plan(wanted), wanted
        if answer == "d":
            ask.say(_diffs(made))
        elif answer == "e":
            wanted = _edited(made, wanted)
            made = everything.plan(wanted)
            ask.say(_summary(made, wanted))
            if not made.changes:
                return None
        else:
            return None


def _edited(made: SetupPlan, wanted: Wanted) -> Wanted:
    """One line of words: the agents, and what else is wanted."""
    now = [target.id for target in made.agents]
    now += [
        word for word, is_on in (("timer", wanted.timer), ("guard", wanted.guard), ("observe", wanted.observe)) if is_on
    ]
    known = {*FACTS, "timer", "guard", "observe"}
    while True:
        ask.say([f"Now: {' '.join(now)}", f"Possible: {' '.join([*FACTS, 'timer', 'guard', 'observe'])}"])
        words = ask.line("Set up (Enter: as now): ").replace(",", " ").split() or now
        if not (unknown := [word for word in words if word not in known]):
            break
        ask.say([f"Unknown: {' '.join(map(shown, unknown))}"])
    agents = tuple(word for word in words if word in FACTS)
    return replace(
        wanted,
        agents=agents or wanted.agents,
        timer="timer" in words,
        guard="guard" in words,
        observe="observe" in words if "observe" in words or wanted.observe else wanted.observe,
    )


def _include_backlog() -> None:
    from ...sweep.weigh.consent import give

    give(places.state_dir())


def _removal(call: Call, *, dry_run: bool, yes: bool, with_state: bool) -> Answer:
    from ...setup import everything

    state = places.state_dir() if with_state and os.path.isdir(places.state_dir()) else ""
    if state:
        everything.refuse_to_lose_what_waits()
    made = everything.removal()
    data = _data(made, dry_run=dry_run, remove=True) | ({"state": state} if state else {})
    if dry_run or not (made.changes or state):
        return Answer(data, lambda: _diffs(made, state))
    if not yes:
        if not call.can_ask:
            raise WouldAsk()
        ask.say(_diffs(made, state))
        if not ask.yes(f"Make {plural(len(made.changes) + bool(state), 'change')}?"):
            return Answer(data | {"done": False}, lambda: ["Nothing was changed."])
    everything.take_out()
    if state:
        everything.take_out_state()
    return Answer(data | {"done": True}, lambda: _told_removed(made, state))


def _data(made: SetupPlan, *, dry_run: bool, remove: bool) -> dict[str, object]:
    changes = [
        {"path": change.edit.path, "kind": change.kind, "agent": change.agent or None, "diff": change.edit.diff()}
        for change in made.changes
    ]
    temp = {way.agent: {"by": way.by, "directory": way.directory or None} for way in made.ways}
    return {"changes": changes, "remaining": list(made.remaining), "temp": temp, "dry_run": dry_run, "remove": remove}


def _summary(made: SetupPlan, wanted: Wanted) -> Iterator[str]:
    """What would change in which files, what is removed from then on, and how to take it back."""
    from ...catalogue.settings import load_settings

    if not made.agents:
        yield f"No agent was found. tmpwarden knows {', '.join(FACTS)}."
        yield "Only this would be set up:"
    elif made.changes:
        yield f"tmpwarden changes {plural(len({change.edit.path for change in made.changes}), 'file')}:"
    names = {target.id: target.name for target in made.agents}
    groups: dict[str, dict[str, list[str]]] = {}
    for change in made.changes:
        files = groups.setdefault(names.get(change.agent, "All agents"), {})
        files.setdefault(_KINDS[change.kind], []).append(change.edit.path)
    for name, files in groups.items():
        for kind, paths in files.items():
            yield f"  {name}: {kind}"
            yield from (f"    {shown(path)}" for path in dict.fromkeys(paths))
    if made.agents:
        keep = duration(load_settings().quarantine_s)
        yield ""
        if wanted.observe:
            yield "Removed automatically: nothing. Hooks only log what they would remove (tmpwarden log --observed)."
        else:
            yield "Removed automatically: temp files of ended sessions, and what crashed sessions left behind."
        yield "Never removed: items in use, other users' files, settings, transcripts, and unique git work."
        yield f"To bring removed items back within {keep}: tmpwarden undo"
        yield "To undo this setup: tmpwarden setup --remove"
    if made.remaining:
        yield ""
        yield "Not done by this setup:"
        yield from (f"  {sentence}" for sentence in made.remaining)
    yield ""


def _diffs(made: SetupPlan, state: str = "") -> Iterator[str]:
    for change in made.changes:
        yield change.edit.diff()
    if state:
        yield f"Removes {shown(state)}: logs, history, notes."
    elif not made.changes:
        yield (
            "Everything is set up already; there is nothing to change."
            if made.agents
            else "There is nothing to change."
        )
    if len(made.changes) > 1:  # a diff of many screens has scrolled by
        yield f"In all, {plural(len(made.changes), 'change')}:"
        names = {target.id: target.name for target in made.agents}
        for change in made.changes:
            yield f"  {shown(change.edit.path)}{f': {names[change.agent]}' if change.agent in names else ''}"
    yield from made.remaining


def _told_removed(made: SetupPlan, state: str) -> Iterator[str]:
    if state:
        yield f"Removed {shown(state)}. Your config.toml and rescued work are still there."
    yield f"tmpwarden was removed from {plural(len(made.changes), 'file')}; each is as it was before."


def _told(made: SetupPlan, wanted: Wanted) -> Iterator[str]:
    for target in made.agents:
        way = next((way for way in made.ways if way.agent == target.id), None)
        if target.id not in made.refused and way is not None:
            by = "run" if way.by == "shell" and not any(map(shutil.which, target.programs)) else way.by
            yield f"{target.name}: hooks; {_WAYS[by].format(shown(way.directory) or target.programs[0])}"
    kinds = {change.kind for change in made.changes}
    if "timer" in kinds:
        yield "Clean-up runs every hour."
    if "shell" in kinds:
        yield "Open a new shell to use the new shell functions."
    yield from made.remaining
    if wanted.observe:
        yield "Nothing is removed yet. To see what would be: tmpwarden log --observed"
        yield "To start removing, for example after a week: tmpwarden setup --no-observe"
    yield "To undo the setup: tmpwarden setup --remove"


_WAYS = {
    "hook": "each session gets its own temp directory.",
    "settings": "its commands use TMPDIR={0}.",
    "run": "start it as `tmpwarden run -- {0}` to give a session its own temp directory.",
    "shell": "each session started in a new shell gets its own temp directory.",
}
