"""What somebody may have meant by a word that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    import difflib  # only when something is wrong already

    return next(iter(difflib.get_close_matches(word, list(known), 1)), None)


def did_you_mean(word: str, known: Iterable[str], form: str = "{0}") -> str:
    """`; did you mean scan?`, or nothing."""
    near = nearest(word, known)
    return f"; did you mean {form.format(near)}?" if near else ""
