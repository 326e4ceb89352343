"""What a clean would take, and in which order. Judges everything, acts on nothing."""

from __future__ import annotations

from itertools import chain

from ..model.sweep import Keep, Remove
from ..model.terms import Kind, OwnerState, Worth
from .prepared import Plan, Prepared
from .weigh import consent

_RANKS = {OwnerState.DEAD: 0, OwnerState.ABSENT: 1}


def make_plan(prepared: Prepared) -> Plan:
    """Judge everything, act on nothing. An unattended run is held to its share of what it found."""
    share = consent.Share(prepared.settings.automatic_max_percent) if prepared.request.unattended else None
    plan = Plan([], [])
    certain = (v for v in prepared.surveyed() if share is None or not share.holds_back(v))
    for verdict in chain(certain, share.limited() if share else ()):
        if isinstance(verdict, Keep):
            plan.kept.append(verdict)
        else:
            plan.removals.append(verdict)
    return plan


def makes_room(verdict: Remove) -> tuple[bool, bool, bool, int, int]:
    """What sorts first where there is none: secrets, then worthless things, single files before trees, then what the
    dead left, what nobody carries any more, and the rest, each oldest first."""
    finding, evidence = verdict.finding, verdict.evidence
    is_worth_it = finding.litter.worth is Worth.SOME
    is_tree = finding.kind is Kind.DIR and not is_worth_it
    newest_ns = evidence.measure.newest_ns if evidence.measure else 0
    rank = _RANKS.get(evidence.owner.state, len(_RANKS))
    return finding.litter.worth is not Worth.SECRET, is_worth_it, is_tree, rank, newest_ns
