"""Commands as they are printed for a person to run: with the options of the call that advises them."""

from __future__ import annotations

from collections.abc import Iterable

from ..lazy_dataclass import replace
from ..model.request import Request
from ..model.sweep import Verdict
from ..model.terms import Reason
from ..text import duration, parse_duration, plural, quoted
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
    for project in request.projects:
        words += ["--project", project]
    return command(call, "clean", *words)


def lower_limit(call: Call, request: Request, kept: Iterable[Verdict]) -> str | None:
    """For who means "take what is older than that" by --min-age, as other cleaners do: it only ever keeps."""
    floor_s = request.thresholds.min_age_s
    if floor_s is None or request.thresholds.max_age_s is not None:
        return None
    oldest_ns = call.now_ns() - floor_s * 10**9
    young = [v for v in kept if v.reason is Reason.TOO_YOUNG and v.evidence.measure]
    older = [v for v in young if v.evidence.measure and v.evidence.measure.newest_ns < oldest_ns]
    if not older:
        return None
    wanted = clean(call, replace(request, thresholds=replace(request.thresholds, max_age_s=max(floor_s, 3600))))
    return f"--min-age only keeps what is younger; to take {plural(len(older), 'unit')} older than that: {wanted}"


def _exact(seconds: int) -> str:
    """People read two units; a command that is run again must mean the same second."""
    words = duration(seconds)
    return words if parse_duration(words) == seconds else f"{seconds}s"
