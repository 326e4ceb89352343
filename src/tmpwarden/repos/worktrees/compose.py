"""Join the catalogue, the sweep and git into one look at worktrees, or into one deed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ...catalogue import worktrees as catalogue
from ...catalogue.load import load
from ...errors import FrozenMount, NotFound
from ...lazy_dataclass import dataclass, replace
from ...leases import scratch
from ...model.request import Request, Thresholds
from ...oskit.files import own_dirs, places, purge
from ...oskit.files.opening import closing
from ...oskit.proc.reach import Reach
from ...sweep.compose import prepare
from ...sweep.lock import clean_lock
from ...text import shown
from .. import gitdir
from .harmless import Locks, droppings
from .proof import Tree
from .removal import Gone, Removal
from .survey import Candidate, Surveyor, checkouts_below, find, maker_of

_A_PERSON_WAITS_S = 5.0
IDLE_S = 3600
UNKNOWN_IDLE_S = 72 * 3600  # of worktrees in no place of an agent's: as everything whose owner nobody knows


@dataclass(frozen=True, slots=True)
class TreesWanted:
    """What was asked for."""

    paths: tuple[str, ...] = ()  # these only; else all that can be found
    roots: tuple[str, ...] = ()
    config_file: str | None = None
    min_idle_s: int | None = None  # None: an hour for what agents made, 72 h for the rest, nothing for what was named
    asks_kernel: bool = False  # where somebody cannot be looked at
    also: tuple[str, ...] = ()  # names of directories that the person calls derived
    unattended: bool = False  # no person said yes to this run


Clock = Callable[[], int]


@contextmanager
def surveyors(
    wish: TreesWanted,
    *,
    searches: bool = True,
    on_search: Callable[[int, int], None] = lambda searched, count: None,
    now_ns: Clock = time.time_ns,
) -> Iterator[tuple[Surveyor, list[Candidate], list[str]]]:
    """A surveyor, what it should look at, and warnings. `searches`: below `[worktrees] roots` too."""
    request = Request(
        roots=wish.roots,
        config_file=wish.config_file,
        thresholds=Thresholds(take_ask=True),
        unattended=wish.unattended,
    )
    prepared = prepare(request, now_ns=now_ns)
    is_by_default = wish.min_idle_s is None and not wish.paths
    rows = catalogue.rows()
    temp_roots = (*prepared.roots, *places.temp_roots())
    with _objects(prepared.state) as objects:
        surveyor = Surveyor(
            prepared,
            objects,
            min_idle_s=IDLE_S if is_by_default else wish.min_idle_s or 0,
            unknown_idle_s=UNKNOWN_IDLE_S if is_by_default else 0,
            asks_kernel=wish.asks_kernel,
            also=frozenset(wish.also),
            locks=Locks.of((row.lock for row in rows if row.lock), scratch.read_all(temp_roots)),
            temp_roots=temp_roots,
            droppings=droppings(load(overrides=prepared.settings.rows).rows),
        )
        beside, left_out = [], ""
        if not wish.paths and not _is_confined(wish):
            roots = prepared.settings.worktree_roots if searches else ()
            below, left_out = checkouts_below(roots, on_search)
            beside = [*_here(), *below]
        warnings = [*prepared.warnings, left_out] if left_out else prepared.warnings
        yield surveyor, _candidates(wish, rows, prepared.roots, beside), warnings


def survey(
    wish: TreesWanted,
    *,
    on_tree: Callable[[int, int], None] = lambda number, all_: None,
    on_search: Callable[[int, int], None] = lambda searched, count: None,
    now_ns: Clock = time.time_ns,
) -> tuple[list[Tree], list[str]]:
    """Every worktree that was named or can be found, biggest first. `on_tree` hears how many of how many are done,
    `on_search` how many directories were searched and how many repositories found."""
    trees: list[Tree] = []
    with surveyors(wish, on_search=on_search, now_ns=now_ns) as (surveyor, candidates, warnings):
        for tree in surveyor.look(candidates):
            trees.append(tree)
            on_tree(len(trees), len(candidates))
    return sorted(trees, key=lambda tree: -(tree.measure.bytes if tree.measure else 0)), list(warnings)


def proven(path: str, wish: TreesWanted, *, now_ns: Clock = time.time_ns) -> Tree:
    """The proof for one."""
    trees, _ = survey(replace(wish, paths=(path,), asks_kernel=True), now_ns=now_ns)
    return trees[0]


def remove(
    trees: Iterable[Tree],
    wish: TreesWanted,
    *,
    only_derived: bool = False,
    branches: bool = False,
    purge: bool = False,
    now_ns: Clock = time.time_ns,
) -> list[Gone]:
    """Take those into quarantine that still are what their proof says. `purge`: nothing of it waits there for undo."""
    with (
        surveyors(wish, searches=False, now_ns=now_ns) as (surveyor, _, _),
        clean_lock(surveyor.prepared.state, 0.0 if wish.unattended else _A_PERSON_WAITS_S),
    ):
        surveyor.with_branches = branches
        removal = Removal(surveyor.prepared, surveyor, with_branches=branches, keep_for_undo=not purge)
        return removal.take_derived(trees) if only_derived else removal.take(trees)


def _candidates(
    wish: TreesWanted, rows: tuple[catalogue.WorktreeRow, ...], roots: tuple[str, ...], beside: list[str]
) -> list[Candidate]:
    home = None if _is_confined(wish) else places.home()
    bases = catalogue.bases(roots, home)
    if not wish.paths:
        return find(rows, bases, beside)
    paths = dict.fromkeys(_resolve(path) for path in wish.paths)
    return [Candidate(path, maker_of(path, rows, bases)) for path in paths]


def _here() -> list[str]:
    """Where one stands; nowhere, if that worktree was removed in the meantime."""
    try:
        return [os.getcwd()]
    except FileNotFoundError:
        return []


def _is_confined(wish: TreesWanted) -> bool:
    return bool(wish.roots or os.environ.get("TMPWARDEN_ROOTS"))


def _resolve(path: str) -> str:
    if point := Reach.now().frozen(os.path.expanduser(path)):
        raise FrozenMount(shown(path), shown(point))
    full = os.path.realpath(os.path.expanduser(path))
    if not os.path.lexists(full):
        raise NotFound(f"there is nothing at {shown(path)}")
    if not gitdir.is_checkout(full):
        raise NotFound(
            f"{shown(path)} is neither a worktree nor a clone", hint="name the directory that holds its .git"
        )
    return full


@contextmanager
def _objects(state: str) -> Iterator[str]:
    """A private directory for objects that git makes to compare; empty if none can be made."""
    name = f"objects-{os.urandom(4).hex()}"
    try:
        own_dirs.make_private_dir(state)
        own_dirs.make_private_dir(f"{state}/{name}")
    except OSError:
        yield ""
        return
    try:
        yield f"{state}/{name}"
    finally:
        with closing(own_dirs.open_private_dir(state)) as fd:
            purge.purge_own(fd, name)
