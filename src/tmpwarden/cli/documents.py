"""The shapes of `data` in the envelope: sweep nouns as JSON objects. Times ISO 8601, sizes bytes, ages seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..model.answers import Held, Nobody, NotMeasured, Users
from ..model.sweep import Finding, Keep, Owner, Receipt, Remove, Space, Verdict, Witness
from ..model.terms import Worth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..lifecycle.living import LivingSession
    from ..sweep.store.history import Trend

Document = dict[str, object]


def of(noun: object, *names: str) -> Document:
    """What a noun has under these names, under the same names."""
    return {name: getattr(noun, name) for name in names}


def known(noun: object, *names: str) -> Document:
    """The same of what is not None."""
    return {name: value for name, value in of(noun, *names).items() if value is not None}


def age_s(verdict: Verdict, now_ns: int) -> float | None:
    measure = verdict.evidence.measure
    return None if measure is None else max(0.0, (now_ns - measure.newest_ns) / 1e9)


def owner(value: Owner) -> Document:
    return {"state": value.state.value, **known(value, "pid", "session")}


def witness(value: Witness) -> Document:
    return {"kind": value.kind.value, "detail": value.detail, **known(value, "pid", "command")}


def users(value: Users) -> Document:
    """`witnesses` is null where users could not be measured, and `doubt` says why."""
    match value:
        case Held(by):
            return {"witnesses": [witness(each) for each in by]}
        case Nobody():
            return {"witnesses": []}
        case NotMeasured(why):
            return {"witnesses": None, "doubt": why}


def identity(finding: Finding) -> Document:
    count = {"count": len(finding.members)} if finding.members else {}
    return {"path": finding.path, "agent": finding.litter.agent, "litter": finding.litter.id, **count}


def verdict(value: Verdict, now_ns: int) -> Document:
    litter, measure = value.finding.litter, value.evidence.measure
    seconds = age_s(value, now_ns)
    document = identity(value.finding) | {
        "kind": value.finding.kind.value,
        "tier": litter.tier.value,
        "worth": litter.worth.value,
        "bytes": None if measure is None else measure.bytes,
        "entries": None if measure is None else measure.entries,
        "age_seconds": None if seconds is None else round(seconds),
        "owner": owner(value.evidence.owner),
        **users(value.evidence.users),
        "verdict": "remove" if isinstance(value, Remove) else "keep",
        "reason": value.reason.value,
        "undoable": isinstance(value, Remove) and litter.worth is Worth.SOME,
    }
    if measure is not None and measure.at_least:
        document["at_least"] = True
    if measure is not None and measure.git:
        document["holds_git"] = True
    if isinstance(value, Keep) and value.detail:
        document["detail"] = value.detail
    return document


class Totals:
    """What verdicts add up to, one after the other."""

    def __init__(self) -> None:
        self.findings = self.bytes = self.entries = self.removable_bytes = self.removable_entries = 0
        self.kept_by_reason: Counter[str] = Counter()
        self.at_least = False

    def add(self, value: Verdict) -> None:
        measure = value.evidence.measure
        size, entries = (measure.bytes, measure.entries) if measure is not None else (0, 0)
        self.findings += 1
        self.bytes += size
        self.entries += entries
        self.at_least |= measure is None or measure.at_least
        if isinstance(value, Keep):
            self.kept_by_reason[value.reason.value] += 1
        else:
            self.removable_bytes += size
            self.removable_entries += entries

    def document(self) -> Document:
        document = of(self, "findings", "bytes", "entries", "removable_bytes", "removable_entries")
        return document | {"kept_by_reason": dict(self.kept_by_reason)} | ({"at_least": True} if self.at_least else {})


def totals(verdicts: Iterable[Verdict]) -> Document:
    sums = Totals()
    for each in verdicts:
        sums.add(each)
    return sums.document()


def bytes_of(verdicts: Iterable[Verdict]) -> int:
    return sum(each.evidence.measure.bytes for each in verdicts if each.evidence.measure is not None)


def is_at_least(verdicts: Iterable[Verdict]) -> bool:
    return any(each.evidence.measure is None or each.evidence.measure.at_least for each in verdicts)


def space(value: Space) -> Document:
    sizes = ("bytes_total", "bytes_free", "bytes_used", "inodes_total", "inodes_free", "inodes_used")
    quota = ("quota_bytes", "quota_used", "quota_of") if value.quota_bytes is not None else ()
    return of(value, "path", "filesystem", *sizes, *quota)


def session(value: LivingSession) -> Document:
    return {"agent": value.agent, "pid": value.pid, "session": value.id, "scratch": value.scratch}


def receipt(value: Receipt) -> Document:
    document = {"receipt": value.id or None, "undoable": value.undoable, "reason": value.reason.value}
    return identity(value.finding) | of(value, "bytes", "entries") | document


def trend(value: Trend) -> Document:
    """`full_in_seconds` is null where that is more than a week away; `state` unknown: the history is too short."""
    from ..sweep.store.history import Growing, Steady, TooFew  # most documents have none

    match value:
        case Growing(what, per_hour, full_in_s, over_s):
            full_in = None if full_in_s is None else round(full_in_s)
            grows = {"what": what, "per_hour": round(per_hour), "full_in_seconds": full_in}
            return {"state": "growing", **grows, "over_seconds": round(over_s)}
        case Steady():
            return {"state": "steady"}
        case TooFew():
            return {"state": "unknown"}
