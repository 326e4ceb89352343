"""Litter as agents leave it, planted into a temp root. Its ctime is now: run the command later (support/command.py)."""

import os
import uuid
from pathlib import Path

DAYS = 9 * 86400  # how much later: older than every threshold


def marker(root: Path, number: int = 0x1A2B) -> Path:
    """The working directory hand-back of one Bash call: worthless, nobody's."""
    path = root / f"claude-{number:04x}-cwd"
    path.write_text("/work\n")
    return path


def markers(root: Path, count: int) -> list[Path]:
    return [marker(root, number) for number in range(count)]


def session(root: Path, size: int = 4096, *, name: str | None = None, uid: int | None = None) -> Path:
    """One session's directory with a task output: worth something, so it goes into quarantine."""
    owner = os.geteuid() if uid is None else uid
    path = root / f"claude-{owner}" / "-work-shop" / (name or str(uuid.uuid4()))
    (path / "tasks").mkdir(parents=True, mode=0o700)
    (path / "tasks" / "b1234abcd.output").write_bytes(b"x" * size)
    return path


def staging(root: Path, name: str = "moat-claude-staging-7741") -> Path:
    path = root / name
    path.mkdir(mode=0o700)
    (path / "settings.json").write_text("{}")
    return path
