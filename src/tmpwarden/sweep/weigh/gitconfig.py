"""Whether a repository's configuration is harmless to hand to git. Read by hand, before git sees it. Pure.

What is allowed is listed; everything else, and every line this strict reader does not understand, is a no: filters,
fsmonitor, hooks, includes, alternates of the work tree, partial clones and helpers all run programs or use the network.
"""

from __future__ import annotations

import re

_HEADER = re.compile(r'\[[ \t]*([A-Za-z0-9-]+)(?:\.([A-Za-z0-9.-]+)|[ \t]+"([^"\\]*)")?[ \t]*\][ \t]*(?:[#;].*)?')
_KEY = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?")
_UNCLEAR = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f\\]"
)  # a backslash may join lines: then we would read other keys than git

_ANY_KEY = frozenset(
    ("user", "author", "committer", "branch", "push", "pull", "fetch", "init", "advice", "color", "gc")
)
_CORE = (
    "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks",
    "autocrlf", "eol", "safecrlf", "compression", "loosecompression", "preloadindex", "untrackedcache",
    "sharedrepository", "quotepath", "abbrev", "commitgraph", "multipackindex", "longpaths", "protectntfs",
    "protecthfs", "checkstat", "trustctime", "excludesfile", "bigfilethreshold",
)  # fmt: skip
_KEYS = {
    "core": frozenset(_CORE),
    "remote": frozenset(("url", "pushurl", "fetch", "push", "tagopt", "prune", "prunetags", "mirror", "gh-resolved")),
    "submodule": frozenset(("active", "url", "recurse")),
    "extensions": frozenset(("objectformat", "noop")),
    "lfs": frozenset(("repositoryformatversion", "access", "locksverify")),
    "merge": frozenset(("conflictstyle", "ff")),
    "rebase": frozenset(("autostash", "autosquash")),
    "diff": frozenset(("renames", "algorithm", "colormoved")),
}


def is_harmless(text: str) -> bool:
    """Whether every setting in this configuration is known to run nothing and reach nothing."""
    section = None
    for line in text.removeprefix("\ufeff").split("\n"):
        line = line.removesuffix("\r")
        if _UNCLEAR.search(line):
            return False
        bare = line.strip(" \t")
        if not bare or bare[0] in "#;":
            continue
        if header := _HEADER.fullmatch(bare):
            section = header[1].lower()
        elif section is None or not (key := _KEY.fullmatch(line)) or not _is_allowed(section, key[1].lower()):
            return False
    return True


def _is_allowed(section: str, key: str) -> bool:
    return section in _ANY_KEY or key in _KEYS.get(section, ())
