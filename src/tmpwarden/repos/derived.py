"""What in a checkout can be made again by a build or an install: most of the bytes, none of the work.

A directory is derived if a tool marked it so (CACHEDIR.TAG), or if its name stands in the table below and what the
table wants beside it or inside it is there. Everything else that git ignores may be the only copy: `.env`, databases.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ..lazy_dataclass import dataclass
from ..small_files import read

_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"  # https://bford.info/cachedir/


@dataclass(frozen=True, slots=True)
class DerivedKind:
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
_MARKED_BY_NAME = (
    "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", "DerivedData", "elm-stuff", ".stack-work",
    "dist-newstyle", "zig-cache", ".zig-cache", ".uv-cache", ".pnpm-store",
)  # fmt: skip
_OF_NODE = (
    ".next", ".nuxt", ".svelte-kit", ".astro", ".angular", ".turbo", ".parcel-cache", ".vite", ".nyc_output",
)  # fmt: skip
DIRECTORIES = {
    **dict.fromkeys(_MARKED_BY_NAME, DerivedKind()),
    **dict.fromkeys(_OF_NODE, DerivedKind(beside=_NODE)),
    **dict.fromkeys((".hypothesis", ".eggs"), DerivedKind(beside=_PYTHON)),
    **dict.fromkeys((".venv", "venv", "env"), DerivedKind(inside=("pyvenv.cfg",))),
    **dict.fromkeys(("cmake-build-debug", "cmake-build-release"), DerivedKind(inside=("CMakeCache.txt",))),
    "node_modules": DerivedKind(
        beside=_NODE, inside=(".package-lock.json", ".pnpm", ".modules.yaml", ".yarn-integrity", ".bin")
    ),
    "target": DerivedKind(beside=("Cargo.toml", "pom.xml", "build.sbt"), inside=(".rustc_info.json",)),
    ".tox": DerivedKind(beside=("tox.ini", *_PYTHON)),
    ".nox": DerivedKind(beside=("noxfile.py",)),
    "htmlcov": DerivedKind(inside=("index.html",)),
    ".output": DerivedKind(beside=("nuxt.config.ts", "nuxt.config.js")),
    "dist": DerivedKind(beside=(*_NODE, *_PYTHON)),
    "build": DerivedKind(beside=(*_GRADLE, *_PYTHON, *_NODE), inside=("CMakeCache.txt", "build.ninja")),
    ".gradle": DerivedKind(beside=_GRADLE),
    "bazel-out": DerivedKind(beside=("WORKSPACE", "MODULE.bazel")),
    "obj": DerivedKind(inside=("project.assets.json",)),
    "Pods": DerivedKind(beside=("Podfile",)),
    ".build": DerivedKind(beside=("Package.swift",)),
    ".dart_tool": DerivedKind(beside=("pubspec.yaml",)),
    "_build": DerivedKind(beside=("mix.exs", "rebar.config", "dune-project")),
    "deps": DerivedKind(beside=("mix.exs",)),
    "zig-out": DerivedKind(beside=("build.zig",)),
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
    return bool(_EGG_INFO.fullmatch(name)) or read(f"{path}/CACHEDIR.TAG", len(_TAG)) == _TAG


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
