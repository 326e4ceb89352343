"""Is the guard's config as it stands now in force? For those who look after a user, not for hooks."""

from __future__ import annotations

import os

from .compiled import cache_path, config_files
from .compiling import complaint_about
from .config import load


def complaint_now(config_dir: str, state_dir: str) -> str:
    """One sentence about what is broken in the files, "" if nothing is, or if there are none."""
    files = tuple(path for path in config_files(config_dir) if os.path.exists(path))
    if not files:
        return ""
    return complaint_about(load(files), has_last_good=os.path.exists(cache_path(state_dir)))
