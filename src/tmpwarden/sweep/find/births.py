"""Owned births as units: what a session's own words named, no row knows, and nobody else has touched.

Never unattended unless the user's settings say so, always quarantined, never hurried.
"""

from __future__ import annotations

import os

from ...model.belongings import Birth
from ...model.sweep import Finding, Litter
from ...model.terms import Kind, OwnerRule, Tier, Worth

ID = "birth"
_WAITS_S = 72 * 3600
_NEVER_BY_AGE_S = 100 * 365 * 86400  # without a session that is provably gone nobody can say whose it is


def litter(agent: str, *, is_auto: bool) -> Litter:
    return Litter(
        agent=agent,
        id=ID,
        place="{tmp}",
        name=".+",
        kind=Kind.ANY,
        tier=Tier.AUTO if is_auto else Tier.ASK,
        worth=Worth.SOME,
        owner=OwnerRule.SESSION,
        grace_s=_WAITS_S,
        min_age_s=_WAITS_S,
        max_age_s=_NEVER_BY_AGE_S,
        why="appeared while a command of this session ran that names it",
    )


def finding(birth: Birth, root: str, kind: Kind, *, is_auto: bool) -> Finding:
    parent, name = os.path.split(birth.path)
    row = litter(birth.agent, is_auto=is_auto)
    return Finding(row, root, parent, name, kind, birth.device, birth.inode, session=birth.session)
