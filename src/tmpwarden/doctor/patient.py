"""What the doctor looks at: one machine, one user, one set of temp roots. Measured once, asked by many checks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

from ..errors import TmpwardenError, UnsafeRoot
from ..lazy_dataclass import dataclass, replace
from ..model.request import Request
from ..model.sweep import Space, Unmatched, Verdict
from ..oskit.files import places, space
from ..sweep.compose import prepare
from ..sweep.prepared import Prepared
from ..sweep.survey import Survey

_LOOK_S = 10.0  # at the units of all roots; a doctor who looks for longer helps nobody


@dataclass(frozen=True)
class HookState:
    """How one agent is set up, as setup/ sees it."""

    agent: str
    state: str  # "absent", "installed", or one of the words of doctor/checks/installation.py
    detail: str = ""
    guard: bool = False


@dataclass
class Patient:
    """`hooks` and `timer` come from above: only setup/ reads the agents' settings."""

    request: Request
    environ: Mapping[str, str]
    may_probe: bool = True
    hooks: tuple[HookState, ...] = ()
    timer: str | None = None  # None: there is none; else its state in words
    instead_of_timer: str = ""  # what to call on a machine whose schedulers cannot call us
    can_rescue: bool = False  # the command line knows `rescue`
    now_ns: Callable[[], int] = time.time_ns
    saw_all: bool = True  # False: there are more units than could be looked at in time

    @cached_property
    def prepared(self) -> Prepared:
        request = replace(self.request, roots=self.roots) if self._are_broken_roots_named else self.request
        return prepare(request, now_ns=self.now_ns)

    @cached_property
    def survey(self) -> Survey:
        return Survey(self.prepared)

    @cached_property
    def unmatched(self) -> tuple[Unmatched, ...]:
        """What is the user's and no row knows, biggest first; measured as far as a quick look goes."""
        assert self.verdicts is not None  # the look at litter is the one that sees them
        return self.survey.unmatched()

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        verdicts, until = [], time.monotonic() + _LOOK_S
        for verdict in self.survey:
            verdicts.append(verdict)
            if time.monotonic() > until:
                self.saw_all = False
                break
        return tuple(verdicts)

    def judged(self, **changes: Any) -> list[Verdict]:
        """What the judge would say if he were asked otherwise: with consent to what needs a word, or by name."""
        try:
            return list(prepare(replace(self.prepared.request, **changes), now_ns=self.now_ns).surveyed())
        except TmpwardenError:
            return []

    @cached_property
    def roots(self) -> tuple[str, ...]:
        if not self._are_broken_roots_named:
            return tuple(places.temp_roots(self.request.roots))
        roots: list[str] = []
        for path in filter(None, os.environ.get("TMPWARDEN_ROOTS", "").split(":")):
            with suppress(UnsafeRoot):
                roots += places.temp_roots((path,))
        return tuple(roots)

    @cached_property
    def _are_broken_roots_named(self) -> bool:
        """By the environment: that is for a check to say, and the others go on with what is there."""
        try:
            places.temp_roots(self.request.roots)
        except UnsafeRoot:
            return not self.request.roots
        return False

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        return tuple(space.space_of(root) for root in self.roots)
