"""Real repositories, and what an inspection says of them."""

import os
import subprocess
from pathlib import Path

from tmpwarden.repos import gitdir, work

_SETTINGS = (
    "user.name=T", "user.email=t@example.org", "protocol.file.allow=always",
    "maintenance.auto=false", "gc.auto=0",  # else every commit starts another git that finds nothing to do
)  # fmt: skip


def git(where: Path, *words: str) -> str:
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    done = subprocess.run(["git", *settings, *words], cwd=where, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(where: Path, name: str = "file", content: str = "x") -> None:
    (where / name).write_text(content)
    git(where, "add", name)
    git(where, "commit", "-qm", f"change {name}")


def lost(clone: Path) -> tuple[str, ...] | None:
    found = inspected(clone)
    return None if isinstance(found, str) else found.losses


def inspected(clone: Path, inside: str = "") -> work.Found | str:
    """What was found, or why nothing could be."""
    fd = os.open(clone.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return work.inspect(fd, clone.name, inside)
    except gitdir.Unclear as unclear:
        return str(unclear)
    finally:
        os.close(fd)
