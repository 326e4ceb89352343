"""Where rescues lie: one directory each below `$XDG_DATA_HOME/tmpwarden/rescue`, complete or not there at all; and how
a plain file gets there or back, with its hash."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ...errors import NotFound
from ...lazy_dataclass import dataclass, field
from ...oskit.files import atomic, own_dirs, places, purge, space, take
from ...oskit.files.opening import closing, entry_names
from ...oskit.proc import locks
from ...text import shown, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# The nouns of a rescue: what was saved from one place, and where it lies now. Written as JSON beside it.


@dataclass(frozen=True, slots=True)
class SavedFile:
    path: str  # below the place it was saved from
    sha256: str
    bytes: int
    mode: int


@dataclass(frozen=True, slots=True)
class SavedStash:
    ref: str  # in the bundle
    message: str


@dataclass(frozen=True, slots=True)
class SavedRepository:
    inside: str  # where it lay below the place; "" is the place itself
    bundle: str  # file name; "" if there was nothing to put into one
    sha256: str
    bytes: int
    object_format: str
    branch: str = ""
    head: str = ""
    snapshot: str = ""  # a commit with the state of the work tree, if that differed from HEAD
    index: str = ""  # a tree-ish with what was staged, if that differed from both
    refs: tuple[str, ...] = ()  # all names in the bundle
    stashes: tuple[SavedStash, ...] = ()  # newest first
    remotes: tuple[tuple[str, str], ...] = ()  # name, URL
    upstreams: tuple[tuple[str, str], ...] = ()  # branch.NAME.remote or .merge, and its value
    needs: tuple[str, ...] = ()  # commits that the bundle builds on and does not hold
    standalone: str = ""  # then: a second bundle with the files alone, which needs nobody
    standalone_sha256: str = ""
    source: str = ""  # the repository that has them: a worktree's
    lfs: tuple[SavedFile, ...] = ()
    stages: tuple[str, ...] = ()  # refs in the bundle: `.../1` has what a conflict began from, 2 ours, 3 theirs
    merging: tuple[str, ...] = ()  # the commits of an unfinished merge
    message: str = ""  # and what it was going to say
    settings: tuple[tuple[str, str], ...] = ()  # those of its configuration that decide about bytes, as line endings
    is_raw: bool = False  # the snapshot has each file that differs from HEAD in any byte; older ones: as git saw it


@dataclass(frozen=True, slots=True)
class Rescued:
    """One rescue; `id` is also the name of its directory."""

    id: str
    created_s: int
    path: str  # where it was
    session: str | None = None
    repositories: tuple[SavedRepository, ...] = ()
    files: tuple[SavedFile, ...] = ()
    left_out: tuple[str, ...] = field(default=())  # sentences: what was not saved and why

    @property
    def bytes(self) -> int:
        of_git = sum(each.bytes + sum(file.bytes for file in each.lfs) for each in self.repositories)
        return of_git + sum(file.bytes for file in self.files)

    @property
    def is_empty(self) -> bool:
        return not self.repositories and not self.files


def encoded(rescued: Rescued) -> dict[str, Any]:
    from dataclasses import asdict  # only who rescues: it costs more than a whole teardown

    return {"schema": 1, **asdict(rescued)}


def decoded(document: Any) -> Rescued:
    """Raises ValueError for what is no manifest of ours."""
    try:
        repositories = tuple(_repository(each) for each in document["repositories"])
        files = tuple(SavedFile(**each) for each in document["files"])
        plain = {name: document[name] for name in ("id", "created_s", "path", "session")}
        return Rescued(**plain, repositories=repositories, files=files, left_out=tuple(document["left_out"]))
    except (KeyError, TypeError) as wrong:
        raise ValueError(f"not a rescue's manifest: {wrong}") from None


def _repository(fields: dict[str, Any]) -> SavedRepository:
    lists = {
        "refs": tuple(fields["refs"]),
        "needs": tuple(fields["needs"]),
        "stashes": tuple(SavedStash(**each) for each in fields["stashes"]),
        "remotes": tuple((name, url) for name, url in fields["remotes"]),
        "upstreams": tuple((key, value) for key, value in fields["upstreams"]),
        "lfs": tuple(SavedFile(**each) for each in fields["lfs"]),
        "stages": tuple(fields.get("stages", ())),
        "merging": tuple(fields.get("merging", ())),
        "settings": tuple((key, value) for key, value in fields.get("settings", ())),
    }
    return SavedRepository(**(fields | lists))


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was saved, so nothing may go."""

    why: str


MANIFEST, README = "manifest.json", "README"
PROMISE_S = 7 * 86400  # nothing younger goes to make room
_STAGING = ".new-"
_SPARE_BYTES = 64 << 20  # left free in any case


def directory() -> str:
    return f"{places.data_dir()}/rescue"


@contextmanager
def staging() -> Iterator[str]:
    """A private directory beside the rescues, which is gone afterwards unless `publish` gave it its name."""
    home = directory()
    own_dirs.make_private_dir(places.data_dir())
    own_dirs.make_private_dir(home)
    name = f"{_STAGING}{os.urandom(6).hex()}"
    fd = own_dirs.open_private_dir(f"{home}/{name}")
    locks.try_flock(fd)  # a later run that finds it unlocked knows that we were killed
    try:
        yield f"{home}/{name}"
    finally:
        _remove(name)
        os.close(fd)


def publish(path: str, rescued: Rescued) -> None:
    """Write what was saved down, and let it have its name: from here on it counts."""
    for name in os.listdir(path):
        if name.startswith(("workshop-", "proof-")):
            _remove(f"{os.path.basename(path)}/{name}")
        elif name.endswith(".bundle"):
            _sync(f"{path}/{name}")
    atomic.write(f"{path}/{README}", _readme(rescued), durable=True)
    atomic.write(f"{path}/{MANIFEST}", json.dumps(encoded(rescued), indent=1), durable=True)
    with closing(own_dirs.open_private_dir(directory())) as fd:
        take.rename_within(fd, os.path.basename(path), rescued.id)
        os.fsync(fd)


def new_id(label: str, now_s: float) -> str:
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in label)[:40]
    stem = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now_s))}-{plain.strip('-') or 'files'}"
    taken = {each for each in _names() if each.startswith(stem)}
    return next(name for number in range(1000) if (name := f"{stem}-{number}" if number else stem) not in taken)


def everything() -> list[Rescued]:
    """All that are complete, oldest first."""
    rescues = []
    for name in _names():
        with suppress(OSError, ValueError):
            rescues.append(read(name))
    return sorted(rescues, key=lambda each: (each.created_s, each.id))


def read(name: str) -> Rescued:
    with open(f"{directory()}/{name}/{MANIFEST}", encoding="utf-8") as file:
        rescued = decoded(json.load(file))
    if rescued.id != name:
        raise ValueError(f"{name} says that it is {rescued.id}")
    return rescued


def find(word: str) -> Rescued:
    """By its id, or by a beginning that only one has."""
    matches = [each for each in everything() if each.id.startswith(word) and word]
    exact = [each for each in matches if each.id == word]
    if len(exact or matches) != 1:
        what = f"several rescues start with {shown(word)}" if matches else f"unknown rescue {shown(word)}"
        raise NotFound(what, hint="`tmpwarden rescue list` shows them")
    return (exact or matches)[0]


def of_session(session: str) -> list[Rescued]:
    return [each for each in everything() if each.session == session]


def used_bytes() -> int:
    return sum(each.bytes for each in everything())


def make_room(
    wanted_bytes: int, max_bytes: int, keep_s: int | None, now_s: float
) -> tuple[list[Rescued], Refused | None]:
    """Let go what is older than it was promised to stay; then, oldest first, what is in the way and at least a week
    old. Those that went, and why there is still no room. `keep_s`: None where nobody knows what was promised."""
    expired = [] if keep_s is None else expire(keep_s, now_s)
    for each in everything():
        age_s = now_s - each.created_s
        is_in_the_way = used_bytes() + wanted_bytes > max_bytes and age_s >= PROMISE_S
        if is_in_the_way and keep_s is not None:
            _remove(each.id)
            expired.append(each)
    if used_bytes() + wanted_bytes > max_bytes:
        return expired, Refused(f"the rescues in {shown(directory())} have reached their limit of {size(max_bytes)}")
    own_dirs.make_private_dir(places.data_dir())
    if space.space_of(places.data_dir()).bytes_free < wanted_bytes + _SPARE_BYTES:
        return expired, Refused(f"there is no room in {shown(directory())} for {size(wanted_bytes)}")
    return expired, None


def exists() -> bool:
    return os.path.isdir(directory())


def expire(keep_s: int, now_s: float) -> list[Rescued]:
    """Let go what has been kept as long as was promised, and what a killed run began and did not finish."""
    for name in entry_names(directory()):
        if name.startswith(_STAGING) and _is_left_over(name):
            _remove(name)
    expired = [each for each in everything() if now_s - each.created_s >= keep_s]
    for each in expired:
        _remove(each.id)
    return expired


def _is_left_over(name: str) -> bool:
    try:
        with closing(own_dirs.open_ours(directory(), name)) as fd:
            return locks.try_flock(fd)
    except OSError:
        return False


def _sync(path: str) -> None:
    with closing(os.open(path, os.O_RDONLY | os.O_CLOEXEC)) as fd:
        os.fsync(fd)


def _names() -> list[str]:
    return [name for name in entry_names(directory()) if not name.startswith(".")]


def _remove(name: str) -> None:
    """`name` below the directory of rescues."""
    parent, _, last = name.rpartition("/")
    try:
        fd = own_dirs.open_ours(directory(), *filter(None, [parent]))
    except OSError:
        return
    with closing(fd):
        if os.path.lexists(f"{directory()}/{name}"):
            purge.purge_own(fd, last)


def _readme(rescued: Rescued) -> str:
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(rescued.created_s))
    lines = [
        f"Saved by tmpwarden on {when} from {shown(rescued.path)}, because this work existed nowhere else.",
        "",
        f"    tmpwarden rescue show {rescued.id}",
        f"    tmpwarden rescue restore {rescued.id} --to DIRECTORY",
        "",
        "Without tmpwarden: files/ holds plain files as they were. Each N.bundle is a git bundle:",
        "",
        "    git init x && cd x && git fetch ../N.bundle 'refs/*:refs/rescued/*'",
        "",
        "refs/rescued/rescue/worktree is the state of the work tree, .../index what was staged, .../stash/N a stash.",
    ]
    for each in rescued.repositories:
        if each.needs:
            where = each.source or ", ".join(url for _, url in each.remotes)
            lines += ["", f"{each.bundle} builds on history that it does not hold: fetch it into a clone of {where}."]
    return "\n".join(lines) + "\n"


_CHUNK = 1 << 20


def copy(source: str, dir_fd: int | None, target: str, name: str) -> SavedFile | None:
    """`source` to `target`, which must not exist; None if it is not a plain file. Dates and permissions are kept."""
    with closing(os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=dir_fd)) as fd:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            return None
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        with closing(
            os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        ) as out:
            digest, size = _copy(fd, out)
            os.fchmod(out, stat.S_IMODE(status.st_mode) & 0o777)
            os.utime(out, ns=(status.st_atime_ns, status.st_mtime_ns))
            os.fsync(out)
    return SavedFile(name, digest, size, stat.S_IMODE(status.st_mode) & 0o777)


def _copy(source: int, target: int) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while chunk := os.read(source, _CHUNK):
        digest.update(chunk)
        size += len(chunk)
        view = memoryview(chunk)
        while view:
            view = view[os.write(target, view) :]
    return digest.hexdigest(), size


def digest_of(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_intact(path: str, sha256: str) -> bool:
    try:
        return digest_of(path) == sha256
    except OSError:
        return False
