"""`tmpwarden setup`: hooks, temp, shell functions, timer and completion in one plan, and all of it out again."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence

from .. import __version__
from ..errors import BrokenSettings, SetupFailed, StillInQuarantine, TmpwardenError
from ..lazy_dataclass import dataclass
from ..leases import static_temp
from ..oskit.files import own_files, places
from ..sweep.store import quarantine
from ..sweep.store.labels import restorable, still_there
from ..sweep.weigh.unattended import refusal
from ..text import plural
from . import apply, record, schedulers, shells, temp, timer
from .apply import remove_unused_runtimes as remove_unused_runtimes
from .edits import Edit, read, resolved
from .targets import TARGETS, Target, find

TARGET = "setup"  # the record of files that are neither an agent's hooks nor the timer's
_TMPFILES = "user-tmpfiles.d/tmpwarden.conf"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller knows: which agents, and what its own command is called."""

    agents: tuple[str, ...] = ()  # empty: all that are here
    guard: bool = False
    observe: bool | None = None  # None: as it was asked for before
    timer: bool = True
    shell: str = "bash"
    tmpwarden: str = "tmpwarden"
    completion: str = ""  # the text of the shell's completion


@dataclass(frozen=True, slots=True)
class Change:
    kind: str  # hooks, temp, shell, timer, completion
    edit: Edit
    agent: str = ""


@dataclass(frozen=True, slots=True)
class SetupPlan:
    agents: tuple[Target, ...]
    changes: tuple[Change, ...]
    remaining: tuple[str, ...]  # what a person must still do
    directories: tuple[str, ...] = ()  # the static temp directories
    ways: tuple[temp.Way, ...] = ()
    refused: frozenset[str] = frozenset()  # agents whose settings are not ours to change


def plan(wanted: Wanted) -> SetupPlan:
    """Everything that would change; nothing is written. Raises UnknownAgent."""
    targets = _chosen(wanted.agents)
    changes: list[Change] = []
    remaining: list[str] = []
    refused: set[str] = set()
    for target in targets:
        try:
            change = apply.install(target.id, dry_run=True, **_flags(target, wanted))
        except (BrokenSettings, SetupFailed) as error:
            refused.add(target.id)
            # the others are set up all the same, so that the hint of an install of this one alone would not be true
            hint = (
                "repair the file, then run `tmpwarden setup` again" if error.hint == BrokenSettings.hint else error.hint
            )
            remaining.append(f"{target.name} was left out: {error}" + (f" ({hint})" if hint else ""))
            continue
        changes += [Change("hooks", edit, target.id) for edit in change.changed]
        remaining += change.advice
    scheduled, complaint = _timer(wanted, observe=(observe := _observes(targets, wanted)))
    if observe and timer.state() == timer.OF_ROOT:
        remaining.append("root's timer still removes items; to stop it: tmpwarden config set periodic.enabled false")
    no_end = refusal()
    ways = () if no_end else _ways(targets, has_timer=not complaint)
    if no_end:
        remaining.append(f"Sessions get no temp directory of their own, and nothing is removed automatically: {no_end}")
    for way in ways:
        changes += [Change("temp", edit, way.agent) for edit in way.edits if edit.changes]
        remaining += way.remaining
    directories = tuple(way.directory for way in ways if way.directory)
    changes += [Change("temp", edit) for edit in _tmpfiles(directories) if edit.changes]
    changes += _shell(ways, wanted, remaining)
    changes += [Change("timer", edit) for edit in scheduled if edit.changes]
    changes += [Change("completion", edit) for edit in _completion(wanted) if edit.changes]
    remaining += [complaint] if complaint else []
    return SetupPlan(
        targets,
        tuple(changes),
        remaining=tuple(dict.fromkeys(remaining)),
        directories=directories,
        ways=ways,
        refused=frozenset(refused),
    )


def carry_out(plan_: SetupPlan, wanted: Wanted) -> None:
    """Do what the plan says. Files that changed since it was made stop it: raises SetupFailed."""
    for target in plan_.agents:
        if target.id not in plan_.refused:
            apply.install(target.id, **_flags(target, wanted))
    state = places.state_dir()
    if plan_.directories:
        record.put(_listed(state, plan_.directories))
        static_temp.make(state)  # before any setting names them
    _write([change.edit for change in plan_.changes if change.kind in ("temp", "shell", "completion")])
    if any(change.kind == "timer" for change in plan_.changes):
        timer.install(observe=_observes(plan_.agents, wanted))


def removal() -> SetupPlan:
    """Everything of ours, out again; also where nothing but the files themselves tells that it is ours."""
    changes, remaining = [], []
    for target in TARGETS:
        try:
            if _is_in(target):
                change = apply.uninstall(target.id, dry_run=True)
                changes += [Change("hooks", edit, target.id) for edit in change.changed]
        except BrokenSettings as error:
            remaining.append(str(error))
    changes += [Change("temp", edit) for edit in _former_edits() if edit.changes]
    if timer.is_there():
        changes += [Change("timer", edit) for edit in timer.uninstall(dry_run=True).changed]
    return SetupPlan((), tuple(changes), tuple(remaining))


def take_out() -> None:
    state = places.state_dir()
    for target in TARGETS:
        with contextlib.suppress(BrokenSettings):  # told by the plan
            if _is_in(target):
                apply.uninstall(target.id)
    for edit in _former_edits():
        if edit.changes:
            record.put(edit)
    record.forget(TARGET)
    for path in static_temp.directories(state):
        own_files.remove_empty_dir(path)  # what is in one goes by its row
    own_files.remove_file(static_temp.list_file(state))
    if timer.is_there():
        timer.uninstall()


def refuse_to_lose_what_waits() -> None:
    """Raises StillInQuarantine: without our state nobody would know where those items were."""
    state = places.state_dir()
    home = quarantine.of_home(state)
    count = sum(1 for _ in still_there(restorable(state).values(), state))
    if count or (os.path.isdir(home) and os.listdir(home)):
        raise StillInQuarantine(plural(max(count, 1), "item"))


def take_out_state() -> str:
    """Logs, history and notes, too. The user's own configuration and what was rescued stay. Which directory went."""
    refuse_to_lose_what_waits()
    record.remove(state := places.state_dir())
    return state


def _is_in(target: Target) -> bool:
    return record.load(target.id) is not None or any(True for _ in target.commands())


def _former_edits() -> list[Edit]:
    """All but hooks and timer. Without our records (the state was removed) our lines tell themselves what is ours."""
    known = record.files_of(TARGET)
    edits = [_former(changed) for changed in known.values()]
    shared = [os.path.join(target.home(), target.facts["temp_file"]) for target in TARGETS if target.facts["temp_file"]]
    shared += map(shells.start_file, shells.SHELLS)
    own = [*map(shells.completion_file, shells.SHELLS), f"{os.path.dirname(places.config_dir())}/{_TMPFILES}"]
    for path in dict.fromkeys(resolved(path) for path in (*shared, *own) if path):
        before = None if path in known else read(path)
        if before is not None and (path in own or shells.FIRST.encode() in before):
            edits.append(Edit(path, before, _without(before) or None, is_former=False))
    return edits


def _chosen(names: Sequence[str]) -> tuple[Target, ...]:
    if names:
        return tuple(find(name) for name in dict.fromkeys(names))
    return tuple(target for target in TARGETS if target.is_here())


def _flags(target: Target, wanted: Wanted) -> dict[str, bool]:
    """A second setup takes nothing away that an install was asked for."""
    known = record.load(target.id)
    observe = bool(known and known.observe) if wanted.observe is None else wanted.observe
    return {"guard": wanted.guard or bool(known and known.guard), "observe": observe}


def _ways(targets: Sequence[Target], *, has_timer: bool) -> tuple[temp.Way, ...]:
    """A static directory only together with what makes it again after a reboot: user-tmpfiles.d, the timer, or a hook
    at the start of each session, which runs before any command."""
    comes_back = has_timer or _has_user_tmpfiles()
    ways = []
    for target in targets:
        way = temp.way_of(target)
        if way.by == "settings" and not comes_back and target.needs_consent:
            why = f"{target.name}: its temp directory {way.directory} disappears at reboot and nothing recreates it"
            way = temp.Way(target.id, "shell", remaining=(why,))
        ways.append(way)
    return tuple(ways)


def _has_user_tmpfiles() -> bool:
    return bool(shutil.which("systemd-tmpfiles") and schedulers.runtime_dir())


def _tmpfiles(directories: Sequence[str]) -> Iterator[Edit]:
    if not directories or not _has_user_tmpfiles():
        return
    path = os.path.join(os.path.dirname(places.config_dir()), _TMPFILES)
    parents = dict.fromkeys(os.path.dirname(directory) for directory in directories)
    lines = [f"d {directory} 0700 - - -\n" for directory in (*parents, *directories)]
    text = "# tmpwarden: temp directories of agents, created again after a reboot\n" + "".join(lines)
    yield Edit(path, read(path), text.encode())


def _shell(ways: Sequence[temp.Way], wanted: Wanted, remaining: list[str]) -> list[Change]:
    needed = {way.agent for way in ways if way.by == "shell"}
    programs = tuple((program, agent) for program, agent in shells.programs_here() if agent in needed)
    try:
        edit = shells.with_functions(wanted.shell, wanted.tmpwarden, programs)
    except BrokenSettings as error:
        remaining.append(str(error))
        return []
    return [Change("shell", edit)] if edit.changes else []


def _observes(targets: Sequence[Target], wanted: Wanted) -> bool:
    """The timer removes nothing while the hooks of one of these agents only log what they would remove."""
    return bool(wanted.observe) or any(_flags(target, wanted)["observe"] for target in targets)


def _timer(wanted: Wanted, *, observe: bool) -> tuple[tuple[Edit, ...], str]:
    """The timer's files, and why there is none."""
    is_here = (state := timer.state()) == "installed"
    if state == timer.OF_ROOT or (is_here and timer.only_observes() == observe):
        return (), ""
    if not wanted.timer and not is_here:
        return (
            (),
            "No hourly clean-up: hooks clean up when sessions start and end. To add it: tmpwarden setup timer",
        )
    try:
        return timer.install(dry_run=True, observe=observe).changed, ""
    except TmpwardenError as error:
        return (), f"no timer: {error}"


def _completion(wanted: Wanted) -> Iterator[Edit]:
    path = shells.completion_file(wanted.shell)
    if path and wanted.completion:
        before = read(path)
        is_theirs = before is not None and b"tmpwarden" not in before
        if not is_theirs:
            yield Edit(path, before, wanted.completion.encode())


def _listed(state: str, directories: Sequence[str]) -> Edit:
    """Which directories there are, with those of agents that an earlier setup was about."""
    path = static_temp.list_file(state)
    every = dict.fromkeys((*static_temp.directories(state), *directories))
    return Edit(path, read(path), "".join(f"{line}\n" for line in every).encode())


def _write(edits: Sequence[Edit]) -> None:
    files = record.files_of(TARGET)
    for edit in edits:
        files[edit.path] = record.apply(edit, files.get(edit.path), _without(edit.before))
        record.save(record.Record(TARGET, __version__, files=tuple(files.values())))


def _former(changed: record.Changed) -> Edit:
    """The bytes that were there before us if nobody touched the file since; else only our lines go."""
    before = read(changed.path)
    former = read(changed.backup) if changed.backup else None
    if record.digest(before) == changed.digest and (former is not None or changed.backup is None):
        return Edit(changed.path, before, former)
    after = _without(before)
    return Edit(changed.path, before, None if changed.backup is None and not after else after, is_former=False)


def _without(content: bytes | None) -> bytes | None:
    """All but us: lines between marks; a file without them is all ours, or was never ours."""
    if content is None:
        return None
    text = content.decode("utf-8", "surrogateescape")
    if shells.FIRST not in text:
        return None if "tmpwarden" in text.partition("\n")[0] or "_tmpwarden" in text else content
    return shells.without_block(text).encode("utf-8", "surrogateescape")
