"""Litter as the real agents leave it, and a clock that is later than it."""

import json
import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from tmpwarden.sweep.store.quarantine import is_label

HOUR_NS = 3600 * 10**9


def later(hours: float) -> Callable[[], int]:
    """A clock for `now_ns`: ctime cannot be set back, so the judge's clock goes forward."""
    return lambda: time.time_ns() + int(hours * HOUR_NS)


def claude_session(
    root: Path, *, slug: str = "-home-me-project", files: int = 3, session: str | None = None, recorded: bool = True
) -> Path:
    """`claude-<uid>/<slug>/<session>/tasks/*.output`, as Claude Code makes it, of a process that is gone.

    `recorded`: its registry says so. Without a record its owner is absent, or unknown if whoever runs the tests has an
    agent of the same kind running.
    """
    session = session or str(uuid.uuid4())
    unit = root / f"claude-{os.geteuid()}" / slug / session
    if recorded:
        record_dead_session(session)
    (unit / "tasks").mkdir(parents=True)
    for number in range(files):
        (unit / "tasks" / f"b{number:08x}.output").write_text(f"output {number}\n" * 100)
    return unit


def record_dead_session(session: str) -> None:
    """An entry of Claude Code's registry whose process is gone: that pid has another start time now, or none."""
    registry = Path(os.environ["HOME"]) / ".claude" / "sessions"
    registry.mkdir(parents=True, exist_ok=True)
    pid = 4_000_000 + len(list(registry.iterdir()))
    record = {"pid": pid, "sessionId": session, "procStart": "1", "startedAt": int(time.time() * 1000)}
    (registry / f"{pid}.json").write_text(json.dumps(record))


def cwd_markers(root: Path, count: int, *, first: int = 0) -> list[Path]:
    paths = [root / f"claude-{number:04x}-cwd" for number in range(first, first + count)]
    for path in paths:
        path.write_text("/home/me/project\n")
    return paths


def in_quarantine(root: Path, uid: int | None = None) -> list[Path]:
    """What was taken from a root and is neither back nor gone; not the labels beside it."""
    place = root / f"tmpwarden-{os.geteuid() if uid is None else uid}" / "q"
    return [path for path in place.iterdir() if not is_label(path.name)]


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
