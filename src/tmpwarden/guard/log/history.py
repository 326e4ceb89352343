"""Reading the audit back: every generation, oldest first, torn lines passed over."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime

from ...oskit.files.own_files import generations
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


def folded(found: Iterable[Entry]) -> Iterator[Entry]:
    """Each decision with `ran`: the text that ran, None where it did not or was not seen to; what tells so is taken in.

    What was passed or allowed ran as it was told, unless a line says that the agent ran its own text.
    """
    entries = list(found)
    open_asks: dict[tuple[object, object], Entry] = {}
    told: dict[tuple[object, object], Entry] = {}
    kept = []
    for entry in entries:
        said, session, text = entry.get("decision"), entry.get("session"), entry.get("before")
        if said == "done":
            if (asked := open_asks.pop((session, text), None)) is not None:
                asked["ran"] = text
            continue
        after = entry.get("after") or text
        entry["ran"] = after if said in ("allow", "pass") else text if said == "mismatch" else None
        if said == "ask":
            open_asks[session, after] = entry
        elif said == "mismatch" and (session, text) in told:
            told[session, text]["ran"] = text
        told[session, text] = entry
        kept.append(entry)
    yield from kept


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
