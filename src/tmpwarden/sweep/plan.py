"""What a clean would take, and in which order. Judges everything, acts on nothing."""

from __future__ import annotations

from itertools import chain

from ..model.sweep import Keep, Remove
from ..model.terms import Kind, Worth
from .prepared import Plan, Prepared
from .weigh import consent


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


def makes_room(verdict: Remove) -> tuple[bool, bool, bool]:
    """False sorts first: secrets, then worthless things, single files before trees."""
    finding = verdict.finding
    return finding.litter.worth is not Worth.SECRET, finding.litter.worth is Worth.SOME, finding.kind is Kind.DIR
