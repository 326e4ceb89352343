"""Install and uninstall: plan the edits, back up, write, remember; take it out again byte for byte."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .. import __version__
from ..errors import BrokenSettings
from ..lazy_dataclass import dataclass
from ..oskit.files import places
from . import record, runtime
from .edits import Edit, read, resolved
from .targets import TARGETS, Target, Wish, find


@dataclass(frozen=True, slots=True)
class Applied:
    """What was, or with a dry run would be, changed."""

    target: Target
    edits: tuple[Edit, ...]
    advice: tuple[str, ...] = ()
    runtime: str = ""

    @property
    def changed(self) -> tuple[Edit, ...]:
        return tuple(edit for edit in self.edits if edit.changes)


@dataclass(frozen=True, slots=True)
class AgentLine:
    """One line of the table of agents."""

    id: str
    name: str
    state: str  # absent, installed, untrusted, outdated, twice
    settings: str
    guard: bool


def install(name: str, *, guard: bool = False, observe: bool = False, dry_run: bool = False) -> Applied:
    target = find(name)
    wanted = runtime.planned()
    tools, complaint = _guarded(dry_run) if guard else ((), "")
    wish = Wish(wanted, guard, observe, tools)
    edits = target.edits(wish)  # reads and checks everything before anything is written
    if not dry_run:
        runtime.put(wanted)
        edits = target.edits(wish)  # that took a second, and a running agent writes its settings too
        _write(target, edits, guard, observe)
        remove_unused_runtimes()
    return Applied(target, tuple(edits), (*target.advice(), *filter(None, [complaint])), wanted.directory)


def _guarded(dry_run: bool) -> tuple[tuple[str, ...], str]:
    """The tools that rules name, and what is wrong with the guard's config.

    It is compiled now: a mistake in a first configuration is told here, and by the first session.
    """
    from ..guard.rules.compiled import cache_path, config_files, rules_in_force  # who only looks pays for none of it
    from ..guard.rules.config import load
    from ..guard.rules.health import complaint_now

    files = config_files(places.config_dir())
    complaint = complaint_now(places.config_dir(), places.state_dir())
    rules = load(files).rules if dry_run else rules_in_force(files, cache_path(places.state_dir())).rules
    return tuple(name for rule in rules.rules_about_tools() for name in rule.patterns), complaint


def uninstall(name: str, *, dry_run: bool = False) -> Applied:
    target = find(name)
    known = record.files_of(target.id)
    edits = [_restored(edit, known) for edit in target.edits(Wish(None))]
    others = set(map(resolved, known)) - {edit.path for edit in edits}
    edits += [_restored(target.edit(path, Wish(None)), known) for path in sorted(others)]
    if not dry_run:
        for edit in edits:
            if edit.changes:
                record.put(edit)
        record.forget(target.id)
        remove_unused_runtimes()
    return Applied(target, tuple(edits))


def table() -> tuple[AgentLine, ...]:
    """The agents found on this machine and where tmpwarden stands with each."""
    current = runtime.planned()
    return tuple(_seen(target, current) for target in TARGETS if target.is_here())


def _seen(target: Target, current: runtime.Runtime) -> AgentLine:
    try:
        state = target.state(current)
    except BrokenSettings:
        state = "broken settings"
    known = record.load(target.id)
    return AgentLine(
        target.id, target.name, state, target.settings(), bool(known and known.guard and state != "absent")
    )


def _write(target: Target, edits: list[Edit], guard: bool, observe: bool) -> None:
    files = record.files_of(target.id)
    bare = {edit.path: edit.after for edit in target.edits(Wish(None))}  # a file that is not among them is all ours
    for edit in edits:
        if edit.changes:
            files[edit.path] = record.apply(edit, files.get(edit.path), bare.get(edit.path))
    record.save(record.Record(target.id, __version__, guard, observe, tuple(files.values())))


def _restored(edit: Edit, known: dict[str, record.Changed]) -> Edit:
    """If nobody touched the file since, its old bytes; else only our part goes."""
    ours = known.get(edit.path)
    careful = Edit(edit.path, edit.before, edit.after, is_former=False)
    if ours is None or record.digest(edit.before) != ours.digest:
        return careful
    former = read(ours.backup) if ours.backup else None
    if ours.backup and former is None:
        return careful  # the backup is gone
    return Edit(edit.path, edit.before, former)


def remove_unused_runtimes() -> tuple[str, ...]:
    """Take away copies of ourselves that no hook and no timer names any more; which ones went."""
    base = places.data_dir()
    try:
        versions = [name for name in os.listdir(base) if os.path.isfile(f"{base}/{name}/tmpwarden/hooks/run.py")]
    except OSError:
        return ()
    try:
        in_use = "\n".join(_everything_installed())
    except BrokenSettings:
        return ()  # what cannot be read may name any of them
    gone = [f"{base}/{name}" for name in sorted(versions) if f"{base}/{name}/" not in in_use]
    for path in gone:
        record.remove(path)
    if gone and not os.listdir(base):
        record.remove(base)
    return tuple(gone)


def _everything_installed() -> Iterator[str]:
    """Every text that may name a runtime, broken settings included. Raises BrokenSettings: it could not be read."""
    for target in TARGETS:
        yield (read(target.settings()) or b"").decode("utf-8", "replace")
        try:
            yield from target.commands()
        except BrokenSettings:
            continue
    known = record.load("timer")
    for changed in known.files if known else ():
        yield (read(changed.path) or b"").decode("utf-8", "replace")
    if known is not None:
        yield f"{places.data_dir()}/{known.version}/"
