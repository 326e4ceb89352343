"""What one run of scan or clean was asked to do, and the ages that apply."""

from __future__ import annotations

from ..lazy_dataclass import dataclass, field
from .terms import Reason

LEAST_RESUMABLE_S = 24 * 3600  # a session that ended yesterday may be resumed today: no setting goes below


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The user's word on ages, over the rows'. None: what the rows and the settings say.

    A caller fills in what its own user said and nothing else; `compose.prepare` adds what the settings say, for all.
    """

    min_age_s: int | None = None  # a floor for every state
    max_age_s: int | None = None  # a person's, on the command line, for this run: goes below a row's shorter age too
    general_s: int | None = None  # what 72 h, the limit of rows without one of their own, is here; [periodic] max_age
    hurried: bool = False  # pressure: dead and absent 60 s
    take_ask: bool = False  # --tier ask
    named: frozenset[str] = field(
        default_factory=frozenset
    )  # paths torn down, or named by a person: that replaces their age limit, and nothing else
    named_reason: Reason = Reason.TORN_DOWN


@dataclass(frozen=True, slots=True)
class Request:
    """What one run of scan or clean was asked to do."""

    roots: tuple[str, ...] = ()  # empty: TMPWARDEN_ROOTS, else the machine's
    home: str | None = None  # beside named roots, which else confine a run: look at home rows below this (rehearsals)
    projects: tuple[str, ...] = ()  # directories that a person works in and named: project rows look there
    agents: tuple[str, ...] = ()  # agent ids; empty: all
    rows: tuple[str, ...] = ()  # row keys such as "claude.cwd-marker"; empty: all
    thresholds: Thresholds = field(default_factory=Thresholds)
    config_file: str | None = None
    unattended: bool = False  # hook, timer, server: law 11 applies
    quarantine: bool = True
    budget_bytes: int | None = None  # --budget: pressure until what we may remove holds at most this much
    budget_percent: int | None = None
    empty_quarantine: bool = False  # --purge
    time_limit_s: float | None = None
    only_paths: frozenset[str] = frozenset()  # look at these units only (teardown)
    words: tuple[str, ...] = ()  # files, directories and globs that a person named: look at these alone

    @property
    def is_of_a_part(self) -> bool:
        """Whether something was left out that a clean of everything would look at."""
        return bool(self.rows or self.agents or self.only_paths or self.words)
