"""Blows in the moments that the code names (`_race_window`): between two of its steps, each time the same."""

import itertools
from collections.abc import Callable
from types import ModuleType

import pytest


def strike(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, window: str, blow: Callable[[], object], *, nth: int = 1
) -> list[str]:
    """The `nth` time that `module` comes to this window, and only then. The list tells whether it fell."""
    passes = itertools.count(1)
    fallen: list[str] = []

    def on_window(here: str) -> None:
        if here == window and next(passes) == nth:
            fallen.append(here)
            blow()

    monkeypatch.setattr(module, "_race_window", on_window)
    return fallen
