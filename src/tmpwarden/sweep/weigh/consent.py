"""What an unattended run may do: the first big sweep asks, and no run takes more than its share (law 11)."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...lazy_dataclass import dataclass, field
from ...model.sweep import Evidence, Finding, Keep, Remove, Verdict
from ...model.terms import OwnerState, Reason, Worth
from ...oskit.files import atomic, own_dirs, places

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
    """What goes by a guess in one unattended run: of each root the oldest unit, and more up to `percent` of it.

    Proven deaths are exempt: a record names their owner. So are worthless units. What is left over is a guess by
    absence or age, and a guess that is wrong about everything must not take everything; but a root that one unit fills
    has to get better all the same, so the first one goes whatever its size.
    """

    percent: int
    held: dict[str, list[int]] = field(default_factory=dict)  # root -> bytes, entries
    guesses: list[Remove] = field(default_factory=list)
    taken: dict[str, list[int]] = field(default_factory=dict)  # of the guesses, in the same form; no key: none yet

    def count(self, verdict: Verdict) -> None:
        _add(self.held, verdict, 1)

    def holds_back(self, verdict: Verdict) -> bool:
        """Count what was found; True for a removal that has to wait until everything is counted."""
        self.count(verdict)
        if isinstance(verdict, Keep) or not _is_guess(verdict):
            return False
        self.guesses.append(verdict)
        return True

    def by_root(self) -> Iterator[list[Remove]]:
        """The guesses of each root, oldest first."""
        for root in dict.fromkeys(verdict.finding.root for verdict in self.guesses):
            yield sorted((each for each in self.guesses if each.finding.root == root), key=_newest_ns)

    def limited(self) -> Iterator[Verdict]:
        """The guesses, as far as they may go in this run."""
        return (self.admitted(verdict) for here in self.by_root() for verdict in here)

    def admitted(self, verdict: Remove) -> Verdict:
        """The removal, if it is the first of its root or fits into what is left of the share; else that it waits."""
        if not _is_guess(verdict):
            return verdict
        root = verdict.finding.root
        if root in self.taken and not self._fits(verdict):
            return Keep(verdict.finding, verdict.evidence, Reason.RUN_LIMIT, f"{self.percent}%")
        _add(self.taken, verdict, 1)
        return verdict

    def give_back(self, verdict: Remove) -> None:
        """It stayed after all, and must not stand in the way of the next one."""
        _add(self.taken, verdict, -1)
        if self.taken[verdict.finding.root] == [0, 0]:
            del self.taken[verdict.finding.root]

    def _fits(self, verdict: Remove) -> bool:
        root = verdict.finding.root
        most = (count * self.percent // 100 for count in self.held[root])
        return all(
            taken + more <= limit for taken, more, limit in zip(self.taken[root], _weight(verdict), most, strict=True)
        )


def _add(sums: dict[str, list[int]], verdict: Verdict, times: int) -> None:
    sums[verdict.finding.root] = [
        total + times * more
        for total, more in zip(sums.get(verdict.finding.root, (0, 0)), _weight(verdict), strict=True)
    ]


def _newest_ns(verdict: Verdict) -> int:
    return verdict.evidence.measure.newest_ns if verdict.evidence.measure else 0


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
        own_dirs.make_private_dir(state)
        atomic.write(f"{state}/{name}", b"")
    except OSError:
        return False
    return True
