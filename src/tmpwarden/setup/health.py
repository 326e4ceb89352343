"""Whether what we wrote into agents' settings and into the machine's scheduler will really call us: for the doctor."""

from __future__ import annotations

import os
import shlex
from itertools import pairwise

from ..doctor.patient import HookState
from ..errors import SetupFailed, TmpwardenError
from . import apply, record, schedulers, timer
from .targets import find


def of_hooks() -> tuple[HookState, ...]:
    try:
        return tuple(HookState(seen.id, _state(seen), seen.settings, guard=seen.guard) for seen in apply.table())
    except (OSError, TmpwardenError):
        return ()


def _state(seen: apply.AgentLine) -> str:
    """A hook whose interpreter or script is gone passes in silence: nobody but us would tell."""
    if seen.state in ("installed", "outdated", "untrusted", "twice"):
        for line in find(seen.id).commands():
            if not all(map(os.path.exists, _needed(line))):
                return "interpreter gone"
    return "unreached" if seen.state == "installed" and seen.guard and not reaches_all_tools(seen.id) else seen.state


def reaches_all_tools(agent: str) -> bool:
    """Whether the agent calls the guard for every tool that a rule names: it is told which at install."""
    known = record.load(agent)
    if known is None or not known.guard:
        return True
    return not apply.install(agent, guard=True, observe=known.observe, dry_run=True).changed


def _needed(line: str) -> list[str]:
    """What the command itself asks for before it starts anything: `[ -x PYTHON ] && [ -f SCRIPT ] && ...`."""
    try:
        words = shlex.split(line)
    except ValueError:
        return []  # a plugin's source, no command
    return [after for word, after in pairwise(words) if word in ("-x", "-f")]


def of_timer() -> str | None:
    try:
        activity = timer.activity()
    except (OSError, TmpwardenError):
        return None
    return None if activity == "absent" else activity


def instead_of_timer() -> str:
    """What to call on a machine that has no scheduler for us; empty where `install timer` would do."""
    try:
        schedulers.best(system=False)
    except SetupFailed:
        return schedulers.BY_HAND
    return ""
