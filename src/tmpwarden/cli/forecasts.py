"""Where a root is heading, as programs are told of it."""

from __future__ import annotations

from ..sweep.store.history import Growing, Steady, TooFew, Trend
from .documents import Document


def document(value: Trend) -> Document:
    """`full_in_seconds` is null where that is more than a week away; `state` unknown: the history is too short."""
    match value:
        case Growing(what, per_hour, full_in_s, over_s):
            full_in = None if full_in_s is None else round(full_in_s)
            grows = {"what": what, "per_hour": round(per_hour), "full_in_seconds": full_in}
            return {"state": "growing", **grows, "over_seconds": round(over_s)}
        case Steady():
            return {"state": "steady"}
        case TooFew():
            return {"state": "unknown"}
