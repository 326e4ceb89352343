"""The same look for systems without /proc, if psutil is installed: names instead of places, and never complete."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator

from ...model.terms import WitnessKind
from . import proc_links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .holders import Holders


def look(holders: Holders, variables: tuple[str, ...]) -> bool:
    """Fill `holders` with what psutil sees; False if it is not installed or sees nobody."""
    try:
        psutil: Any = importlib.import_module("psutil")
    except ImportError:
        return False
    try:
        processes = list(psutil.process_iter())
    except Exception:  # Linux with an empty /proc: an IndexError of its own
        return False
    for process in processes:
        if process.pid == os.getpid():
            continue
        for kind, path in _held(process, psutil.Error):
            holders.add(locate(path), (kind, process.pid, path))
        _note_environment(holders, process, variables, psutil.Error)
    return True


def locate(path: str) -> tuple[str, str]:
    """Without mount tables one name is one place."""
    try:
        return "", os.path.realpath(path)
    except OSError:  # a link that cannot be read: the name itself will have to do
        return "", os.path.normpath(path)


def _held(process: Any, failure: type[Exception]) -> Iterator[tuple[WitnessKind, str]]:
    """Each question may be refused on its own."""
    questions: tuple[tuple[WitnessKind, Callable[[], list[str]]], ...] = (
        (WitnessKind.WORKING_DIRECTORY, lambda: [process.cwd()]),
        (WitnessKind.EXECUTABLE, lambda: [process.exe()]),
        (WitnessKind.OPEN_FILE, lambda: [file.path for file in process.open_files()]),
        (WitnessKind.MAPPED_FILE, lambda: [region.path for region in process.memory_maps()]),
    )
    for kind, ask in questions:
        try:
            paths = ask()
        except (failure, OSError, AttributeError):  # macOS has no memory_maps
            continue
        yield from ((kind, path) for path in paths if path and path.startswith("/") and path != "/")


def _note_environment(holders: Holders, process: Any, variables: tuple[str, ...], failure: type[Exception]) -> None:
    try:
        environ: dict[str, str] = process.environ()
    except (failure, OSError):
        return
    for name in map(os.fsdecode, proc_links.TEMP_VARIABLES):
        if (value := environ.get(name, "")).startswith("/"):
            holders.add(locate(value), (WitnessKind.TMPDIR, process.pid, f"{name}={value}"))
    for name in variables:
        if found := environ.get(name):
            values = holders.sessions.setdefault(name, {})
            values[found] = (*values.get(found, ()), process.pid)
