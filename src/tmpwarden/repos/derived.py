"""What in a checkout can be made again by a build or an install: most of the bytes, none of the work.

A directory is derived if a tool marked it so (CACHEDIR.TAG), or if its name stands in the table below and what the
table wants beside it or inside it is there. Everything else that git ignores may be the only copy: `.env`, databases.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ..lazy_dataclass import dataclass

_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"


@dataclass(frozen=True, slots=True)
class Row:
    beside: tuple[str, ...] = ()  # one of these lies in the same directory
    inside: tuple[str, ...] = ()  # one of these lies in it

    def holds(self, directory: str, path: str) -> bool:
        if not self.beside and not self.inside:
            return True
        return any(os.path.lexists(f"{directory}/{name}") for name in self.beside) or any(
            os.path.lexists(f"{path}/{name}") for name in self.inside
        )


_GRADLE = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
_NODE = ("package.json",)
_PYTHON = ("pyproject.toml", "setup.py", "setup.cfg")
DIRECTORIES = {
    "node_modules": Row(
        beside=_NODE, inside=(".package-lock.json", ".pnpm", ".modules.yaml", ".yarn-integrity", ".bin")
    ),
    "target": Row(beside=("Cargo.toml", "pom.xml", "build.sbt"), inside=(".rustc_info.json",)),
    ".venv": Row(inside=("pyvenv.cfg",)),
    "venv": Row(inside=("pyvenv.cfg",)),
    "env": Row(inside=("pyvenv.cfg",)),
    "__pycache__": Row(),
    ".mypy_cache": Row(),
    ".pytest_cache": Row(),
    ".ruff_cache": Row(),
    ".hypothesis": Row(beside=_PYTHON),
    ".tox": Row(beside=("tox.ini", *_PYTHON)),
    ".nox": Row(beside=("noxfile.py",)),
    ".eggs": Row(beside=_PYTHON),
    "htmlcov": Row(inside=("index.html",)),
    ".next": Row(beside=_NODE),
    ".nuxt": Row(beside=_NODE),
    ".output": Row(beside=("nuxt.config.ts", "nuxt.config.js")),
    ".svelte-kit": Row(beside=_NODE),
    ".astro": Row(beside=_NODE),
    ".angular": Row(beside=_NODE),
    ".turbo": Row(beside=_NODE),
    ".parcel-cache": Row(beside=_NODE),
    ".vite": Row(beside=_NODE),
    ".nyc_output": Row(beside=_NODE),
    "dist": Row(beside=(*_NODE, *_PYTHON)),
    "build": Row(beside=(*_GRADLE, *_PYTHON, *_NODE), inside=("CMakeCache.txt", "build.ninja")),
    ".gradle": Row(beside=_GRADLE),
    "cmake-build-debug": Row(inside=("CMakeCache.txt",)),
    "cmake-build-release": Row(inside=("CMakeCache.txt",)),
    "bazel-out": Row(beside=("WORKSPACE", "MODULE.bazel")),
    "obj": Row(inside=("project.assets.json",)),
    "Pods": Row(beside=("Podfile",)),
    "DerivedData": Row(),
    ".build": Row(beside=("Package.swift",)),
    ".dart_tool": Row(beside=("pubspec.yaml",)),
    "_build": Row(beside=("mix.exs", "rebar.config", "dune-project")),
    "deps": Row(beside=("mix.exs",)),
    "elm-stuff": Row(),
    ".stack-work": Row(),
    "dist-newstyle": Row(),
    "zig-cache": Row(),
    ".zig-cache": Row(),
    "zig-out": Row(beside=("build.zig",)),
    ".uv-cache": Row(),
    ".pnpm-store": Row(),
}
FILES = re.compile(
    r".+\.py[co]|\.DS_Store|Thumbs\.db|\.eslintcache|.+\.tsbuildinfo|\.coverage|npm-debug\.log.*|yarn-error\.log"
    r"|next-env\.d\.ts|.+\.o|.+\.class"
)
_EGG_INFO = re.compile(r".+\.egg-info")


def is_derived(path: str) -> bool:
    """Whether what lies at `path` can be made again."""
    directory, name = os.path.split(path)
    if os.path.islink(path) or not os.path.isdir(path):
        return bool(FILES.fullmatch(name))
    if (row := DIRECTORIES.get(name)) and row.holds(directory, path):
        return True
    return bool(_EGG_INFO.fullmatch(name)) or _is_tagged(path)


def _is_tagged(path: str) -> bool:
    """https://bford.info/cachedir/"""
    try:
        fd = os.open(f"{path}/CACHEDIR.TAG", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.read(fd, len(_TAG)) == _TAG
    except OSError:
        return False
    finally:
        os.close(fd)


def derived_directories(top: str) -> Iterator[str]:
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
            if is_derived(path):
                yield path
            elif not os.path.lexists(f"{path}/.git"):
                waiting.append(path)


def first_unique(path: str) -> str | None:
    """The first thing at or below `path` that cannot be made again; None if all of it can."""
    return next(unique(path, with_repositories=True), None)


def unique(path: str, *, with_repositories: bool = False, with_links: bool = False) -> Iterator[str]:
    """Everything at or below `path` that cannot be made again: files, and directories that cannot be read. What a link
    leads to is elsewhere; repositories below are left to whoever inspects them, unless asked for."""
    waiting = [path]
    while waiting:
        here = waiting.pop()
        if is_derived(here) or (os.path.islink(here) and not with_links):
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
