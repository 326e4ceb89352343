"""Commands as they are printed for a person to run: with the options of the call that advises them."""

from __future__ import annotations

from ..model.sweep import Request
from ..text import duration, parse_duration, quoted
from .call import Call


def command(call: Call, *words: str) -> str:
    """`tmpwarden WORDS --root R --config F`: a clean of other roots would not be the one that was looked at."""
    options = [word for root in call.roots for word in ("--root", root)]
    options += ["--config", call.config_file] if call.config_file else []
    return " ".join(["tmpwarden", *map(quoted, (*words, *options))])


def clean(call: Call, request: Request) -> str:
    """The clean that takes what a scan with these options has shown."""
    limits = request.thresholds
    words = ["--all"] if limits.take_ask else []
    for option, seconds in (("--min-age", limits.min_age_s), ("--max-age", limits.max_age_s)):
        words += [option, _exact(seconds)] if seconds is not None else []
    for agent in request.agents:
        words += ["--agent", agent]
    return command(call, "clean", *words)


def _exact(seconds: int) -> str:
    """People read two units; a command that is run again must mean the same second."""
    words = duration(seconds)
    return words if parse_duration(words) == seconds else f"{seconds}s"
