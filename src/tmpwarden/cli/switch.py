"""The off switch of all hooks: a file of the user's, and who may not touch it."""

from __future__ import annotations

import os

from ..catalogue.load import load
from ..hooks.notebook import OFF
from ..oskit.files import places


def path() -> str:
    return os.path.join(places.config_dir(), OFF)


def off_until() -> float | None:
    """When the hooks are on again by themselves: 0 for never, None where they are on."""
    try:
        status = os.stat(path())
    except OSError:
        return None
    if status.st_size == 0:
        return 0
    import time

    return status.st_mtime if status.st_mtime > time.time() else None


def agent_around() -> str:
    """A variable that an agent sets for what it runs; "" where none does."""
    known = {variable for agent in load(dirs=()).agents for variable in agent.session_env}
    return next((variable for variable in sorted(known) if os.environ.get(variable)), "")
