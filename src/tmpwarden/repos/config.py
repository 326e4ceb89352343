"""Whether a repository's configuration is harmless to hand to git. Read by hand, before git sees it. Pure.

What is allowed is listed; everything else, and every line this strict reader does not understand, is an objection:
filters, fsmonitor, includes, another place for the work tree and helpers all run programs or reach elsewhere.
`core.hooksPath` and the filter of git-lfs are allowed because each of our calls switches them off.
"""

from __future__ import annotations

import re

from ..lazy_dataclass import dataclass

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
