"""Plain files that a person may want: documents, images, data, archives, notebooks. Chosen by their names."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator

from ..lazy_dataclass import dataclass
from ..text import shown, size

PATTERNS = (
    "*.pdf", "*.doc", "*.docx", "*.odt", "*.rtf", "*.md", "*.txt", "*.tex", "*.html", "*.epub",
    "*.xls", "*.xlsx", "*.ods", "*.csv", "*.tsv", "*.parquet", "*.ppt", "*.pptx", "*.odp",
    "*.png", "*.jpg", "*.jpeg", "*.gif", "*.svg", "*.webp", "*.drawio", "*.mp3", "*.wav", "*.mp4", "*.webm",
    "*.sqlite", "*.sqlite3", "*.db", "*.ipynb", "*.zip", "*.tar", "*.tar.*", "*.tgz", "*.7z", "*.patch", "*.diff",
)  # fmt: skip
# Full of other people's READMEs. No proof that a maker is behind it is needed: what is not saved is not removed for it.
_NOT_ENTERED = frozenset(("node_modules", "site-packages", "__pycache__", ".venv", "venv", ".tox", ".nox", "target"))


@dataclass(frozen=True, slots=True)
class SaveLimits:
    """How much may be saved at once."""

    max_file_bytes: int
    max_bytes: int
    patterns: tuple[str, ...] = PATTERNS

    def wants(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name.lower(), pattern.lower()) for pattern in self.patterns)


def wanted(top: str, limits: SaveLimits, left_out: list[str]) -> Iterator[str]:
    """Paths below `top`, newest first, as far as the limits go; repositories and what installers fill are not entered.
    What is wanted and too big is told in `left_out`."""
    found = sorted(_candidates(top, limits), key=lambda each: -each[1].st_mtime_ns)
    room = limits.max_bytes
    for name, status in found:
        if status.st_size > min(limits.max_file_bytes, room):
            left_out.append(f"{shown(name)} is too big: {size(status.st_size)}")
            continue
        room -= status.st_size
        yield name


def _candidates(top: str, limits: SaveLimits) -> Iterator[tuple[str, os.stat_result]]:
    waiting = [""]
    while waiting:
        here = waiting.pop()
        try:
            entries = list(os.scandir(f"{top}/{here}"))
        except OSError:
            continue
        if any(entry.name == ".git" for entry in entries):
            continue
        for entry in entries:
            name = f"{here}/{entry.name}".lstrip("/")
            if entry.is_dir(follow_symlinks=False):
                waiting += [] if entry.name in _NOT_ENTERED else [name]
            elif entry.is_file(follow_symlinks=False) and limits.wants(entry.name):
                yield name, entry.stat(follow_symlinks=False)
