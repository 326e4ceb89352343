"""Owned births as units: what a session's own words named, and no row knows. Always quarantined, never hurried.

A name that the session stated before it made it goes with it, as its scratch does; one that only stood in its command
or in the output waits to be asked for, or three days.
"""

from __future__ import annotations

import os

from ...lazy_dataclass import replace
from ...model.belongings import Birth
from ...model.sweep import Finding, Litter
from ...model.terms import Kind, OwnerRule, Tier, Worth

ID = "birth"
_WAITS_S = 72 * 3600
_NEVER_BY_AGE_S = 100 * 365 * 86400  # without a session that is provably gone nobody can say whose it is


def litter(agent: str, *, is_auto: bool, is_stated: bool = False) -> Litter:
    stated = "a fresh name that this session stated before it made it"
    owned = Litter(
        agent=agent,
        id=ID,
        place="{tmp}",
        name=".+",
        kind=Kind.ANY,
        tier=Tier.AUTO,
        worth=Worth.SOME,
        owner=OwnerRule.SESSION,
        max_age_s=_NEVER_BY_AGE_S,
        why=stated if is_stated else "appeared while a command of this session ran that names it",
    )
    if is_stated:
        return owned
    return replace(owned, tier=Tier.AUTO if is_auto else Tier.ASK, grace_s=_WAITS_S, min_age_s=_WAITS_S)


def finding(birth: Birth, root: str, kind: Kind, *, is_auto: bool) -> Finding:
    parent, name = os.path.split(birth.path)
    row = litter(birth.agent, is_auto=is_auto, is_stated=birth.stated)
    return Finding(row, root, parent, name, kind, birth.device, birth.inode, session=birth.session)
