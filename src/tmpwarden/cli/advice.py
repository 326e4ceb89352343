"""Commands as they are printed for a person to run: with the options of the call that advises them."""

from __future__ import annotations

from collections.abc import Iterable

from ..lazy_dataclass import replace
from ..model.request import Request, Thresholds
from ..model.sweep import Verdict
from ..model.terms import OwnerState, Reason
from ..sweep.weigh.judge import hurrying_state, threshold_s
from ..text import duration, parse_duration, plural, quoted
from .call import Call

_SHORTEST_S = 3600  # what no session uses that ended is safe to take after an hour


def command(call: Call, *words: str) -> str:
    """`tmpwarden WORDS --root R --config F`: a clean of other roots would not be the one that was looked at."""
    options = [word for root in call.roots for word in ("--root", root)]
    options += ["--config", call.config_file] if call.config_file else []
    return " ".join(["tmpwarden", *(quoted(word, in_one_line=True) for word in (*words, *options))])


def clean(call: Call, request: Request) -> str:
    """The clean that takes what a scan with these options has shown."""
    limits = request.thresholds
    words = ["--all"] if limits.take_ask else []
    for option, seconds in (("--min-age", limits.min_age_s), ("--older-than", limits.max_age_s)):
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
    return f"--min-age only keeps younger items; to remove the {plural(len(older), 'item')} older than that: {wanted}"


def older_than(call: Call, request: Request, kept: Iterable[Verdict]) -> str | None:
    """Where only their age keeps items of ended sessions: the clean that takes those unused for an hour."""
    asked_s = request.thresholds.max_age_s
    if asked_s is not None and asked_s <= _SHORTEST_S:
        return None
    shorter = replace(request.thresholds, max_age_s=_SHORTEST_S)
    ages_s = [age_s for each in kept if (age_s := _age_if_it_could_go(each, shorter, call.now_ns())) is not None]
    if not ages_s:
        return None
    what = "item of an ended session was" if len(ages_s) == 1 else "items of ended sessions were"
    since = duration(min(ages_s)) if len(ages_s) == 1 else f"{duration(min(ages_s))} or longer"
    return (
        f"{len(ages_s):,} {what} last used {since} ago. To remove: {clean(call, replace(request, thresholds=shorter))}"
    )


def _age_if_it_could_go(verdict: Verdict, thresholds: Thresholds, now_ns: int) -> int | None:
    """In seconds, if nothing but its age keeps it, and these ages would not. Git work is looked at later than ages."""
    evidence, litter = verdict.evidence, verdict.finding.litter
    if verdict.reason not in (Reason.TOO_YOUNG, Reason.RESUMABLE) or evidence.measure is None or evidence.measure.git:
        return None
    if evidence.owner.state not in (OwnerState.DEAD, OwnerState.ABSENT):
        return None
    age_s = (now_ns - evidence.measure.newest_ns) // 10**9
    return age_s if age_s >= threshold_s(litter, hurrying_state(litter, evidence), thresholds) else None


def _exact(seconds: int) -> str:
    """People read two units; a command that is run again must mean the same second."""
    words = duration(seconds)
    return words if parse_duration(words) == seconds else f"{seconds}s"
