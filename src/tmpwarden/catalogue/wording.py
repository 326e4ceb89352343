"""What a row says, in words: for `agents`, `why` and the reference page. Pure."""

from __future__ import annotations

import re

from ..model.sweep import Litter
from ..model.terms import OwnerRule, Tier
from ..text import duration
from .agent import Agent

_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+")
OWNERS = {
    OwnerRule.NONE: "nobody",
    OwnerRule.SESSION: "the session in its name",
    OwnerRule.PID: "the process in its name",
    OwnerRule.AGENT: "any session of the agent",
    OwnerRule.LEASE: "whom its lease names",
}


def fixed_note(row: Litter) -> str:
    return f"fixed upstream in {row.fixed}, older files remain" if row.fixed else ""


def where(row: Litter) -> str:
    return f"{row.place}/{row.name}"


def waits(row: Litter) -> str:
    """How old a unit must be, by what is known of its owner."""
    if row.tier is Tier.NEVER:
        return "-"
    longest = duration(row.max_age_s)
    if row.owner is OwnerRule.NONE:
        return longest
    if row.resume:
        return f"{longest}, for it may be resumed"
    return f"{duration(row.grace_s)} dead, {duration(row.min_age_s)} absent, {longest} unknown"


def count(agent: Agent, tier: Tier) -> int:
    return sum(row.tier is tier for row in agent.rows)


def measured_with(agent: Agent) -> str:
    """The newest version that a row was measured with; "reports" where only people told; "-" where nobody did."""
    told = [row.verified for row in agent.rows if row.verified]
    versions = [text for text in told if _VERSION.fullmatch(text)]
    if versions:
        return max(versions, key=lambda text: tuple(map(int, text.split("."))))
    return "reports" if told else "-"
