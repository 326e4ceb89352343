"""What the doctor looks at: one machine, one user, one set of temp roots. Measured once, asked by many checks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..model.sweep import Request, Space, Verdict
from ..oskit import places, space
from ..sweep.compose import prepare
from ..sweep.prepared import Prepared

_LOOK_S = 10.0  # at the units of all roots; a doctor who looks for longer helps nobody


@dataclass(frozen=True)
class HookState:
    """How one agent is set up, as setup/ sees it."""

    agent: str
    state: str  # "absent", "installed", "untrusted", "outdated", "twice", "interpreter gone", "broken settings"
    detail: str = ""


@dataclass
class Patient:
    """`hooks` and `timer` come from above: only setup/ reads the agents' settings."""

    request: Request
    environ: Mapping[str, str]
    may_probe: bool = True
    hooks: tuple[HookState, ...] = ()
    timer: str | None = None  # None: there is none; else its state in words
    saw_all: bool = True  # False: there are more units than could be looked at in time

    @cached_property
    def prepared(self) -> Prepared:
        return prepare(self.request)

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        found, until = [], time.monotonic() + _LOOK_S
        for verdict in self.prepared.surveyed():
            found.append(verdict)
            if time.monotonic() > until:
                self.saw_all = False
                break
        return tuple(found)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        return tuple(places.temp_roots(self.request.roots))

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        return tuple(space.space_of(root) for root in self.roots)
