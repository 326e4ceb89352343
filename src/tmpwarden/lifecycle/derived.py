"""`[worktrees] derived_only`: what builds and installs make again, out of agents' worktrees that nobody has used for so
long. Off by default; the timer looks once a day, because git is asked about every worktree."""

from __future__ import annotations

import time

from ..catalogue.settings import Settings, load_settings
from ..errors import LockHeld
from ..oskit.files import state_file
from ..repos.worktrees.compose import Clock, TreesWanted, remove, surveyors
from ..repos.worktrees.proof import Tree
from ..repos.worktrees.removal import Gone
from ..text import plural, size
from .background import Deadline

LIMIT_S = 60.0
LOOK_S = 30.0  # then what was found so far is taken, and the next run goes on behind it
_NAME, _EVERY_NS = "derived-looked", 23 * 3600 * 10**9


def take_derived(settings: Settings | None = None, *, now_ns: Clock = time.time_ns, look_s: float = LOOK_S) -> str:
    """What was moved to quarantine, in a sentence; "" where nothing was due."""
    settings = settings or load_settings()
    idle_s = settings.worktrees_derived_only_s
    last_ns, behind = _last_look()
    if idle_s is None or not settings.periodic_enabled or 0 <= now_ns() - last_ns < _EVERY_NS:
        return ""
    wish = TreesWanted(min_idle_s=idle_s, unattended=True)
    try:
        with Deadline(LIMIT_S):
            trees, reached = _survey(wish, behind, now_ns, look_s)
            chosen = [tree for tree in trees if tree.maker and tree.may_lose_derived]  # a person builds in their own
            removed = remove(chosen, wish, only_derived=True, now_ns=now_ns) if chosen else []
            state_file.write(state_file.path(_NAME), {"at_ns": 0 if reached else now_ns(), "behind": reached})
    except LockHeld:  # somebody cleans right now
        return ""
    except KeyboardInterrupt:  # the deadline; what was taken is written down, and tomorrow is soon enough
        state_file.write(state_file.path(_NAME), {"at_ns": now_ns(), "behind": ""})
        return "worktrees took too long to look at; what could be created again in them was not all removed"
    return _sentence([each for each in removed if each.is_gone])


def _survey(wish: TreesWanted, behind: str, now_ns: Clock, look_s: float) -> tuple[list[Tree], str]:
    """Those that were looked at in time, and the path of the last one; "" if that were all."""
    trees: list[Tree] = []
    until = time.monotonic() + look_s
    with surveyors(wish, now_ns=now_ns) as (surveyor, candidates, _):
        waiting = [each for each in candidates if each.path > behind]
        for tree in surveyor.look(waiting):
            trees.append(tree)
            if time.monotonic() > until and len(trees) < len(waiting):
                return trees, tree.path
    return trees, ""


def _last_look() -> tuple[int, str]:
    """When all had been looked at, and behind which path the next look begins."""
    try:
        note = state_file.read(state_file.path(_NAME))
        return int(note["at_ns"]), str(note["behind"])
    except (TypeError, KeyError, ValueError):
        return 0, ""


def _sentence(removed: list[Gone]) -> str:
    if not removed:
        return ""
    trees = plural(len({each.tree.path for each in removed}), "worktree")
    amount = size(sum(each.receipt.bytes for each in removed))
    return f"moved build products and packages of {trees}, {amount}, to quarantine (`tmpwarden undo` brings them back)"
