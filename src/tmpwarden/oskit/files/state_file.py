"""A small JSON file of our own: read whole or not at all, written whole or not at all, and neither raises OSError."""

from __future__ import annotations

import json
import os

from . import atomic, own_dirs, places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LARGEST = 1 << 20


def path(name: str) -> str:
    """Of one in the state directory."""
    return f"{places.state_dir()}/{name}"


def read(path: str) -> Any:
    """What it holds; None where there is none, or nothing that can be read."""
    try:
        with open(path, encoding="utf-8", opener=atomic.at_once) as file:
            return json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return None


def write(path: str, value: object) -> bool:
    """False where it could not be written: a full disk forgets."""
    try:
        own_dirs.make_private_dir(os.path.dirname(path))
        atomic.write(path, json.dumps(value))
    except OSError:
        return False
    return True
