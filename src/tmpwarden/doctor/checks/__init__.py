"""One file per check; here, the order in which they are told when they are equally bad."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from ...model.sweep import Diagnosis
from ..patient import Patient

Check = Callable[[Patient], Iterator[Diagnosis]]
# ghosts before room: a failure only where it is what fills a root, and then no clean helps
_ORDER = (
    "frozen", "squatted", "tmpdir", "tempdirs", "ghosts", "runaway", "room", "forecast", "probe", "consumers", "stuck",
    "orphans", "rivals", "hooks", "guard", "silent", "inherited", "unseen", "memory", "mounts", "journal", "timer",
)  # fmt: skip
ALL: tuple[tuple[str, Check], ...] = tuple((name, import_module(f".{name}", __package__).check) for name in _ORDER)
