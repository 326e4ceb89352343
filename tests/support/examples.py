"""How many examples a test makes: `make test` runs a quarter, the same each time, `make test-long` all.

Hypothesis makes fewer; a table of cases that each cost a program is shared out among the tests that walk it."""

from collections.abc import Iterable
from typing import Any, TypeVar

from hypothesis import settings

ALL, FEW = 100, 25  # of a test that does not say how many; the profiles in conftest.py
_T = TypeVar("_T")


def examples(most: int, **options: Any) -> settings:
    """At most `most` where all are made. Read when a test module is imported: by then the profile is chosen."""
    return settings(max_examples=max(10, most * settings.default.max_examples // ALL), **options)


def makes_all() -> bool:
    """Whether this is a run of `make test-long`."""
    return settings.default.max_examples >= ALL


def share(things: Iterable[_T], turn: int) -> list[_T]:
    """Every fourth of them, beginning with number `turn`; all of them where all are made. Four turns are all."""
    each = ALL // settings.default.max_examples
    return list(things)[turn % each :: each]
