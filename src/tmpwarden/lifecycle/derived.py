"""`[worktrees] derived_only`: what builds and installs make again, out of agents' worktrees that nobody has used for so
long. Off by default; the timer looks once a day, because git is asked about every worktree."""

from __future__ import annotations

import time

from ..catalogue.settings import Settings, load_settings
from ..errors import LockHeld
from ..oskit.files import state_file
from ..repos.worktrees.compose import Clock, TreesWanted, remove, survey
from ..repos.worktrees.removal import Gone
from ..text import plural, size
from .background import Deadline

LIMIT_S = 45.0
_NAME, _EVERY_NS = "derived-looked", 23 * 3600 * 10**9


def take_derived(settings: Settings | None = None, *, now_ns: Clock = time.time_ns) -> str:
    """What was moved to quarantine, in a sentence; "" where nothing was due."""
    settings = settings or load_settings()
    idle_s = settings.worktrees_derived_only_s
    if idle_s is None or not settings.periodic_enabled or not _is_due(now_ns()):
        return ""
    with Deadline(LIMIT_S):
        wish = TreesWanted(min_idle_s=idle_s, unattended=True)
        trees, _ = survey(wish, now_ns=now_ns)
        chosen = [tree for tree in trees if tree.maker and tree.may_lose_derived]  # a person builds in their own
        try:
            removed = remove(chosen, wish, only_derived=True, now_ns=now_ns) if chosen else []
        except LockHeld:  # somebody cleans right now
            return ""
        state_file.write(state_file.path(_NAME), {"at_ns": now_ns()})
    return _sentence([each for each in removed if each.is_gone])


def _is_due(now_ns: int) -> bool:
    try:
        last_ns = int(state_file.read(state_file.path(_NAME))["at_ns"])
    except (TypeError, KeyError, ValueError):
        return True
    return not 0 <= now_ns - last_ns < _EVERY_NS


def _sentence(removed: list[Gone]) -> str:
    if not removed:
        return ""
    trees = plural(len({each.tree.path for each in removed}), "worktree")
    amount = size(sum(each.receipt.bytes for each in removed))
    return f"moved build products and packages of {trees}, {amount}, to quarantine (`tmpwarden undo` brings them back)"
