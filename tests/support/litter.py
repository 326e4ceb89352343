"""Litter as the real agents leave it, and a clock that is later than it."""

import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path

HOUR_NS = 3600 * 10**9


def later(hours: float) -> Callable[[], int]:
    """A clock for `now_ns`: ctime cannot be set back, so the judge's clock goes forward."""
    return lambda: time.time_ns() + int(hours * HOUR_NS)


def claude_session(root: Path, *, slug: str = "-home-me-project", files: int = 3, session: str | None = None) -> Path:
    """`claude-<uid>/<slug>/<session>/tasks/*.output`, as Claude Code makes it."""
    unit = root / f"claude-{os.geteuid()}" / slug / (session or str(uuid.uuid4()))
    (unit / "tasks").mkdir(parents=True)
    for number in range(files):
        (unit / "tasks" / f"b{number:08x}.output").write_text(f"output {number}\n" * 100)
    return unit


def cwd_markers(root: Path, count: int, *, first: int = 0) -> list[Path]:
    paths = [root / f"claude-{number:04x}-cwd" for number in range(first, first + count)]
    for path in paths:
        path.write_text("/home/me/project\n")
    return paths


def snapshot(path: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Everything that undo must give back: names, modes, mtimes, contents; links as their targets."""
    found = {}
    for entry in [path, *sorted(path.rglob("*"))]:
        status = entry.lstat()
        if entry.is_symlink():
            content = os.fsencode(os.readlink(entry))
        else:
            content = entry.read_bytes() if entry.is_file() else b""
        found[str(entry.relative_to(path))] = (status.st_mode, status.st_mtime_ns, status.st_size, content)
    return found
