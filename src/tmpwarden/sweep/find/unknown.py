"""Entries of a temp root that no row knows and nobody has used for long: `[unknown] max_age`, off by default.

Nobody has measured what such a thing is, so much of it is left out: what a session was seen making, hidden names, what
is no plain file or directory, shared memory, and file systems that do not say when something was last read.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from ...catalogue.matcher import Place
from ...lazy_dataclass import dataclass, replace
from ...model.sweep import Finding, Litter
from ...model.terms import Kind, OwnerRule, Tier, Worth
from ...oskit.files import places
from ...oskit.proc.namespaces import MountTable

KEEP_S = 7 * 86400  # so long `undo` has
_LONG_LIVED, _LONG_LIVED_S = "/var/tmp", 30 * 86400
_SHARED_MEMORY = "/dev/shm"

LITTER = Litter(
    agent="unknown",
    id="unused",
    place="{tmp}",
    name=".+",
    kind=Kind.ANY,
    tier=Tier.AUTO,
    worth=Worth.SOME,
    owner=OwnerRule.NONE,
    why="not recognised, and unused for longer than [unknown] max_age allows",
)
KEY = f"{LITTER.agent}.{LITTER.id}"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Which entries count, and how old they have to be."""

    max_age_s: int
    seen_made: Collection[str]  # paths that were noted while a session's command ran
    mounts: MountTable | None

    def finding(self, place: Place, name: str, kind: Kind, status: os.stat_result) -> Finding | None:
        path = f"{place.path.rstrip('/')}/{name}"
        is_plain = kind in (Kind.FILE, Kind.DIR) and status.st_uid == places.uid()
        if not is_plain or name.startswith(".") or path in self.seen_made or not self._tells(place):
            return None
        age_s = max(self.max_age_s, _LONG_LIVED_S) if place.root == _LONG_LIVED else self.max_age_s
        return Finding(
            litter=replace(LITTER, max_age_s=age_s, is_users_age=True),
            root=place.root,
            parent=place.path,
            name=name,
            kind=kind,
            device=status.st_dev,
            inode=status.st_ino,
        )

    def _tells(self, place: Place) -> bool:
        """Whether it is a temp root itself, and one that says when something was last read."""
        if place.is_home or place.path != place.root or place.root == _SHARED_MEMORY:
            return False
        return self.mounts is not None and "noatime" not in self.mounts.options(place.path)
