"""Reading the audit back: every generation, oldest first, torn lines passed over."""

import json
from collections.abc import Iterator
from datetime import datetime

from ...oskit.files.rotate import generations
from ..rules.glob import matches
from .audit import KEEP, log_path

Entry = dict[str, object]


def entries(state_dir: str) -> Iterator[Entry]:
    for path in generations(log_path(state_dir), keep=KEEP):
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                if isinstance(entry, dict):
                    yield entry


def is_wanted(entry: Entry, *, fields: dict[str, str], words: str = "", since_s: float = 0.0) -> bool:
    """`fields` are globs, all must match; `words` is looked for in the input before and after."""
    if any(not matches(glob, str(entry.get(key) or "")) for key, glob in fields.items()):
        return False
    if words and not any(words in str(entry.get(key) or "") for key in ("before", "after")):
        return False
    return since_s <= 0 or _seconds(entry) >= since_s


def _seconds(entry: Entry) -> float:
    try:
        return datetime.fromisoformat(str(entry.get("time"))).timestamp()
    except ValueError:
        return 0.0
