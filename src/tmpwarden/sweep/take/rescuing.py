"""Save what exists nowhere else in a unit that was taken, before anything is done to it for good.

It lies in quarantine by then: nobody can reach it by its name any more, so that what is saved is what goes.
"""

from __future__ import annotations

from collections.abc import Callable

from ...catalogue.settings import Settings
from ...lazy_dataclass import dataclass
from ...model.sweep import Measure, Remove
from ...model.terms import Kind, OwnerRule, Worth
from ...repos.rescue.nouns import Refused, Rescued


@dataclass(frozen=True, slots=True)
class Rescuer:
    """What `[rescue]` in the configuration wants."""

    settings: Settings
    now_ns: Callable[[], int]

    def saved(self, verdict: Remove, quarantine_fd: int, token: str) -> Rescued | Refused | None:
        """None: nothing had to be saved. Refused: git work in it could not be, so that it must go back."""
        must = must_be_saved(verdict)
        if not must and not self._wants_files(verdict):
            return None
        from ...repos.rescue import told  # only here: most units hold nothing of the kind
        from ...repos.rescue.save import Endangered, save

        finding, owner = verdict.finding, verdict.evidence.owner
        place = Endangered(quarantine_fd, token, finding.path, finding.session or owner.session)
        files = self.settings.rescue_files
        done = save(place, self.settings, now_s=self.now_ns() / 1e9, git=must, files=files)
        if isinstance(done, Rescued):
            told.later(done)
        if must and not isinstance(done, Rescued):
            return done or Refused("nothing unique was found in it, and something must have been")
        return done if isinstance(done, Rescued) else None

    def _wants_files(self, verdict: Remove) -> bool:
        """What a session left, and had room for a person's files."""
        litter, measure = verdict.finding.litter, verdict.evidence.measure
        is_of_a_session = litter.owner in (OwnerRule.LEASE, OwnerRule.SESSION) and verdict.finding.kind is Kind.DIR
        return self.settings.rescue_files and is_of_a_session and litter.worth is Worth.SOME and _has_entries(measure)


def must_be_saved(verdict: Remove) -> bool:
    """Judged to go although git work would be lost with it: only if that is saved."""
    losses = verdict.evidence.git_losses
    return isinstance(losses, tuple) and bool(losses) and not verdict.finding.litter.git_disposable


def _has_entries(measure: Measure | None) -> bool:
    return measure is not None and measure.entries > 1
