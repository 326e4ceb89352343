"""The lines above and below the tree: how full, what is marked; where the cursor is, and why that stays or goes."""

from __future__ import annotations

from ...oskit.files.space import percent_used
from ...text import plural, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .app import View


def summary(view: View) -> str:
    if view.seen is None:
        return view.said
    rooms = [f"{shown(each.path)} {percent_used(each)}%" for each in view.seen.spaces]
    parts = [" ".join(rooms), plural(view.seen.sessions, "live session")]
    parts += [f"undo: {view.seen.undoable}"] * (view.seen.undoable > 0)
    parts += [f"filter: {view.words}"] * bool(view.words) + ["only what may go"] * view.only_going
    parts += [view.mark_counts.told] * bool(view.mark_counts.told)
    return "  |  ".join(parts)


def details(view: View) -> str:
    node = view.here()
    if node is None:
        return "No agent left anything here." if view.forest and not view.forest.units else ""
    where = shown(node.path) if node.path else node.title
    return f"{where}\n{node.why}"
