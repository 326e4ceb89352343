"""Every process, read once: our own in full, the others as far as they are somebody's parent or child."""

from __future__ import annotations

import os
from contextlib import suppress

from ..lazy_dataclass import dataclass, field
from ..oskit.proc import procs, vitals
from ..oskit.proc.vitals import PartlyUnread, Vitals


@dataclass(slots=True)
class Census:
    known: dict[int, Vitals] = field(default_factory=dict)  # of every user, as far as they can be read
    unreadable: dict[int, PartlyUnread] = field(default_factory=dict)
    children: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def take(cls) -> Census:
        census = cls()
        with suppress(OSError):  # nobody can be told from anybody: nobody is
            for pid in procs.pids():
                census.add(pid)
        return census

    def add(self, pid: int) -> None:
        found = vitals.look_at(pid)
        match found:
            case Vitals():
                self.known[pid] = found
                self.children.setdefault(found.parent, []).append(pid)
            case PartlyUnread(parent=parent):
                self.unreadable[pid] = found
                if parent is not None:
                    self.children.setdefault(parent, []).append(pid)
            case vitals.ProcessGone():
                pass

    def own(self) -> list[Vitals]:
        """Those of this user, without this very process and what it descends from."""
        mine = {os.getpid(), *self.ancestors(os.getpid())}
        return [one for one in self.known.values() if one.uid == os.geteuid() and one.pid not in mine]

    def ancestors(self, pid: int) -> list[int]:
        return procs.ancestors(pid, self.known)

    def descendants(self, pid: int) -> list[int]:
        found, todo = [], list(self.children.get(pid, ()))
        while todo:
            one = todo.pop()
            if one not in found:
                found.append(one)
                todo += self.children.get(one, ())
        return found
