"""Put all that exists only in one repository into a bundle, without touching the repository.

Every commit that no remote has, also those that only a stash or a reflog remembers; one commit with the state of the
work tree; one with what was staged. It is built in a repository of our own that borrows the objects of the other one,
reads nothing that it configures and writes nothing there. The bundle is read back into an empty repository before it is
relied on.
"""

from __future__ import annotations

import fnmatch
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ...lazy_dataclass import dataclass, field
from ...oskit import system
from ...oskit.files.opening import closing
from ...redaction import without_password
from ...text import shown, size
from .. import work
from ..git_program import NOBODY, Git
from ..gitdir import Unclear, copy_file
from ..history import forgotten
from ..makers import unique
from ..repository import Repository, Shape
from ..status import TreeStatus, is_what_lfs_points_to, status_of
from .store import SavedRepository, SavedStash, digest_of

PATTERNS = (
    "*.pdf", "*.doc", "*.docx", "*.odt", "*.rtf", "*.md", "*.txt", "*.tex", "*.html", "*.epub",
    "*.xls", "*.xlsx", "*.ods", "*.csv", "*.tsv", "*.parquet", "*.ppt", "*.pptx", "*.odp",
    "*.png", "*.jpg", "*.jpeg", "*.gif", "*.svg", "*.webp", "*.drawio", "*.mp3", "*.wav", "*.mp4", "*.webm",
    "*.sqlite", "*.sqlite3", "*.db", "*.ipynb", "*.zip", "*.tar", "*.tar.*", "*.tgz", "*.7z", "*.patch", "*.diff",
)  # fmt: skip
TIME_LIMIT_S = 600.0
# Whatever .gitattributes in the tree say: the bytes as they are.
RAW = "* -text -ident -filter -working-tree-encoding\n"


@dataclass(frozen=True, slots=True)
class SaveLimits:
    """How much may be saved at once."""

    max_file_bytes: int
    max_bytes: int
    patterns: tuple[str, ...] = PATTERNS

    def wants(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name.lower(), pattern.lower()) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class Workshop:
    """Open while a repository is saved or brought back."""

    path: str
    fd: int

    def git(self, **more: str) -> Git:
        """Questions and orders to the workshop itself."""
        return Git(self.fd, ".", None, NOBODY | more, time.monotonic() + TIME_LIMIT_S)

    def git_in(self, tree_fd: int, index: str) -> Git:
        """The same with a work tree elsewhere and an index of our own."""
        more = {"GIT_INDEX_FILE": f"{self.path}/{index}"}
        return Git(tree_fd, self.path, ".", NOBODY | more, time.monotonic() + TIME_LIMIT_S)

    def borrow(self, objects: str) -> None:
        """Read objects from there too. Through a link of ours: the list of alternates cannot hold every name."""
        os.symlink(objects, f"{self.path}/borrowed")
        with open(f"{self.path}/objects/info/alternates", "w", encoding="ascii") as file:
            file.write("../borrowed\n")


def make_repository(path: str, object_format: str, *, is_bare: bool) -> None:
    """A git directory with nothing in it. By hand: a git that says nothing would have made nothing."""
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        os.makedirs(f"{path}/{name}", exist_ok=True)
    version, more = (1, "[extensions]\n\tobjectformat = sha256\n") if object_format == "sha256" else (0, "")
    core = f"[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = {str(is_bare).lower()}\n"
    core += "" if is_bare else "\tlogallrefupdates = true\n"
    for name, text in (("config", core + more), ("HEAD", "ref: refs/heads/main\n")):
        with open(f"{path}/{name}", "x", encoding="ascii") as file:
            file.write(text)


@contextmanager
def opened(path: str, object_format: str) -> Iterator[Workshop]:
    """A new one at `path`, which must not exist. The caller removes it."""
    make_repository(path, object_format, is_bare=True)
    with open(f"{path}/info/attributes", "w", encoding="ascii") as file:
        file.write(RAW)
    with closing(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as fd:
        yield Workshop(path, fd)


HEAD, SNAPSHOT, INDEX = "refs/rescue/head", "refs/rescue/worktree", "refs/rescue/index"
STANDALONE = "refs/rescue/standalone"
_STASHES = "refs/rescue/stash"
_STAGES, _MERGING = "refs/rescue/stage", "refs/rescue/merging"
# They decide what git makes of the bytes in a file.
_SETTINGS = ("core.autocrlf", "core.eol", "core.safecrlf", "core.filemode", "core.symlinks", "core.ignorecase")
_FULL_BYTES = 300 << 20  # up to here a bundle holds the whole history, and needs nobody else to be read


@dataclass(slots=True)
class _Parts:
    """What goes into the bundle: names of ours, and what they stand for."""

    refs: dict[str, str] = field(default_factory=dict)
    stashes: list[SavedStash] = field(default_factory=list)
    snapshot: str = ""
    index: str = ""
    stages: list[str] = field(default_factory=list)
    merging: list[str] = field(default_factory=list)
    message: str = ""


def save(repository: Repository, staging: str, number: int, limits: SaveLimits) -> SavedRepository:
    """The bundle `staging/N.bundle`, verified. Raises Unclear where that cannot be done safely and whole."""
    object_format = "sha256" if repository.config.value("extensions.objectformat") == "sha256" else "sha1"
    status = status_of(repository) if repository.shape is not Shape.BARE else _status_of_bare(repository)
    with opened(f"{staging}/workshop-{number}", object_format) as shop:
        shop.borrow(f"{repository.common.path}/objects")
        if repository.common.has("shallow"):
            copy_file(repository.common, "shallow", f"{shop.path}/shallow")
        needs = _needs(repository, limits)
        parts = _Parts(_refs_to_save(repository, status, with_remotes=not needs))
        _add_stashes(repository, parts)
        parts.refs |= forgotten(repository, list(parts.refs.values()), _elsewhere(repository))
        if repository.shape is not Shape.BARE:
            _add_work_tree(repository, status, shop, parts, limits)
            _add_merge(repository, parts)
        name = f"{number}.bundle"
        is_there = _bundled(shop, parts, needs, f"{staging}/{name}")
        if is_there:
            _verify(shop, f"{staging}/{name}", needs, f"{staging}/proof-{number}", object_format)
        alone = f"{number}-files.bundle" if needs and status.head else ""
        if alone:
            _put_files_alone(shop, parts.snapshot or status.head, f"{staging}/{alone}")
            _verify(
                shop,
                f"{staging}/{alone}",
                needs=[],
                proof=f"{staging}/proof-{number}-files",
                object_format=object_format,
                below=STANDALONE,
            )
    path = f"{staging}/{name}"
    return SavedRepository(
        inside=repository.inside,
        bundle=name if is_there else "",
        sha256=digest_of(path) if is_there else "",
        bytes=os.stat(path).st_size if is_there else 0,
        object_format=object_format,
        branch=status.branch,
        head=status.head,
        snapshot=parts.snapshot,
        index=parts.index,
        refs=tuple(sorted(parts.refs)),
        stashes=tuple(parts.stashes),
        remotes=_remotes(repository),
        upstreams=_upstreams(repository),
        needs=tuple(needs),
        standalone=alone,
        standalone_sha256=digest_of(f"{staging}/{alone}") if alone else "",
        source=repository.main if repository.shape is Shape.WORKTREE else "",
        stages=tuple(parts.stages),
        merging=tuple(parts.merging),
        message=parts.message,
        is_raw=True,
        settings=tuple((each.name, each.value) for each in repository.config.settings if each.name in _SETTINGS),
    )


def _status_of_bare(repository: Repository) -> TreeStatus:
    head = repository.common.line("HEAD")
    return TreeStatus("", head.removeprefix("ref: refs/heads/"), (), (), ())


def _refs_to_save(repository: Repository, status: TreeStatus, *, with_remotes: bool) -> dict[str, str]:
    """Refs under their own names; of a worktree only what is its own, for the rest is its repository's."""
    refs = work.refs(repository)
    if repository.shape is Shape.WORKTREE:
        refs = {name: oid for name, oid in refs.items() if name.startswith(("refs/worktree/", "refs/bisect/"))}
    else:
        left_out = ("refs/stash",) if with_remotes else ("refs/stash", "refs/remotes/")
        refs = {name: oid for name, oid in refs.items() if not name.startswith(left_out)}
    return refs | ({HEAD: status.head} if status.head else {})


def _add_stashes(repository: Repository, parts: _Parts) -> None:
    if repository.shape is Shape.WORKTREE or not repository.common.has("logs/refs/stash"):
        return
    lines = os.fsdecode(repository.common.read("logs/refs/stash")).splitlines()
    for number, line in enumerate(reversed(lines)):
        oid, message = line.split(" ", 2)[1], line.partition("\t")[2]
        parts.refs[f"{_STASHES}/{number}"] = oid
        parts.stashes.append(SavedStash(f"{_STASHES}/{number}", message))


def _add_work_tree(
    repository: Repository, status: TreeStatus, shop: Workshop, parts: _Parts, limits: SaveLimits
) -> None:
    git = shop.git_in(repository.tree.fd, "index")
    git.output("read-tree", *([status.head] if status.head else ["--empty"]))
    names = [*status.changed, *_files(repository, status)]
    names += _with_other_bytes(repository, git, frozenset(names))
    _check_sizes(repository, names, limits)
    git.output("update-index", "--add", "--remove", "-z", "--stdin", stdin=joined(names))
    parts.snapshot = _committed(git, status, "the work tree, with what was untracked", parts, SNAPSHOT)
    if repository.own.has("index"):
        copy_file(repository.own, "index", f"{shop.path}/staged")
        staged = shop.git_in(repository.tree.fd, "staged")
        if status.has_conflicts:
            _add_stages(staged, shop.git_in(repository.tree.fd, "stage"), parts)
        parts.index = _committed(staged, status, "what was staged", parts, INDEX)


def _with_other_bytes(repository: Repository, git: Git, known: frozenset[str]) -> Iterator[str]:
    """Files that git calls unmodified and that are not, byte for byte, what it has: line endings, `$Id$`. The
    workshop converts nothing, and its fresh index knows no dates. Files of git-lfs have their contents elsewhere."""
    options = ("--raw", "-z", "--no-renames", "--ignore-submodules=all")  # it would run git in them, as they configure
    words = os.fsdecode(git.output("diff-files", *options)).split("\0")[:-1]
    for row, name in zip(words[::2], words[1::2], strict=True):
        _, _, blob, _, kind = row.split(" ")
        if (
            kind in ("M", "T")
            and name not in known
            and not is_what_lfs_points_to(repository.git, repository.tree, blob, name)
        ):
            yield name


def _add_stages(staged: Git, stage: Git, parts: _Parts) -> None:
    """The sides of each conflict, as one commit for each stage; the rest of the index stays in `staged`."""
    unmerged = [
        line.split("\t", 1) for line in os.fsdecode(staged.output("ls-files", "--unmerged", "-z")).split("\0")[:-1]
    ]
    for number in "123":
        rows = [(*fields.split(" "), name) for fields, name in unmerged]
        lines = [f"{mode} {oid} 0\t{name}\0" for mode, oid, of, name in rows if of == number]
        stage.output("read-tree", "--empty")
        stage.output("update-index", "-z", "--index-info", stdin=os.fsencode("".join(lines)))
        tree = stage.output("write-tree").decode().strip()
        ref = f"{_STAGES}/{number}"
        parts.refs[ref] = stage.output("commit-tree", tree, "-m", f"stage {number} of conflicts").decode().strip()
        parts.stages.append(ref)
    deletions = "".join(
        f"0 {'0' * len(parts.refs[parts.stages[0]])}\t{name}\0" for name in {name for _, name in unmerged}
    )
    staged.output("update-index", "-z", "--index-info", stdin=os.fsencode(deletions))


def _add_merge(repository: Repository, parts: _Parts) -> None:
    """What an unfinished merge was about to join."""
    if not repository.own.has("MERGE_HEAD"):
        return
    for number, oid in enumerate(os.fsdecode(repository.own.read("MERGE_HEAD")).split()):
        parts.refs[f"{_MERGING}/{number}"] = oid
        parts.merging.append(oid)
    if repository.own.has("MERGE_MSG"):
        parts.message = os.fsdecode(repository.own.read("MERGE_MSG"))


def _committed(git: Git, status: TreeStatus, message: str, parts: _Parts, ref: str) -> str:
    """A commit with the index that `git` has; "" if HEAD has just that."""
    tree = git.output("write-tree").decode().strip()
    if status.head and git.output("rev-parse", f"{status.head}^{{tree}}").decode().strip() == tree:
        return ""
    if not status.head and git.output("ls-tree", tree) == b"":
        return ""
    parents = ("-p", status.head) if status.head else ()
    parts.refs[ref] = git.output("commit-tree", tree, *parents, "-m", message).decode().strip()
    return parts.refs[ref]


def _files(repository: Repository, status: TreeStatus) -> Iterator[str]:
    top = system.descriptors.way_to(repository.tree.fd)
    for name in status.others:
        for path in unique(f"{top}/{name}".rstrip("/")):
            yield path[len(top) + 1 :]


def _check_sizes(repository: Repository, names: list[str], limits: SaveLimits) -> None:
    total = 0
    for name in names:
        try:
            length = os.stat(name, dir_fd=repository.tree.fd, follow_symlinks=False).st_size
        except OSError:
            continue  # deleted
        total += length
        if length > limits.max_file_bytes or total > limits.max_bytes:
            raise Unclear(f"{shown(name)} makes it too large to save: {size(length)}")


def _needs(repository: Repository, limits: SaveLimits) -> list[str]:
    """Nothing where the whole history is small enough; else what lies elsewhere already: a clone's on its remotes, a
    worktree's in its repository."""
    is_cut = repository.common.has("shallow") or any(s.key == "promisor" for s in repository.config.settings)
    counts = dict(line.split(": ") for line in repository.git.output("count-objects", "-v").decode().splitlines())
    weight = (int(counts["size"]) + int(counts["size-pack"])) * 1024
    if not is_cut and weight <= min(_FULL_BYTES, limits.max_bytes):
        return []
    needs = repository.git.output("rev-parse", *_elsewhere(repository)).decode().split()
    return [word.removeprefix("^") for word in needs]


def _elsewhere(repository: Repository) -> list[str]:
    """Words for rev-list that leave out what its remotes or, of a worktree, its repository has."""
    return work.published(repository) if repository.shape is not Shape.WORKTREE else ["--not", *work.STAYS]


def _bundled(shop: Workshop, parts: _Parts, needs: list[str], path: str) -> bool:
    """False if there is nothing that its base does not have."""
    git = shop.git()
    created = "".join(f"create {name} {oid}\n" for name, oid in sorted(parts.refs.items()))
    git.output("update-ref", "--stdin", stdin=os.fsencode(created))
    without = b"".join(b"^" + oid.encode() + b"\n" for oid in needs)
    if git.output("rev-list", "--count", "--max-count=1", "--all", "--stdin", stdin=without) == b"0\n":
        return False
    git.output("bundle", "create", "-q", path, "--all", "--stdin", stdin=without)
    return True


def _put_files_alone(shop: Workshop, commit: str, path: str) -> None:
    """The files without their history, for the day when nobody has that any more."""
    git = shop.git()
    alone = git.output("commit-tree", f"{commit}^{{tree}}", "-m", "all files, without their history").decode().strip()
    git.output("update-ref", STANDALONE, alone)
    git.output("bundle", "create", "-q", path, STANDALONE)


def _verify(shop: Workshop, path: str, needs: list[str], proof: str, object_format: str, below: str = "refs/") -> None:
    """git's own word, and where it needs nobody else: read into an empty repository, every object and link checked."""
    shop.git().output("bundle", "verify", "-q", path)
    if needs:
        return
    with opened(proof, object_format) as other:
        git = other.git(GIT_ALLOW_PROTOCOL="file")
        git.output("fetch", "-q", "--no-tags", path, "refs/*:refs/*")
        form = "--format=%(refname) %(objectname)"
        if git.output("for-each-ref", form, below) != shop.git().output("for-each-ref", form, below):
            raise Unclear("the bundle is incomplete")


def _remotes(repository: Repository) -> tuple[tuple[str, str], ...]:
    settings = repository.config.settings
    return tuple(
        (each.subsection, without_password(each.value))
        for each in settings
        if each.section == "remote" and each.key == "url"
    )


def _upstreams(repository: Repository) -> tuple[tuple[str, str], ...]:
    """What each branch follows."""
    settings = repository.config.settings
    wanted = (each for each in settings if each.section == "branch" and each.key in ("remote", "merge"))
    return tuple((each.name, each.value) for each in wanted)


def joined(names: list[str]) -> bytes:
    return b"".join(os.fsencode(name) + b"\0" for name in names)
