"""All that a child may still need once it is somebody else: an install below /root, or root's Python, is closed to it.

Modules are loaded late elsewhere, to start fast. Here one import after the privileges are gone is a failure.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import sys
from collections.abc import Iterator

import tmpwarden

_LEFT_OUT = ("hooks", "guard", "__main__", "lifecycle.tick", "cli.ui")  # they draw, or are not for a child
_NOT_NEEDED = tuple(f"tmpwarden.{name}" for name in _LEFT_OUT)
_LATE = re.compile(r"^[ \t]+(?:import ([\w.]+)|from ([\w.]+) import )", re.MULTILINE)
_OF_THE_LIBRARY = ("encodings.ascii", "encodings.latin_1", "encodings.utf_8", "traceback")  # what it loads late itself


def preload() -> None:
    """Import this package, what its functions import late, and the built-in catalogue."""
    for name in _modules():
        module = importlib.import_module(name)
        for late in _late_imports(getattr(module, "__file__", None)):
            importlib.import_module(late)
    for name in _OF_THE_LIBRARY:
        importlib.import_module(name)
    from ..catalogue import process_rows
    from ..catalogue.load import load

    load(dirs=())
    process_rows.rows()
    process_rows.markers()


def _modules() -> Iterator[str]:
    """Of layers that are loaded already, all of them; a timer has no `cli`."""
    found = pkgutil.walk_packages(tmpwarden.__path__, "tmpwarden.", onerror=lambda _: None)
    for module in found:
        if module.name.startswith("tmpwarden.cli") and "tmpwarden.cli" not in sys.modules:
            continue
        if not module.name.startswith(_NOT_NEEDED):
            yield module.name


def _late_imports(path: str | None) -> Iterator[str]:
    """Modules of the standard library that a function of ours imports when it runs."""
    if path is None or not path.endswith(".py"):
        return
    with open(path, encoding="utf-8") as source:
        for match in _LATE.finditer(source.read()):
            name = match[1] or match[2]
            if name.partition(".")[0] in sys.stdlib_module_names and _is_here(name):
                yield name


def _is_here(name: str) -> bool:
    """Not on every system: `_winapi`, say."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
