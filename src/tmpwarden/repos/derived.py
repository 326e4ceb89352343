"""What in a checkout a build or an install makes again: most of the bytes, none of the work.

Only the maker's own evidence counts (`makers`), and all members of a directory are looked at. A name such as `build` or
`dist`, or a CACHEDIR.TAG, is no evidence: people keep files in such places too. Everything else that git does not track
may be the only copy: `.env`, databases, links. A person's word can add names of directories.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from .makers import is_made_again

NO_NAMES: frozenset[str] = frozenset()


def is_derived(path: str, also: frozenset[str] = NO_NAMES) -> bool:
    """Whether what lies at `path` can be made again. `also`: names of directories that a person calls so."""
    if os.path.islink(path) or not os.path.isdir(path):
        return False
    return os.path.basename(path) in also or is_made_again(path)


def derived_directories(top: str, also: frozenset[str] = NO_NAMES) -> Iterator[str]:
    """Outermost derived directories in a checkout; repositories inside are not entered."""
    waiting = [top]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                directories = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        for path in directories:
            if path.endswith("/.git"):
                continue
            if is_derived(path, also):
                yield path
            elif not os.path.lexists(f"{path}/.git"):
                waiting.append(path)


def first_unique(path: str, also: frozenset[str] = NO_NAMES) -> str | None:
    """The first thing at or below `path` that cannot be made again; None if all of it can."""
    return next(unique(path, also, with_repositories=True), None)


def unique(path: str, also: frozenset[str] = NO_NAMES, *, with_repositories: bool = False) -> Iterator[str]:
    """Everything at or below `path` that cannot be made again: files, links, and directories that cannot be read.
    Repositories below are left to whoever inspects them, unless asked for."""
    waiting = [path]
    while waiting:
        here = waiting.pop()
        if is_derived(here, also):
            continue
        if os.path.islink(here) or not os.path.isdir(here):
            yield here
            continue
        try:
            names = sorted(os.listdir(here), reverse=True)
        except OSError:
            yield here
            continue
        if with_repositories or ".git" not in names:
            waiting += (f"{here}/{name}" for name in names)
