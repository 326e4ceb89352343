"""What a row says, in words: for `agents` and `why`. Pure."""

from __future__ import annotations

import re

from ..model.sweep import Agent, Litter
from ..model.terms import Tier

_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+")


def fixed_note(row: Litter) -> str:
    return f"fixed upstream in {row.fixed}, older files remain" if row.fixed else ""


def where(row: Litter) -> str:
    return f"{row.place}/{row.name}"


def count(agent: Agent, tier: Tier) -> int:
    return sum(row.tier is tier for row in agent.rows)


def measured_with(agent: Agent) -> str:
    """The newest version that a row was measured with; "reports" where only people told; "-" where nobody did."""
    verified = [row.verified for row in agent.rows if row.verified]
    versions = [text for text in verified if _VERSION.fullmatch(text)]
    if versions:
        return max(versions, key=lambda text: tuple(map(int, text.split("."))))
    return "reports" if verified else "-"
