"""The hints of all rows, by pattern. Those of the built-in rows come with the compiled catalogue, without `re`."""

from __future__ import annotations

from .patterns import Hint

KNOWN_HINTS: dict[str, Hint] = {}


def hint_of(pattern: str) -> Hint:
    found = KNOWN_HINTS.get(pattern)
    if found is None:
        from .name_hints import hint  # a row of the user's own, or nothing is compiled yet

        found = KNOWN_HINTS[pattern] = hint(pattern)
    return found
