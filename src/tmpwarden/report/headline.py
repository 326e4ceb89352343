"""The one sentence on top of the page: how full, what may go, what to run. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..text import about, plural, shown, size

Document = Mapping[str, Any]


def percent_of_bytes(root: Document) -> int:
    """As df tells it: rounded up, and what is reserved for root is no part of the whole."""
    return _percent(_used(root, "bytes"), root["bytes_free"])


def percent_of_inodes(root: Document) -> int:
    return _percent(_used(root, "inodes"), root["inodes_free"])


def fullest(roots: Sequence[Document]) -> Document | None:
    return max(roots, key=lambda root: max(percent_of_bytes(root), percent_of_inodes(root)), default=None)


def sentence(roots: Sequence[Document], totals: Document, command: str) -> tuple[str, str]:
    """What is so, and the command that helps: `/tmp is 61 % full; 3.2 GB may go now: run`, `tmpwarden clean`."""
    root = fullest(roots)
    states = [] if root is None else [_state(root) + _end(root)]
    if not totals["removable_entries"]:
        return _begun("; ".join([*states, "nothing may go now"])) + ".", ""
    least = "at least " if totals.get("at_least") else ""
    count, amount = totals["removable_entries"], totals["removable_bytes"]
    what = size(amount) if amount else plural(count, "entry", "entries")
    return _begun("; ".join([*states, f"{least}{what} may go now"])) + ": run", command


def _begun(words: str) -> str:
    """A sentence begins with a capital; a path stays as it is."""
    return words if words.startswith(("/", "$")) else words[:1].upper() + words[1:]


def _end(root: Document) -> str:
    seconds = root.get("trend", {}).get("full_in_seconds")
    return "" if seconds is None else f" and will be full in about {about(seconds)}"


def _state(root: Document) -> str:
    of_bytes, of_inodes = percent_of_bytes(root), percent_of_inodes(root)
    if of_inodes > of_bytes and of_inodes >= 50:
        return f"{shown(root['path'])} has used {of_inodes} % of its inodes"
    return f"{shown(root['path'])} is full" if of_bytes >= 100 else f"{shown(root['path'])} is {of_bytes} % full"


def _used(root: Document, what: str) -> int:
    used: int = root.get(f"{what}_used", root[f"{what}_total"] - root[f"{what}_free"])
    return used


def _percent(used: int, free: int) -> int:
    whole = used + free
    return min(100, max(0, -(-100 * used // whole))) if whole > 0 else 0
