"""Judge one unit by its evidence. Pure: the clock and the policy come in, a Verdict goes out."""

from __future__ import annotations

from ...lazy_dataclass import dataclass, replace
from ...model.answers import Held, Nobody, NotMeasured
from ...model.request import LEAST_RESUMABLE_S, Thresholds
from ...model.sweep import Evidence, Finding, GitUnclear, Keep, Litter, Measure, Remove, Verdict
from ...model.terms import OwnerState, Reason, Tier, Worth
from ...text import is_within

DEFAULT_MAX_AGE_S = 72 * 3600
HURRIED_S = 60
HURRIED_UNKNOWN_S = 24 * 3600
EPOCH_2015_NS = 1_420_070_400 * 10**9
_SKEW_NS = 5 * 10**9  # a file written this instant may carry a date a little ahead of the clock we read before it

_GONE = {
    OwnerState.DEAD: Reason.OWNER_DEAD,
    OwnerState.ABSENT: Reason.OWNER_ABSENT,
    OwnerState.UNKNOWN: Reason.OUTLIVED,
    OwnerState.NONE: Reason.UNOWNED,
}


@dataclass(frozen=True, slots=True)
class Standing:
    """What the user and the place say about a unit, apart from its own evidence."""

    is_protected: bool = False  # $HOME, / or an ancestor of it
    keep_listed: str | None = None  # the entry of [keep] that names it
    unread: str | None = None  # the file and line that may protect it and cannot be understood
    may_rescue: bool = False  # git work is saved before a unit goes
    gone_since_ns: int | None = None  # its age counts from the end of its session, if that is later
    not_unattended: str = ""  # why a run without a person may remove nothing on this system
    is_backlog: bool = False  # unattended, worth something, older than our first run, nobody consented yet


def judge(
    finding: Finding, evidence: Evidence, *, thresholds: Thresholds, now_ns: int, standing: Standing | None = None
) -> Verdict:
    """The first law that speaks for keeping wins; where none does, the unit may go."""
    standing = standing or Standing()
    reason, detail = (
        _kept_by_place(finding, evidence, standing)
        or _kept_by_use(finding, evidence)
        or _kept_by_members(evidence)
        or _kept_by_consent(finding, thresholds, standing)  # before age: "goes when it is 3d old" is a promise
        or _kept_by_age(finding, evidence, thresholds, now_ns, standing)
        or _kept_by_git(finding, evidence, thresholds, now_ns, standing)
        or (None, "")
    )
    if reason is not None:
        return Keep(finding, evidence, reason, detail)
    reason_to_remove = thresholds.named_reason if finding.path in thresholds.named else _GONE[evidence.owner.state]
    return Remove(finding, evidence, reason_to_remove, _doubt(evidence))


_Kept = tuple[Reason, str] | None


def _kept_by_place(finding: Finding, evidence: Evidence, standing: Standing) -> _Kept:
    if finding.litter.tier is Tier.NEVER:
        return Reason.NEVER, finding.litter.why
    if evidence.measure and evidence.measure.marked:
        return Reason.NEVER, evidence.measure.marked[0]
    if standing.is_protected:
        return Reason.PROTECTED, finding.path
    if standing.keep_listed is not None:
        return Reason.KEEP_LIST, standing.keep_listed
    if standing.not_unattended:
        return Reason.NOT_MEASURED, standing.not_unattended
    if standing.unread is not None:
        return Reason.NOT_MEASURED, f"{standing.unread} cannot be read, and may keep it"
    return None


def _kept_by_use(finding: Finding, evidence: Evidence) -> _Kept:
    match evidence.users:
        case Held(by):
            return Reason(by[0].kind.value), by[0].detail
        case NotMeasured(why) as doubt if not doubt.askable:  # as the take will say, whatever the item is worth
            is_alive = evidence.owner.state is OwnerState.ALIVE
            return (Reason.OWNER_ALIVE, evidence.owner.detail) if is_alive else (Reason.NOT_MEASURED, why)
        case Nobody() | NotMeasured():
            is_alive = evidence.owner.state is OwnerState.ALIVE
            return (Reason.OWNER_ALIVE, evidence.owner.detail) if is_alive else None


def _doubt(evidence: Evidence) -> str:
    """What the deed has to ask the kernel about, once every law has said that it may go."""
    match evidence.users:
        case NotMeasured(why) as doubt if doubt.askable:
            return why
        case Held() | Nobody() | NotMeasured():
            return ""


def _kept_by_members(evidence: Evidence) -> _Kept:
    measure = evidence.measure
    if measure is None:
        return Reason.NOT_MEASURED, "its contents could not be read"
    if measure.foreign:
        return Reason.FOREIGN, f"{measure.foreign} of its {measure.entries} entries"
    if measure.crosses_device:
        return Reason.MOUNT, "another file system is mounted inside"
    if measure.locked:
        return Reason.LOCK, measure.locked[0]
    if measure.sticky:
        return Reason.STICKY, "a file in it has the sticky bit"
    if measure.devices:
        return Reason.DEVICE, "it contains a device node"
    if measure.held_back:
        where = measure.held_back[0] or "it"
        return Reason.NOT_MEASURED, f"{where} is immutable, guarded by macOS, or not on this disk"
    if measure.unreadable:
        return Reason.NOT_MEASURED, f"{measure.unreadable} of its directories could not be read"
    if evidence.has_shape is None:
        return Reason.NOT_MEASURED, "its shape could not be checked"
    if not evidence.has_shape:
        return Reason.OTHER_SHAPE, ""
    return None


def _kept_by_age(
    finding: Finding, evidence: Evidence, thresholds: Thresholds, now_ns: int, standing: Standing
) -> _Kept:
    measure = evidence.measure
    assert measure is not None  # _kept_by_members spoke for that
    if measure.newest_ns > now_ns + _SKEW_NS:
        return Reason.NOT_MEASURED, "a date in it is in the future"
    if measure.oldest_ns < EPOCH_2015_NS:
        return Reason.NOT_MEASURED, "a date in it is before 2015"
    litter, state, age = finding.litter, hurrying_state(finding.litter, evidence), age_ns(measure, now_ns)
    is_named = finding.path in thresholds.named
    if standing.gone_since_ns is not None and not is_named:
        age = min(age, now_ns - standing.gone_since_ns)
    needed_s = thresholds.min_age_s or 0 if is_named else threshold_s(litter, state, thresholds)
    if is_named or age >= needed_s * 10**9:
        return None if age >= needed_s * 10**9 else (Reason.TOO_YOUNG, str(needed_s))
    only_for_resume = litter.resume and age >= threshold_s(replace(litter, resume=False), state, thresholds) * 10**9
    return (Reason.RESUMABLE if only_for_resume else Reason.TOO_YOUNG), str(needed_s)


def _kept_by_git(
    finding: Finding, evidence: Evidence, thresholds: Thresholds, now_ns: int, standing: Standing
) -> _Kept:
    if finding.litter.git_disposable:
        return None
    if isinstance(evidence.git_losses, GitUnclear):
        return Reason.GIT_UNCLEAR, evidence.git_losses.why
    is_saved_first = standing.may_rescue and _is_long_gone(finding, evidence, thresholds, now_ns)
    if evidence.git_losses and not is_saved_first:
        return Reason.GIT_WORK, "; ".join(evidence.git_losses)
    return None


def _is_long_gone(finding: Finding, evidence: Evidence, thresholds: Thresholds, now_ns: int) -> bool:
    """Nobody's word and no pressure makes this shorter."""
    assert evidence.measure is not None
    is_gone = evidence.owner.state in (OwnerState.DEAD, OwnerState.ABSENT)
    is_old = age_ns(evidence.measure, now_ns) >= DEFAULT_MAX_AGE_S * 10**9
    return is_gone and is_old and finding.path not in thresholds.named


def _kept_by_consent(finding: Finding, thresholds: Thresholds, standing: Standing) -> _Kept:
    if finding.litter.tier is Tier.ASK and not thresholds.take_ask and finding.path not in thresholds.named:
        return Reason.ASK_ONLY, "--tier ask"
    if standing.is_backlog:
        return Reason.BACKLOG, "tmpwarden clean"
    return None


def keeping(path: str, listed: tuple[str, ...]) -> str | None:
    """The [keep] entry at, above or inside `path`: a unit goes whole or stays whole."""
    return next((kept for kept in listed if is_within(path, kept) or is_within(kept, path)), None)


def age_ns(measure: Measure, now_ns: int) -> int:
    return max(0, now_ns - measure.newest_ns)


def hurrying_state(litter: Litter, evidence: Evidence) -> OwnerState:
    """That its owner is gone hurries a directory of credentials only if it holds nothing else: it is not quarantined,
    and what lies beside them may be a transcript."""
    is_mixed = bool(litter.credentials) and not evidence.is_only_credentials
    return OwnerState.NONE if is_mixed and evidence.owner.state in _GONE else evidence.owner.state


def threshold_s(litter: Litter, state: OwnerState, thresholds: Thresholds) -> int:
    """How old a unit must be, by the state of its owner, the row, and the user's word."""
    floor = thresholds.min_age_s or 0
    longest = max_age_s(litter, thresholds)
    if state is OwnerState.DEAD:
        needed = HURRIED_S if thresholds.hurried else max(longest if litter.resume else 0, litter.grace_s)
    elif state is OwnerState.ABSENT:
        needed = HURRIED_S if thresholds.hurried else max(longest if litter.resume else 0, litter.min_age_s)
    elif thresholds.hurried and litter.worth is Worth.NONE:
        needed = min(longest, HURRIED_UNKNOWN_S)
    else:
        needed = longest
    if litter.credentials and thresholds.max_age_s is not None and litter.min_age_s == needed:
        needed = min(needed, thresholds.max_age_s)  # a person's word for one run
    return max(needed, floor)


def max_age_s(litter: Litter, thresholds: Thresholds) -> int:
    """How long a unit waits whose owner nobody can name.

    An age for all rows replaces only the general limit. What a row waits longer, and the user's own word on a row, is
    shortened by none; what a row waits less, only by a person for one run.
    """
    own_s, asked_s = litter.max_age_s, thresholds.max_age_s
    if litter.is_users_age:
        return own_s
    if own_s < DEFAULT_MAX_AGE_S:
        return own_s if asked_s is None else min(own_s, asked_s)
    general_s = DEFAULT_MAX_AGE_S if thresholds.general_s is None else thresholds.general_s
    wanted_s = asked_s if asked_s is not None else max(general_s, LEAST_RESUMABLE_S) if litter.resume else general_s
    return wanted_s if own_s == DEFAULT_MAX_AGE_S else max(own_s, wanted_s)
