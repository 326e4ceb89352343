"""Save what exists only in one place: every repository in it as a bundle, wanted files as they are, all or nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ...catalogue.settings import Settings
from ...lazy_dataclass import dataclass, replace
from ...oskit import system
from ...oskit.files import places, walk
from ...oskit.files.opening import closing, descend
from ...text import shown, size
from .. import repository as repositories
from .. import work
from ..gitdir import Directory, Unclear
from ..repository import Repository, Shape, Unit
from . import bundle, store
from .bundle import PATTERNS, SaveLimits
from .store import Refused, Rescued, SavedFile, SavedRepository, copy

# Full of other people's READMEs. No proof that a maker is behind it is needed: what is not saved is not removed for it.
_NOT_ENTERED = frozenset(("node_modules", "site-packages", "__pycache__", ".venv", "venv", ".tox", ".nox", "target"))


def wanted(top: str, limits: SaveLimits, left_out: list[str]) -> Iterator[str]:
    """Paths below `top`, newest first, as far as the limits go; repositories and what installers fill are not entered.
    What is wanted and too big is told in `left_out`."""
    # where the room does not suffice, the work of the last hours is what somebody will miss
    candidates = sorted(_candidates(top, limits), key=lambda each: -each[1].st_mtime_ns)
    room = limits.max_bytes
    for name, status in candidates:
        if status.st_size > min(limits.max_file_bytes, room):
            left_out.append(f"{shown(name)} is too big: {size(status.st_size)}")
            continue
        room -= status.st_size
        yield name


def _candidates(top: str, limits: SaveLimits) -> Iterator[tuple[str, os.stat_result]]:
    todo = [""]
    while todo:
        here = todo.pop()
        try:
            entries = list(os.scandir(f"{top}/{here}"))
        except OSError:
            continue
        if any(entry.name == ".git" for entry in entries):
            continue
        for entry in entries:
            name = f"{here}/{entry.name}".lstrip("/")
            if entry.is_dir(follow_symlinks=False):
                todo += [] if entry.name in _NOT_ENTERED else [name]
            elif entry.is_file(follow_symlinks=False) and limits.wants(entry.name):
                yield name, entry.stat(follow_symlinks=False)


@dataclass(frozen=True, slots=True)
class Endangered:
    """What is to be saved: the entry `name` of an open directory, and the path it had when it was in use."""

    dir_fd: int
    name: str
    was: str
    session: str | None = None

    @property
    def now(self) -> str:
        return f"{system.descriptors.way_to(self.dir_fd)}/{self.name}"


def save(
    place: Endangered, settings: Settings, *, now_s: float, git: bool = True, files: bool = True
) -> Rescued | Refused | None:
    """What was saved, verified and on the disk; or why nothing was. None: nothing in it exists only there."""
    limits = SaveLimits(
        settings.rescue_max_file_bytes, settings.rescue_max_bytes, (*PATTERNS, *settings.rescue_patterns)
    )

    def room(wanted_bytes: int) -> Refused | None:
        keep_s = None if settings.unread_limits else settings.rescue_keep_s
        return store.make_room(wanted_bytes, settings.rescue_max_bytes, keep_s, now_s)[1]

    try:
        # asked before anything is copied: a full disk should not be filled further for nothing
        refused = room(0)
        if refused is not None:
            return refused
        with store.staging() as path:
            rescued = _gathered(place, path, limits, now_s, git=git, files=files)
            if rescued.is_empty:
                return None
            # the size is known only now: git packs what it bundles
            if (refused := room(rescued.bytes)) is not None:
                return refused
            store.publish(path, rescued)
            return rescued
    except Unclear as unclear:
        return Refused(str(unclear))
    except OSError as error:
        return Refused(f"{shown(str(error.filename or store.directory()))}: {error.strerror}")


def _gathered(place: Endangered, path: str, limits: SaveLimits, now_s: float, *, git: bool, files: bool) -> Rescued:
    left_out: list[str] = []
    return Rescued(
        id=store.new_id(place.session or os.path.basename(place.was), now_s),
        created_s=int(now_s),
        path=place.was,
        session=place.session,
        repositories=tuple(_repositories(place, path, limits)) if git else (),
        files=tuple(_files(place, path, limits, left_out)) if files else (),
        left_out=tuple(left_out),
    )


def _repositories(place: Endangered, path: str, limits: SaveLimits) -> Iterator[SavedRepository]:
    measure = walk.measure(place.dir_fd, place.name, uid=places.uid(), count_atime=False)
    unit = Unit(place.dir_fd, place.name, place.was)
    number, seen = 0, set[str]()
    for inside in sorted(measure.git) if measure else ():
        try:
            with repositories.opened(unit, inside) as repository:
                if repository is None:
                    continue
                for part in _parts(repository, seen):
                    number += 1
                    saved = bundle.save(part, path, number, limits)
                    yield replace(saved, lfs=tuple(_lfs(part, f"{path}/lfs-{number}")))
        except Unclear as unclear:
            raise Unclear(f"{inside}: {unclear}" if inside else str(unclear)) from None


def _parts(repository: Repository, seen: set[str]) -> Iterator[Repository]:
    """The repository, if something in it is unique, and those of its submodules that are not checked out."""
    unit = repository.unit
    seen.add(repository.own.path)
    if work.inspect(unit.dir_fd, unit.name, repository.inside, was=unit.was).losses:
        yield repository
    for name in work.modules(repository):
        with _opened_module(repository, name) as module:
            if module.own.path not in seen and any((*work.stashes(module), *work.unpublished(module))):
                checked_out = module.config.value("core.worktree")
                if checked_out is None or not os.path.isdir(os.path.join(module.own.path, checked_out)):
                    yield module


@contextmanager
def _opened_module(repository: Repository, name: str) -> Iterator[Repository]:
    directory = Directory(descend(repository.own.fd, name))
    with closing(directory.fd):
        inside = os.path.relpath(repository.own.path, repository.unit.now(repository.unit.was))
        yield repositories.module(repository.unit, f"{repository.unit.was}/{inside}/{name}", directory)


def _lfs(repository: Repository, target: str) -> Iterator[SavedFile]:
    """Contents that git-lfs keeps in a clone, which may not have been uploaded. A worktree's lie in its repository."""
    if repository.shape is Shape.WORKTREE or not repository.own.has_directory("lfs/objects"):
        return
    top = f"{repository.own.path}/lfs/objects"
    for here, _, names in os.walk(top):
        for name in names:
            relative = os.path.relpath(f"{here}/{name}", top)
            if (saved := copy(f"{here}/{name}", None, f"{target}/{relative}", relative)) is not None:
                yield saved


def _files(place: Endangered, path: str, limits: SaveLimits, left_out: list[str]) -> Iterator[SavedFile]:
    if not os.path.isdir(place.now) or os.path.islink(place.now):
        if os.path.isfile(place.now) and not os.path.islink(place.now) and limits.wants(os.path.basename(place.was)):
            name = os.path.basename(place.was)
            if (saved := copy(place.name, place.dir_fd, f"{path}/files/{name}", "")) is not None:
                yield saved
        return
    for name in wanted(place.now, limits, left_out):
        if (saved := copy(f"{place.now}/{name}", None, f"{path}/files/{name}", name)) is not None:
            yield saved
