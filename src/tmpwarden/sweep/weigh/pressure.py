"""A root that is nearly full: what is hurried, and when it is enough.

Quarantine goes first, then what dead and absent owners left, oldest first, until the root is relieved. Nothing that is
alive is touched and nothing is hurried below `high`; a budget is pressure that the user asked for.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...catalogue.settings import Settings
from ...lazy_dataclass import dataclass, field
from ...model.answers import Held
from ...model.request import Request
from ...model.sweep import Keep, Remove, Verdict
from ...model.terms import OwnerState, Reason
from ...oskit.files import space
from ...text import shown, size

_MOST_SHOWN = 3
_WHY = {
    Reason.TOO_YOUNG: "too new",
    Reason.RESUMABLE: "may still be resumed",
    Reason.ASK_ONLY: "removed by `tmpwarden clean --all` only",
    Reason.BACKLOG: "older than the first run, needing one `tmpwarden clean`",
    Reason.RUN_LIMIT: "left for the next run",
    Reason.GIT_WORK: "with git work that exists nowhere else",
    Reason.GIT_UNCLEAR: "with git work that could not be checked",
    Reason.KEEP_LIST: "on your keep list",
    Reason.NOT_MEASURED: "could not be checked",
}


@dataclass(slots=True)
class Pressure:
    """Which roots are short at the start of a run, and which still are."""

    low_percent: int
    budget_bytes: int | None
    roots: frozenset[str]
    held_bytes: int = 0  # what was found below all roots, as long as a budget counts it
    hurried: list[Remove] = field(default_factory=list)  # may go only because of the pressure
    kept_bytes: dict[str, dict[str, int]] = field(default_factory=dict)  # of short roots: why what agents left stays

    @classmethod
    def of(cls, roots: Iterable[str], request: Request, settings: Settings) -> Pressure:
        if request.budget_bytes is not None:
            return cls(0, request.budget_bytes, frozenset(roots))
        high, low = settings.pressure_high_percent, settings.pressure_low_percent
        if request.budget_percent is not None:
            high, low = request.budget_percent + 1, request.budget_percent
        return cls(low, None, frozenset(root for root in roots if _percent(root) >= high))

    def holds_back(self, verdict: Verdict, is_hurried: bool) -> bool:
        """Count what was found; True for a removal that only the pressure asks for."""
        if verdict.evidence.measure:
            self.held_bytes += verdict.evidence.measure.bytes
        if isinstance(verdict, Keep) and verdict.evidence.measure and verdict.finding.root in self.roots:
            why, kept = _why(verdict), self.kept_bytes.setdefault(verdict.finding.root, {})
            kept[why] = kept.get(why, 0) + verdict.evidence.measure.bytes
        if isinstance(verdict, Remove) and is_hurried:
            self.hurried.append(verdict)
            return True
        return False

    def is_relieved(self, root: str) -> bool:
        if self.budget_bytes is not None:
            return self.held_bytes <= self.budget_bytes
        return _percent(root) <= self.low_percent

    def oldest_first(self, root: str) -> list[Remove]:
        here = [verdict for verdict in self.hurried if verdict.finding.root == root]
        return sorted(here, key=lambda verdict: verdict.evidence.measure.newest_ns if verdict.evidence.measure else 0)

    def complaint(self, root: str) -> str | None:
        """Said when everything that may go is gone, and it was not enough."""
        if self.is_relieved(root):
            return None
        if self.budget_bytes is not None:
            left, goal = f"still holds {size(self.held_bytes)}", size(self.budget_bytes)
        else:
            left, goal = f"is still {_percent(root)}% full", f"{self.low_percent}%"
        kept = sorted(self.kept_bytes.get(root, {}).items(), key=lambda pair: -pair[1])[:_MOST_SHOWN]
        amounts = ", ".join(f"{size(amount)} {why}" for why, amount in kept if amount)
        stays = amounts or "there is nothing else of agents"
        whose = "`tmpwarden doctor` says who uses the rest"
        return f"{shown(root)} {left} (goal: {goal}), and nothing else can be removed ({stays}): {whose}"


def _why(verdict: Keep) -> str:
    """After an amount: "7.5 MB in use"."""
    if isinstance(verdict.evidence.users, Held) or verdict.evidence.owner.state is OwnerState.ALIVE:
        return "in use"
    return _WHY.get(verdict.reason, "kept for other reasons")


def _percent(root: str) -> int:
    try:
        return space.percent_used(space.space_of(root))
    except OSError:
        return 0
