"""`tmpwarden setup`: everything for the agents found here, with one summary and one question."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ...agent_facts import FACTS
from ...catalogue.keys import KEYS
from ...errors import BadArgument, WouldAsk
from ...lazy_dataclass import dataclass, replace
from ...oskit.files import places
from ...sweep.store import ahead
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

_LETTERS = ("  y: make these changes", "  d: show the diff", "  e: edit the choice")
_OBSERVE = "  o: yes, but remove nothing yet, only log it (recommended for the first week)"
_LIMIT, _UNKNOWN = "brake.ulimit", "unknown.max_age"  # what setup may set in config.toml
_OFFERED = "7d"  # as the age of what is not recognised


@click.command()
@click.argument("what", required=False, metavar="[AGENT|timer]", type=click.Choice([*FACTS, "timer"]))
@click.option(
    "--agent", "agents", multiple=True, type=click.Choice(list(FACTS)), help="Only this agent; may be repeated."
)
@click.option("--guard", is_flag=True, help="Also check each command first: destructive ones are asked about.")
@click.option("--observe/--no-observe", default=None, help="Remove nothing yet: hooks only log what they would remove.")
@click.option("--include-backlog", is_flag=True, help="Automatic clean-up may also remove items older than this setup.")
@click.option(
    "--max-file",
    metavar="SIZE",
    help="No command of an agent may write a larger file, such as 50G (docs/processes.md); off: no limit.",
)
@click.option(
    "--unknown",
    metavar="DURATION",
    help="Automatic clean-up also moves items it does not recognise to quarantine, once unused for DURATION,"
    " such as 7d; off: never.",
)
@click.option("--no-timer", is_flag=True, help="Do not schedule the hourly clean-up.")
@click.option("--system", is_flag=True, help="With timer, as root: one timer for all users of this machine.")
@click.option("--metrics", metavar="DIR", help="With timer --system: write DIR/tmpwarden.prom for node_exporter.")
@click.option("-n", "--dry-run", is_flag=True, help="Show the changes without making them.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--remove", is_flag=True, help="Undo the setup: each file gets its former content back.")
@click.option("--all", "with_state", is_flag=True, help="With --remove: also delete tmpwarden's own logs and history.")
@pass_call
def command(call: Call, **typed: Any) -> Answer:
    """Set up every agent found: hooks, temp directory, hourly clean-up, shell completion. Shows a summary and asks."""
    options = _Options(**typed)
    from ...setup import everything
    from ...setup.shells import shell_of

    if options.with_state and not options.remove:
        raise BadArgument("--all needs --remove")
    install.check_metrics(options.metrics, options.what, options.system)
    if options.max_file not in (None, "off"):
        byte_size(options.max_file)  # refused before anything is changed
    if options.unknown not in (None, "off"):
        _check_age(options.unknown)
    if options.what == "timer" and not options.remove:
        must_ask = call.can_ask and not options.yes and not options.dry_run
        return install.timer(options.system, options.metrics or "", options.dry_run, must_ask)
    if options.remove:
        if not options.dry_run:
            ask.refuse_agents()
        return _removal(call, dry_run=options.dry_run, yes=options.yes, with_state=options.with_state)
    shell = shell_of(os.environ.get("SHELL", ""))
    own = shutil.which("tmpwarden") or os.path.abspath(sys.argv[0])
    text = source_of(click.get_current_context(), shell)
    chosen = (*options.agents, *([options.what] if options.what else []))
    wanted = everything.Wanted(
        agents=chosen,
        guard=options.guard,
        observe=options.observe,
        timer=not options.no_timer,
        shell=shell,
        tmpwarden=own,
        completion=text,
    )
    settings = {_LIMIT: options.max_file, _UNKNOWN: options.unknown}
    chosen_settings = {key: value for key, value in settings.items() if value is not None}
    plan = everything.plan(wanted)
    if not options.dry_run and not plan.changes:
        everything.remove_unused_runtimes()  # those that a session named when the last setup ran
    if options.dry_run or not plan.changes:
        if options.include_backlog and not options.dry_run:
            _include_backlog()
        if not options.dry_run:
            _set(call, chosen_settings)
        data = _data(plan, dry_run=options.dry_run, remove=False) | {"settings": chosen_settings}
        return Answer(data, lambda: _diffs(plan, settings=chosen_settings))
    if not options.yes:
        if not call.can_ask:
            raise WouldAsk()
        agreed = _ask(plan, wanted, chosen_settings)
        if agreed is None:
            return Answer(_data(plan, dry_run=False, remove=False) | {"done": False}, lambda: ["Nothing was changed."])
        plan, wanted = agreed
    everything.carry_out(plan, wanted)
    ahead.make_for(())
    _set(call, chosen_settings)
    if options.include_backlog:
        _include_backlog()
    data = _data(plan, dry_run=False, remove=False) | {"settings": chosen_settings, "done": True}
    return Answer(data, lambda: [*_lines(plan, wanted), *_told_settings(chosen_settings)])


@dataclass(frozen=True, slots=True)
class _Options:
    """What was typed: one field for each option, under click's name for it."""

    what: str | None
    agents: tuple[str, ...]
    guard: bool
    observe: bool | None
    include_backlog: bool
    max_file: str | None
    unknown: str | None
    no_timer: bool
    system: bool
    metrics: str | None
    dry_run: bool
    yes: bool
    remove: bool
    with_state: bool


def _check_age(age: str) -> None:
    try:
        KEYS[_UNKNOWN].decode(age)
    except ValueError as wrong:
        raise BadArgument(f"--unknown: {wrong}") from None


def _set(call: Call, settings: dict[str, str]) -> None:
    from .config import change

    for key, value in settings.items():
        change(call, key, None if value == "off" else (value,))


def _ask(plan: SetupPlan, wanted: Wanted, settings: dict[str, str]) -> tuple[SetupPlan, Wanted] | None:
    """The plan that was agreed to. `d` shows the diff, `e` edits the choice, `o` only observes at first, `u` (which
    changes `settings`) adds what is not recognised, or leaves it out again."""
    from ...setup import everything

    ask.say(_summary(plan, wanted, settings))
    while True:
        offers = [*_LETTERS, *([] if wanted.observe else [_OBSERVE])]
        offers += [] if _is_unknown_locked() else [_offer_of_unknown(settings)]
        ask.say(offers)
        letters = "/".join(
            ["y/N", "d", "e", *([] if wanted.observe else ["o"]), *([] if _is_unknown_locked() else ["u"])]
        )
        answer = ask.line(f"Make {plural(len(plan.changes), 'change')}? [{letters}] ")
        if answer in ("y", "yes"):
            return plan, wanted
        if answer == "o" and not wanted.observe:
            wanted = replace(wanted, observe=True)
            return everything.plan(wanted), wanted
        if answer == "d":
            ask.say(_diffs(plan))
        elif answer == "u" and not _is_unknown_locked():
            settings[_UNKNOWN] = "off" if _unknown_age(settings) else _OFFERED
            ask.say([*_told_unknown(settings), ""])
        elif answer == "e":
            wanted = _edit(plan, wanted)
            plan = everything.plan(wanted)
            ask.say(_summary(plan, wanted, settings))
            if not plan.changes:
                return None
        else:
            return None


def _edit(plan: SetupPlan, wanted: Wanted) -> Wanted:
    """One line of words: the agents, and what else is wanted."""
    now = [target.id for target in plan.agents]
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
    plan = everything.removal()
    data = _data(plan, dry_run=dry_run, remove=True) | ({"state": state} if state else {})
    if dry_run or not (plan.changes or state):
        return Answer(data, lambda: _diffs(plan, state))
    if not yes:
        if not call.can_ask:
            raise WouldAsk()
        ask.say(_diffs(plan, state))
        if not ask.yes(f"Make {plural(len(plan.changes) + bool(state), 'change')}?"):
            return Answer(data | {"done": False}, lambda: ["Nothing was changed."])
    everything.take_out()
    if state:
        everything.take_out_state()
    return Answer(data | {"done": True}, lambda: _removal_lines(plan, state))


def _data(plan: SetupPlan, *, dry_run: bool, remove: bool) -> dict[str, object]:
    changes = [
        {"path": change.edit.path, "kind": change.kind, "agent": change.agent or None, "diff": change.edit.diff()}
        for change in plan.changes
    ]
    temp = {way.agent: {"by": way.by, "directory": way.directory or None} for way in plan.ways}
    return {"changes": changes, "remaining": list(plan.remaining), "temp": temp, "dry_run": dry_run, "remove": remove}


def _summary(plan: SetupPlan, wanted: Wanted, settings: dict[str, str]) -> Iterator[str]:
    """What would change in which files, what is removed from then on, and how to take it back."""
    from ...catalogue.settings import load_settings

    if not plan.agents:
        yield f"No agent was found. tmpwarden knows {', '.join(FACTS)}."
        yield "Only this would be set up:"
    elif plan.changes:
        yield f"tmpwarden changes {plural(len({change.edit.path for change in plan.changes}), 'file')}:"
    names = {target.id: target.name for target in plan.agents}
    groups: dict[str, dict[str, list[str]]] = {}
    for change in plan.changes:
        files = groups.setdefault(names.get(change.agent, "All agents"), {})
        files.setdefault(_KINDS[change.kind], []).append(change.edit.path)
    for name, files in groups.items():
        for kind, paths in files.items():
            yield f"  {name}: {kind}"
            yield from (f"    {shown(path)}" for path in dict.fromkeys(paths))
    if plan.agents:
        keep = duration(load_settings().quarantine_s)
        yield ""
        if wanted.observe:
            yield "Removed automatically: nothing. Hooks and timer only log what they would remove."
            yield "To see it: tmpwarden log --observed"
        else:
            yield "Removed automatically: temp files of ended sessions, and what crashed sessions left behind."
            yield from _told_unknown(settings)
        yield "Never removed: items in use, other users' files, settings, transcripts, and unique git work."
        yield f"To bring removed items back within {keep}: tmpwarden undo"
        yield "To undo this setup: tmpwarden setup --remove"
    if plan.remaining:
        yield ""
        yield "Not done by this setup:"
        yield from (f"  {sentence}" for sentence in plan.remaining)
    yield ""


def _unknown_age(settings: dict[str, str]) -> str:
    """How long an item that is not recognised must be unused, as chosen here or set already; "": it is never moved."""
    from ...catalogue.settings import load_settings

    now_s = load_settings().unknown_max_age_s
    limit = settings.get(_UNKNOWN, duration(now_s) if now_s else "")
    return "" if limit == "off" else limit


def _is_unknown_locked() -> bool:
    from ...catalogue.policy import is_locked
    from ...catalogue.settings import load_settings

    return is_locked(_UNKNOWN, load_settings().locks)


def _offer_of_unknown(settings: dict[str, str]) -> str:
    if _unknown_age(settings):
        return "  u: leave what tmpwarden does not recognise alone"
    return f"  u: also quarantine what tmpwarden does not recognise, once unused for {_OFFERED}"


def _told_unknown(settings: dict[str, str]) -> Iterator[str]:
    if age := _unknown_age(settings):
        yield f"Moved to quarantine for 7 days: temp files that tmpwarden does not recognise, once unused for {age}."
    else:
        yield "Left alone: temp files that tmpwarden does not recognise."


def _told_settings(settings: dict[str, str]) -> Iterator[str]:
    for key, value in settings.items():
        yield f"config.toml: {key} is back to its default" if value == "off" else f"config.toml: {key} = {value}"


def _diffs(plan: SetupPlan, state: str = "", settings: dict[str, str] | None = None) -> Iterator[str]:
    for change in plan.changes:
        yield change.edit.diff()
    if state:
        yield f"Removes {shown(state)}: logs, history, notes."
    elif not plan.changes and not settings:
        yield (
            "Everything is set up already; there is nothing to change."
            if plan.agents
            else "There is nothing to change."
        )
    if len(plan.changes) > 1:  # a diff of many screens has scrolled by
        yield f"In all, {plural(len(plan.changes), 'change')}:"
        names = {target.id: target.name for target in plan.agents}
        for change in plan.changes:
            yield f"  {shown(change.edit.path)}{f': {names[change.agent]}' if change.agent in names else ''}"
    yield from _told_settings(settings or {})
    yield from plan.remaining


def _removal_lines(plan: SetupPlan, state: str) -> Iterator[str]:
    if state:
        yield f"Removed {shown(state)}. Your config.toml and rescued work are still there."
    yield f"tmpwarden was removed from {plural(len(plan.changes), 'file')}; each is as it was before."


def _lines(plan: SetupPlan, wanted: Wanted) -> Iterator[str]:
    for target in plan.agents:
        way = next((way for way in plan.ways if way.agent == target.id), None)
        if target.id not in plan.refused and way is not None:
            by = "run" if way.by == "shell" and not any(map(shutil.which, target.programs)) else way.by
            yield f"{target.name}: hooks; {_WAYS[by].format(shown(way.directory) or target.programs[0])}"
    kinds = {change.kind for change in plan.changes}
    if "timer" in kinds:
        yield "Every hour, what would be removed is logged." if wanted.observe else "Clean-up runs every hour."
    if "shell" in kinds:
        yield "Open a new shell to use the new shell functions."
    yield from plan.remaining
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
