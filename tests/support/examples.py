"""How many examples Hypothesis makes: `make test` runs the first quarter, the same each time, `make test-long` all."""

from typing import Any

from hypothesis import settings

ALL, FEW = 100, 25  # of a test that does not say how many; the profiles in conftest.py


def examples(most: int, **options: Any) -> settings:
    """At most `most` where all are made. Read when a test module is imported: by then the profile is chosen."""
    return settings(max_examples=max(10, most * settings.default.max_examples // ALL), **options)
