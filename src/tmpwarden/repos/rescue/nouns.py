"""The nouns of a rescue: what was saved from one place, and where it lies now. Written as JSON beside it."""

from __future__ import annotations

from ...lazy_dataclass import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
        raise ValueError(f"no manifest of a rescue: {wrong}") from None


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
