"""Each law that keeps a unit, one at a time; and the ages at which it may go."""

from dataclasses import replace
from typing import Any, cast

import pytest

from tmpwarden.model.answers import Held, Nobody, NotMeasured
from tmpwarden.model.request import Thresholds
from tmpwarden.model.sweep import Evidence, Finding, GitUnclear, Keep, Litter, Measure, Owner, Remove, Verdict, Witness
from tmpwarden.model.terms import Kind, OwnerRule, OwnerState, Reason, Tier, WitnessKind, Worth
from tmpwarden.sweep.weigh.judge import Standing, judge, threshold_s
from tmpwarden.sweep.weigh.weigher import Weigher

NOW = 1_800_000_000 * 10**9
DAY_NS = 86400 * 10**9
ROW = Litter("a", "row", "{tmp}", "x", Kind.DIR, Tier.AUTO, Worth.SOME, OwnerRule.SESSION)
FINDING = Finding(ROW, "/t", "/t", "x", Kind.DIR, 1, 2)
OLD = Measure(newest_ns=NOW - 10 * DAY_NS, oldest_ns=NOW - 10 * DAY_NS, bytes=1, entries=1)
GONE = Evidence(Owner(OwnerState.DEAD), Nobody(), OLD)


def verdict(finding: Finding = FINDING, evidence: Evidence = GONE, standing: Standing | None = None, **words: object):
    return judge(finding, evidence, thresholds=Thresholds(**words), now_ns=NOW, standing=standing)  # type: ignore[arg-type]


def row(**words: object) -> Finding:
    return replace(FINDING, litter=replace(ROW, **words))


def measured(**words: object) -> Evidence:
    return replace(GONE, measure=replace(OLD, **words))


def test_what_nothing_speaks_for_may_go() -> None:
    assert isinstance(verdict(), Remove)


@pytest.mark.parametrize("kind", list(WitnessKind))
def test_any_witness_keeps_and_is_the_reason(kind: WitnessKind) -> None:
    kept = verdict(evidence=replace(GONE, users=Held((Witness(kind, "seen"),))))
    assert isinstance(kept, Keep)
    assert kept.reason.value == kind.value


@pytest.mark.parametrize(
    ("finding", "evidence", "standing", "reason"),
    [
        (row(tier=Tier.NEVER), GONE, None, Reason.NEVER),
        (FINDING, measured(marked=("memory",)), None, Reason.NEVER),
        (FINDING, GONE, Standing(is_protected=True), Reason.PROTECTED),
        (FINDING, GONE, Standing(keep_listed="/t"), Reason.KEEP_LIST),
        (FINDING, replace(GONE, owner=Owner(OwnerState.ALIVE)), None, Reason.OWNER_ALIVE),
        (FINDING, replace(GONE, users=NotMeasured("x")), None, Reason.NOT_MEASURED),
        (FINDING, replace(GONE, measure=None), None, Reason.NOT_MEASURED),
        (FINDING, measured(foreign=1), None, Reason.FOREIGN),
        (FINDING, measured(crosses_device=True), None, Reason.MOUNT),
        (FINDING, measured(locked=("a",)), None, Reason.LOCK),
        (FINDING, measured(sticky=1), None, Reason.STICKY),
        (FINDING, measured(held_back=("a",)), None, Reason.NOT_MEASURED),
        (FINDING, measured(devices=1), None, Reason.DEVICE),
        (FINDING, measured(unreadable=1), None, Reason.NOT_MEASURED),
        (FINDING, replace(GONE, has_shape=None), None, Reason.NOT_MEASURED),
        (FINDING, replace(GONE, has_shape=False), None, Reason.OTHER_SHAPE),
        (FINDING, measured(newest_ns=NOW + DAY_NS), None, Reason.NOT_MEASURED),
        (FINDING, measured(oldest_ns=0), None, Reason.NOT_MEASURED),
        (FINDING, measured(newest_ns=NOW - 59 * 10**9), None, Reason.TOO_YOUNG),
        (row(resume=True), measured(newest_ns=NOW - 2 * DAY_NS), None, Reason.RESUMABLE),
        (FINDING, replace(GONE, git_losses=GitUnclear("core.fsmonitor")), None, Reason.GIT_UNCLEAR),
        (FINDING, replace(GONE, git_losses=("1 stash",)), None, Reason.GIT_WORK),
        (row(tier=Tier.ASK), GONE, None, Reason.ASK_ONLY),
        (FINDING, GONE, Standing(is_backlog=True), Reason.BACKLOG),
    ],
    ids=lambda value: value.value if isinstance(value, Reason) else "",
)
def test_each_law_keeps_by_itself(
    finding: Finding, evidence: Evidence, standing: Standing | None, reason: Reason
) -> None:
    kept = verdict(finding, evidence, standing)
    assert isinstance(kept, Keep)
    assert kept.reason is reason


@pytest.mark.parametrize(
    ("state", "hours", "goes"),
    [
        (OwnerState.DEAD, 0.01, False),
        (OwnerState.DEAD, 0.02, True),
        (OwnerState.ABSENT, 0.9, False),
        (OwnerState.ABSENT, 1, True),
        (OwnerState.UNKNOWN, 71.9, False),
        (OwnerState.UNKNOWN, 72, True),
        (OwnerState.NONE, 71.9, False),
        (OwnerState.NONE, 72, True),
    ],
)
def test_the_owner_decides_how_old_is_old_enough(state: OwnerState, hours: float, goes: bool) -> None:
    evidence = replace(measured(newest_ns=NOW - int(hours * 3600 * 10**9)), owner=Owner(state))
    assert isinstance(verdict(evidence=evidence), Remove) is goes


def test_min_age_is_a_floor_for_every_state() -> None:
    for state in OwnerState:
        if state is not OwnerState.ALIVE:
            assert threshold_s(ROW, state, Thresholds(min_age_s=10**6)) == 10**6


def test_max_age_replaces_the_default_but_never_falls_below_min_age() -> None:
    assert threshold_s(ROW, OwnerState.UNKNOWN, Thresholds(max_age_s=60)) == 60
    assert threshold_s(ROW, OwnerState.UNKNOWN, Thresholds(max_age_s=60, min_age_s=600)) == 600
    assert threshold_s(replace(ROW, max_age_s=60), OwnerState.NONE, Thresholds(max_age_s=10**6)) == 60


H, D = 3600, 86400


@pytest.mark.parametrize(
    ("own_s", "words", "waits_s"),
    [
        (72 * H, {"general_s": 24 * H}, 24 * H),
        (72 * H, {"general_s": 10 * D}, 10 * D),
        (72 * H, {"general_s": 10 * D, "max_age_s": H}, H),
        (30 * D, {"general_s": 24 * H}, 30 * D),
        (30 * D, {"max_age_s": H}, 30 * D),
        (30 * D, {"max_age_s": 60 * D}, 60 * D),
        (H, {"general_s": 72 * H}, H),
        (H, {"general_s": 60}, H),
        (H, {"max_age_s": 60}, 60),
        (H, {"max_age_s": 7 * D}, H),
    ],
)
def test_an_age_for_all_rows_replaces_the_general_one_and_a_person_may_go_below_a_short_one(
    own_s: int, words: dict[str, int], waits_s: int
) -> None:
    for state in (OwnerState.UNKNOWN, OwnerState.NONE):
        assert threshold_s(replace(ROW, max_age_s=own_s), state, Thresholds(**words)) == waits_s


@pytest.mark.parametrize("own_s", [2 * H, 72 * H, 10 * D])
def test_the_users_word_on_a_row_is_replaced_by_no_age_for_all(own_s: int) -> None:
    said = replace(ROW, max_age_s=own_s, is_users_age=True)
    for words in ({"general_s": H}, {"max_age_s": H}, {"general_s": 60 * D}):
        assert threshold_s(said, OwnerState.UNKNOWN, Thresholds(**words)) == own_s


def test_settings_for_all_leave_a_day_to_what_may_be_resumed_and_a_person_does_not() -> None:
    may = replace(ROW, resume=True)
    for state in (OwnerState.DEAD, OwnerState.ABSENT, OwnerState.UNKNOWN):
        assert threshold_s(may, state, Thresholds(general_s=2 * H)) == 24 * H
        assert threshold_s(may, state, Thresholds(general_s=30 * H)) == 30 * H
        assert threshold_s(may, state, Thresholds(max_age_s=2 * H)) == 2 * H


def test_a_dead_owners_grace_counts_also_where_a_session_may_be_resumed() -> None:
    assert threshold_s(replace(ROW, resume=True, grace_s=10 * D), OwnerState.DEAD, Thresholds()) == 10 * D


def test_pressure_hurries_the_dead_but_never_what_is_unknown_and_worth_something() -> None:
    hurried = Thresholds(hurried=True)
    assert threshold_s(replace(ROW, resume=True), OwnerState.DEAD, hurried) == 60
    assert threshold_s(ROW, OwnerState.ABSENT, hurried) == 60
    assert threshold_s(ROW, OwnerState.UNKNOWN, hurried) == 72 * 3600
    assert threshold_s(replace(ROW, worth=Worth.NONE), OwnerState.UNKNOWN, hurried) == 24 * 3600


def test_a_torn_down_name_replaces_freshness_and_nothing_else() -> None:
    named = frozenset({"/t/x"})
    fresh = measured(newest_ns=NOW)
    assert isinstance(verdict(evidence=fresh, named=named), Remove)
    assert isinstance(verdict(evidence=fresh, named=named, min_age_s=3600), Keep), "--min-age is a floor for all"
    held = replace(fresh, users=Held((Witness(WitnessKind.OPEN_FILE, "x"),)))
    assert isinstance(verdict(evidence=held, named=named), Keep)
    assert isinstance(verdict(evidence=replace(fresh, git_losses=("x",)), named=named), Keep)


def test_in_doubt_pressure_hurries_nothing_and_the_deed_has_to_ask() -> None:
    resumable = row(resume=True)
    young = replace(GONE, measure=replace(OLD, newest_ns=NOW - 3600 * 10**9))

    def heard(evidence: Evidence) -> Verdict:
        words: Any = {"standing_of": lambda finding, evidence: Standing(), "now_ns": lambda: NOW}
        weigher = Weigher(cast(Any, None), Thresholds(), hurried_roots=frozenset({FINDING.root}), **words)
        return weigher.judge(resumable, evidence)

    assert heard(young).reason is Reason.PRESSURE
    assert isinstance(heard(replace(young, users=NotMeasured("x", askable=True))), Keep)
    asked = verdict(evidence=replace(GONE, users=NotMeasured("somebody hides", askable=True)))
    assert isinstance(asked, Remove)
    assert asked.doubt == "somebody hides"


@pytest.mark.parametrize("worth", Worth)
def test_where_processes_cannot_be_seen_nothing_goes_whatever_it_is_worth(worth: Worth) -> None:
    """The take keeps it for that reason, so a preview must not promise it."""
    unseen = replace(GONE, users=NotMeasured("x"), owner=Owner(OwnerState.NONE))
    assert isinstance(verdict(row(worth=worth), unseen), Keep)
