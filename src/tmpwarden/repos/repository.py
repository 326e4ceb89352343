"""Open a repository that may be hostile: what kind it is, where its parts lie, and whether git may be let near it.

A clone has its `.git`, a bare repository is one itself, a linked worktree and a submodule name theirs in a file. That
name is believed only if the place it leads to names this very directory in turn.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import Enum

from ..lazy_dataclass import dataclass, field
from ..oskit import system
from ..oskit.files.opening import descend
from ..oskit.proc.reach import Reach
from .git_program import Git
from .gitdir import Directory, Unclear

# Its presence means that other places hold a part of this repository.
_REFUSED = ("objects/info/alternates", "objects/info/http-alternates")
_OF_A_SUBMODULE = frozenset(("core.worktree",))  # overridden by GIT_WORK_TREE in all of our calls


class Shape(Enum):
    CLONE = "clone"
    BARE = "bare"
    WORKTREE = "worktree"
    SUBMODULE = "submodule"


@dataclass(frozen=True, slots=True)
class Unit:
    """A tree that holds repositories, and where it was when they were made: paths in them speak of that place."""

    dir_fd: int  # of its parent
    name: str
    was: str
    temp_root: str = ""  # that it lies in, where an origin on this machine may be asked
    rests_on: list[str] = field(default_factory=list)  # such origins that hold commits which no other remote has

    def now(self, path: str) -> str:
        """Where to find what had this absolute path: the unit may lie in quarantine."""
        if path != self.was and not path.startswith(f"{self.was}/"):
            return path
        return f"{system.descriptors.path_of(self.dir_fd)}/{self.name}{path[len(self.was) :]}"


@dataclass(slots=True)
class Repository:
    """One repository with its parts open, its configuration read and found harmless."""

    shape: Shape
    path: str  # of the directory that holds it, as it was when it was made
    unit: Unit
    tree: Directory  # where its work tree is, or for a bare repository itself
    own: Directory  # HEAD, index and what is going on
    common: Directory  # objects, refs and configuration: the same as `own` but in a linked worktree
    config: Config
    git: Git

    @property
    def main(self) -> str:
        """What to give to `git -C`: the directory of the repository that a worktree belongs to."""
        path = self.common.path
        return path.removesuffix("/.git")

    @property
    def inside(self) -> str:
        """Where it is below its unit; "" is the unit itself."""
        return self.path[len(self.unit.was) + 1 :]


@contextmanager
def opened(unit: Unit, inside: str = "") -> Iterator[Repository | None]:
    """The repository in `inside` the unit. None: only a placeholder or a chance name, nothing can be lost with it.

    Raises Unclear, with the reason, if it must not or cannot be looked at."""
    with ExitStack() as stack:
        fd = _closing(stack, descend(unit.dir_fd, f"{unit.name}/{inside}"))
        tree = Directory(fd)
        path = f"{unit.was}/{inside}".rstrip("/")
        mode = tree.mode(".git")
        if mode is None:
            yield _bare(unit, path, tree, stack)
        elif stat.S_ISREG(mode):
            yield _named_elsewhere(unit, path, tree, stack)
        elif not stat.S_ISDIR(mode):
            raise Unclear("its .git is neither a directory nor a file")
        elif not tree.names(".git"):
            yield None  # a placeholder, such as sandboxes make
        else:
            own = Directory(_closing(stack, descend(fd, ".git")))
            yield _checked(
                Repository(
                    shape=Shape.CLONE,
                    path=path,
                    unit=unit,
                    tree=tree,
                    own=own,
                    common=own,
                    config=_config(own),
                    git=Git(fd),
                )
            )


def _bare(unit: Unit, path: str, tree: Directory, stack: ExitStack) -> Repository | None:
    if not (tree.has("HEAD") and tree.has_directory("objects") and tree.has_directory("refs")):
        return None
    git = Git(tree.fd, directory=".", work_tree=None)
    return _checked(
        Repository(
            shape=Shape.BARE, path=path, unit=unit, tree=tree, own=tree, common=tree, config=_config(tree), git=git
        )
    )


def _named_elsewhere(unit: Unit, path: str, tree: Directory, stack: ExitStack) -> Repository:
    """A linked worktree or a submodule: its git directory lies elsewhere, and must know about it."""
    word, _, target = tree.line(".git").partition(" ")
    if word != "gitdir:" or not target:
        raise Unclear("its .git names no repository")
    own = _reached(stack, unit, os.path.normpath(os.path.join(path, target)), "the repository that its .git names")
    git = Git(tree.fd, directory=own.path)
    if not own.has("commondir"):
        return _submodule(unit, path, tree, own, git)
    common_dir = os.path.normpath(os.path.join(path, target, own.line("commondir")))
    common = _reached(stack, unit, common_dir, "the repository that it is a worktree of")
    if os.path.dirname(own.path) != f"{common.path}/worktrees":
        raise Unclear("its .git names no worktree of that repository")
    if not _is_same(os.path.join(path, target, own.line("gitdir")), f"{path}/.git"):
        raise Unclear(f"{own.path} is the entry of another worktree")
    settings = _config(common, own if own.has("config.worktree") else None)
    return _checked(
        Repository(
            shape=Shape.WORKTREE, path=path, unit=unit, tree=tree, own=own, common=common, config=settings, git=git
        )
    )


def _submodule(unit: Unit, path: str, tree: Directory, own: Directory, git: Git) -> Repository:
    settings = _config(own, allowed=_OF_A_SUBMODULE)
    back = settings.value("core.worktree")
    origin = os.path.normpath(os.path.join(path, tree.line(".git").partition(" ")[2]))
    if back is None or not _is_same(os.path.join(origin, back.strip('"')), path):
        raise Unclear("the repository that its .git names does not name it in turn")
    return _checked(
        Repository(
            shape=Shape.SUBMODULE, path=path, unit=unit, tree=tree, own=own, common=own, config=settings, git=git
        )
    )


def module(unit: Unit, path: str, directory: Directory) -> Repository:
    """The repository of a submodule by itself, whether it is checked out or not: commits only, no work tree."""
    settings = _config(directory, allowed=_OF_A_SUBMODULE)
    git = Git(directory.fd, directory=".", work_tree=".")  # bare and core.worktree would contradict each other
    return _checked(
        Repository(
            shape=Shape.BARE,
            path=path,
            unit=unit,
            tree=directory,
            own=directory,
            common=directory,
            config=settings,
            git=git,
        )
    )


def _reached(stack: ExitStack, unit: Unit, path: str, what: str) -> Directory:
    if Reach.now().frozen(path):
        raise Unclear(f"{what} is on a mount that does not respond")
    try:
        fd = os.open(unit.now(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Unclear(f"{what} cannot be opened: {error.strerror}") from None
    directory = Directory(_closing(stack, fd))
    if os.fstat(fd).st_uid != os.geteuid():
        raise Unclear(f"{what} belongs to another user")
    return directory


def _is_same(one: str, other: str) -> bool:
    """Two names of one place; as texts first, because what was taken is not there any more."""
    one, other = os.path.normpath(one), os.path.normpath(other)
    if one == other or os.path.realpath(one) == os.path.realpath(other):
        return True
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _checked(repository: Repository) -> Repository:
    """Raise unless git can be let near it."""
    common = repository.common
    for name in _REFUSED:
        if common.says_something(name):
            raise Unclear(f"parts of it are elsewhere ({name})")
    if repository.shape is not Shape.WORKTREE and common.has("commondir"):
        raise Unclear("parts of it are elsewhere (commondir)")
    for name in ("objects", "refs"):
        if not common.has_directory(name):
            raise Unclear(f"its {name} are not a directory")
    if repository.config.objection:
        raise Unclear(repository.config.objection)
    return repository


def _config(common: Directory, own: Directory | None = None, *, allowed: frozenset[str] = frozenset()) -> Config:
    """The configuration with, for a worktree, its own part of it."""
    files = [(common, "config")]
    if own is not None or common.has("config.worktree"):
        files.append((own or common, "config.worktree"))
    texts = [directory.read(name).decode("utf-8", "surrogateescape") for directory, name in files]
    return sum((parse(text, allowed) for text in texts), Config())


def _closing(stack: ExitStack, fd: int) -> int:
    stack.callback(os.close, fd)
    return fd


# Whether a repository's configuration is harmless to hand to git. Read by hand, before git sees it. Pure.
#
# What is allowed is listed; everything else, and every line this strict reader does not understand, is an
# objection: filters, fsmonitor, includes, another place for the work tree and helpers all run programs or reach
# elsewhere. `core.hooksPath` and the filter of git-lfs are allowed because each of our calls switches them off.

_HEADER = re.compile(r'\[[ \t]*([A-Za-z0-9-]+)(?:\.([A-Za-z0-9.-]+)|[ \t]+"([^"\\]*)")?[ \t]*\][ \t]*(?:[#;].*)?')
_KEY = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?")
_UNCLEAR = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f\\]"
)  # a backslash may join lines: then we would read other keys than git
_OVER_THE_NETWORK = re.compile(
    r"(?:https?|ssh|git|ftps?|git\+ssh|ssh\+git)://[^\s\"#;]+|(?!-)[\w.@~-]+:(?!:|//)[^\s\"#;]+", re.ASCII
)
_GLOB = frozenset("*?[")

_ANY_KEY = frozenset(
    ("user", "author", "committer", "branch", "push", "pull", "fetch", "init", "advice", "color", "gc", "commit", "tag",
     "http", "index", "feature", "pack", "stash", "worktree", "gui", "github", "maintenance", "rerere", "lfs")
)  # fmt: skip
_CORE = (
    "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks",
    "autocrlf", "eol", "safecrlf", "compression", "loosecompression", "preloadindex", "untrackedcache",
    "sharedrepository", "quotepath", "abbrev", "commitgraph", "multipackindex", "longpaths", "protectntfs",
    "protecthfs", "checkstat", "trustctime", "excludesfile", "bigfilethreshold", "hookspath", "sparsecheckout",
    "sparsecheckoutcone", "editor", "commentchar", "whitespace",
)  # fmt: skip
_REMOTE = (
    "url", "pushurl", "fetch", "push", "tagopt", "prune", "prunetags", "mirror", "gh-resolved", "promisor",
    "partialclonefilter", "skipfetchall", "skipdefaultupdate",
)  # fmt: skip
_KEYS = {
    "core": frozenset(_CORE),
    "remote": frozenset(_REMOTE),
    "submodule": frozenset(("active", "url", "recurse", "branch")),
    "extensions": frozenset(("objectformat", "noop", "partialclone", "worktreeconfig", "relativeworktrees")),
    "merge": frozenset(("conflictstyle", "ff")),
    "rebase": frozenset(("autostash", "autosquash", "updaterefs")),
    "diff": frozenset(("renames", "algorithm", "colormoved")),
}


@dataclass(frozen=True, slots=True)
class Setting:
    section: str
    subsection: str  # "" if there is none
    key: str
    value: str  # as it stands in the file

    @property
    def name(self) -> str:
        return ".".join(filter(None, (self.section, self.subsection, self.key)))


@dataclass(frozen=True, slots=True)
class Config:
    """What one or several files of configuration say, in their order, and what speaks against handing them to git."""

    settings: tuple[Setting, ...] = ()
    objection: str | None = None  # the key, or the line, that makes it unclear

    def __add__(self, other: Config) -> Config:
        return Config(self.settings + other.settings, self.objection or other.objection)

    def value(self, name: str) -> str | None:
        """The last one set of `section.key`."""
        return next((each.value for each in reversed(self.settings) if each.name == name), None)

    def published_by(self) -> tuple[str, ...]:
        """Remotes over a network, whose tracking refs tell what lies on another machine. A local path publishes
        nothing: it is as mortal as the clone, and often lies beside it."""
        remotes: dict[str, list[Setting]] = {}
        for each in self.settings:
            if each.section == "remote" and each.subsection:
                remotes.setdefault(each.subsection, []).append(each)
        distant = {name for name, settings in remotes.items() if _is_distant(name, settings)}
        near = {name: settings for name, settings in remotes.items() if name not in distant}
        if any(_writes_elsewhere(name, settings) for name, settings in near.items()):
            return ()
        return tuple(sorted(name for name in distant if not any(name.startswith(f"{each}/") for each in near)))


def parse(text: str, allowed: frozenset[str] = frozenset()) -> Config:
    """Every setting in this configuration, and the first that is not known to run nothing and reach nothing."""
    section = subsection = None
    settings: list[Setting] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = line.removesuffix("\r")
        bare = line.strip(" \t")
        if _UNCLEAR.search(line):
            return Config(tuple(settings), f"line {number} of its configuration")
        if not bare or bare[0] in "#;":
            continue
        if header := _HEADER.fullmatch(bare):
            section, subsection = header[1].lower(), (header[2] or "").lower() or header[3] or ""
            continue
        key = _KEY.fullmatch(line)
        if section is None or subsection is None or key is None:
            return Config(tuple(settings), f"line {number} of its configuration")
        setting = Setting(section, subsection, key[1].lower(), (key[2] or "").strip(" \t"))
        if not _is_allowed(setting) and setting.name not in allowed:
            return Config(tuple(settings), f"{setting.name} in its configuration")
        settings.append(setting)
    return Config(tuple(settings))


def _is_allowed(setting: Setting) -> bool:
    if setting.section == "filter":
        return setting.subsection == "lfs"
    return setting.section in _ANY_KEY or setting.key in _KEYS.get(setting.section, ())


def _is_distant(name: str, settings: list[Setting]) -> bool:
    places = [each.value for each in settings if each.key in ("url", "pushurl")]
    return bool(places) and not _GLOB & set(name) and all(_OVER_THE_NETWORK.fullmatch(place) for place in places)


def _writes_elsewhere(name: str, settings: list[Setting]) -> bool:
    """Whether a fetch from this remote may have moved the tracking refs of another."""
    targets = [each.value.partition(":")[2] for each in settings if each.key == "fetch"]
    return any(
        target.startswith("refs/remotes/") and not target.startswith(f"refs/remotes/{name}/") for target in targets
    )
