"""What the doctor looks at: one machine, one user, one set of temp roots. Measured once, asked by many checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..model.sweep import Request, Space, Verdict
from ..oskit import places, space
from ..sweep.compose import prepare
from ..sweep.prepared import Prepared


@dataclass(frozen=True)
class HookState:
    """How one agent is set up, as setup/ sees it."""

    agent: str
    state: str  # "absent", "installed", "untrusted", "outdated", "twice", "broken settings"
    detail: str = ""


@dataclass
class Patient:
    """`hooks` and `timer` come from above: only setup/ reads the agents' settings."""

    request: Request
    environ: Mapping[str, str]
    may_probe: bool = True
    hooks: tuple[HookState, ...] = ()
    timer: str | None = None  # None: there is none; else its state in words

    @cached_property
    def prepared(self) -> Prepared:
        return prepare(self.request)

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(self.prepared.verdicts())

    @cached_property
    def roots(self) -> tuple[str, ...]:
        return tuple(places.temp_roots(self.request.roots))

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        return tuple(space.space_of(root) for root in self.roots)
