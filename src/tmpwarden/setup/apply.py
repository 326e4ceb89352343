"""Install and uninstall: plan the edits, back up, write, remember; take it out again byte for byte."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from .. import __version__
from ..agent_facts import FACTS
from ..catalogue.load import load
from ..errors import BrokenSettings, TmpwardenError
from ..lazy_dataclass import dataclass
from ..lifecycle.living import older_than
from ..oskit.files import atomic, own_files, places
from ..oskit.proc.namespaces import MountTable, boot_id
from . import record, runtime
from .edits import Edit, read, resolved
from .targets import TARGETS, Target, Wish, find

_UNNAMED = (
    "unnamed"  # in a copy that no settings name any more: the boot, and the nanoseconds since, when that was seen
)
_SINCE_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


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
    tools, complaint = _guarded(name, dry_run) if guard else ((), "")
    wish = Wish(wanted, guard, observe, tools)
    edits = target.edits(wish)  # reads and checks everything before anything is written
    if not dry_run:
        runtime.put(wanted)
        _name_again()
        edits = target.edits(wish)  # that took a second, and a running agent writes its settings too
        _write(target, edits, guard, observe)
        remove_unused_runtimes()
    return Applied(target, tuple(edits), (*target.advice(), *filter(None, [complaint])), wanted.directory)


def _guarded(name: str, dry_run: bool) -> tuple[tuple[str, ...], str]:
    """The tools that rules name or that `never` is about, and what is wrong with the guard's config.

    It is compiled now: a mistake in a first configuration is told here, and by the first session.
    """
    from ..guard.rules.compiled import cache_path, config_files, rules_in_force  # who only looks pays for none of it
    from ..guard.rules.config import load
    from ..guard.rules.verify import complaint_now

    files = config_files(places.config_dir())
    complaint = complaint_now(places.config_dir(), places.state_dir())
    rules = load(files).rules if dry_run else rules_in_force(files, cache_path(places.state_dir())).rules
    patterns = [pattern for rule in rules.rules_about_tools() for pattern in rule.patterns]
    if (rules.never or rules.redirect_tmp) and name in FACTS:
        patterns += [tool for tool, kind in FACTS[name]["tools"].items() if kind in ("search", "list")]
    return tuple(dict.fromkeys(patterns)), complaint


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
    return AgentLine(target.id, target.name, state, target.settings(), is_guarded(target.id) and state != "absent")


def is_guarded(name: str) -> bool:
    """Whether its hooks, as we wrote them, have a guard."""
    known = record.load(name)
    return bool(known and known.guard)


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
    """Take away copies of ourselves that no hook and no timer names any more; which ones went.

    A session reads its hooks when it starts: as long as one may live that is older than the change, the copy that its
    hooks name stays, or its guard would be silent. Where the user took out all of us, all copies go."""
    try:
        versions, in_use = _versions(), "\n".join(_everything_installed())
    except BrokenSettings:
        return ()  # what cannot be read may name any of them
    unnamed = [path for path in versions if f"{path}/" not in in_use]
    removed = [path for path in unnamed if len(unnamed) == len(versions) or not _may_be_named(path)]
    for path in removed:
        record.remove(path)
    base = places.data_dir()
    if removed and not os.listdir(base):
        record.remove(base)
    return tuple(removed)


def _versions() -> list[str]:
    base = places.data_dir()
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return []
    return [f"{base}/{name}" for name in names if os.path.isfile(f"{base}/{name}/tmpwarden/hooks/run.py")]


def _may_be_named(path: str) -> bool:
    """By the hooks of a session that began before our settings ceased to name this copy. What cannot be checked may."""
    table, boot, now = MountTable.of(), boot_id(), time.clock_gettime_ns(_SINCE_BOOT)
    if table is None or boot is None or table.is_network(path) is not False:
        return True  # sessions of another machine cannot be seen
    try:
        if read(mark := f"{path}/{_UNNAMED}") is None:
            atomic.write(mark, f"{boot} {now}\n")
        noted, _, since_ns = (read(mark) or b"").decode("ascii", "replace").strip().partition(" ")
        if not since_ns.isdecimal():
            own_files.remove_file(mark)
            return True
        # by the clock of now, as the starts of processes are: a clock that was set must not make a session younger
        at_ns = time.time_ns() - (now - int(since_ns) if noted == boot else now)
        return bool(older_than(at_ns, [target.id for target in TARGETS], load(), places.temp_roots()))
    except (OSError, TmpwardenError):
        return True


def _name_again() -> None:
    """What our settings name now is named by sessions that start now; ask anew when that ends."""
    try:
        in_use = "\n".join(_everything_installed())
    except BrokenSettings:
        in_use = ""
    for path in _versions():
        if not in_use or f"{path}/" in in_use:
            own_files.remove_file(f"{path}/{_UNNAMED}")


def _everything_installed() -> Iterator[str]:
    """Every text that may name a runtime. Raises BrokenSettings: one of them could not be read."""
    for target in TARGETS:
        yield (read(target.settings()) or b"").decode("utf-8", "replace")
        yield from target.commands()
        yield from _recorded(target.id)  # also where another CLAUDE_CONFIG_DIR was set
    yield from _recorded("timer")
    known = record.load("timer")
    if known is not None:
        yield f"{places.data_dir()}/{known.version}/"


def _recorded(name: str) -> Iterator[str]:
    for path in record.files_of(name):
        yield (read(path) or b"").decode("utf-8", "replace")
