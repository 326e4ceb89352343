"""What an unattended run may do: the first big sweep asks, and no run takes more than its share (law 11)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...model.sweep import Evidence, Finding, Keep, OwnerState, Reason, Remove, Verdict, Worth
from ...oskit.files import atomic, places

_FIRST_RUN, _CONSENT, _LAST_CLEAN = "first-run", "consent", "last-clean"


@dataclass(frozen=True, slots=True)
class Consent:
    """Read once per run. Without a readable record everything is from before us, and nobody has consented."""

    first_run_ns: int
    given: bool

    @classmethod
    def read(cls, state: str, now_ns: int) -> Consent:
        first = _stamp_ns(f"{state}/{_FIRST_RUN}")
        return cls(now_ns if first is None else first, _stamp_ns(f"{state}/{_CONSENT}") is not None)

    def is_backlog(self, finding: Finding, evidence: Evidence) -> bool:
        """Worth something, from before our first run, and never spoken for."""
        if self.given or finding.litter.worth is not Worth.SOME or finding.litter.agent == "tmpwarden":
            return False
        return evidence.measure is None or evidence.measure.newest_ns < self.first_run_ns


def note_first_run(state: str) -> None:
    """Before the first thing that may be removed here; looking alone leaves no trace."""
    if _stamp_ns(f"{state}/{_FIRST_RUN}") is None:
        _touch(state, _FIRST_RUN)


def give(state: str | None = None) -> bool:
    """A person confirmed a clean: from now on unattended runs may take what is older than us."""
    return _touch(state or places.state_dir(), _CONSENT)


def note_clean(state: str) -> bool:
    return _touch(state, _LAST_CLEAN)


def last_clean_ns(state: str) -> int | None:
    return _stamp_ns(f"{state}/{_LAST_CLEAN}")


def is_due(state: str, every_s: float, now_ns: int) -> bool:
    last = last_clean_ns(state)
    return last is None or last > now_ns or now_ns - last >= every_s * 10**9


@dataclass(slots=True)
class Share:
    """At most `percent` of the bytes and of the entries that were found below a root go in one unattended run.

    Proven deaths are exempt: a record names their owner. So are worthless units. What is left over is a guess by
    absence or age, and a guess that is wrong about everything must not take everything.
    """

    percent: int
    held: dict[str, list[int]] = field(default_factory=dict)  # root -> bytes, entries
    guesses: list[Remove] = field(default_factory=list)
    taken: dict[str, list[int]] = field(default_factory=dict)  # of the guesses, in the same form

    def count(self, verdict: Verdict) -> None:
        size, entries = _weight(verdict)
        total = self.held.setdefault(verdict.finding.root, [0, 0])
        total[0] += size
        total[1] += entries

    def holds_back(self, verdict: Verdict) -> bool:
        """Count what was found; True for a removal that has to wait until everything is counted."""
        self.count(verdict)
        if isinstance(verdict, Keep) or not _is_guess(verdict):
            return False
        self.guesses.append(verdict)
        return True

    def limited(self) -> Iterator[Verdict]:
        """The guesses, as far as they fit into the share."""
        return (self.admitted(verdict) for verdict in self.guesses)

    def admitted(self, verdict: Remove) -> Verdict:
        """The removal, if it fits into what is left of its root's share; else that it stays."""
        if not _is_guess(verdict):
            return verdict
        size, entries = _weight(verdict)
        taken = self.taken.setdefault(verdict.finding.root, [0, 0])
        most = [count * self.percent // 100 for count in self.held[verdict.finding.root]]
        if taken[0] + size > most[0] or taken[1] + entries > most[1]:
            return Keep(verdict.finding, verdict.evidence, Reason.RUN_LIMIT, f"{self.percent}%")
        taken[0] += size
        taken[1] += entries
        return verdict


def _is_guess(verdict: Remove) -> bool:
    return verdict.finding.litter.worth is Worth.SOME and verdict.evidence.owner.state is not OwnerState.DEAD


def _weight(verdict: Verdict) -> tuple[int, int]:
    measure = verdict.evidence.measure
    return (measure.bytes, measure.entries) if measure else (0, 1)


def _stamp_ns(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def _touch(state: str, name: str) -> bool:
    try:
        atomic.make_private_dir(state)
        atomic.write(f"{state}/{name}", b"")
    except OSError:
        return False
    return True
