"""What may happen to a unit that somebody may use unseen: the kernel is asked, and it only waits in quarantine.

Open and mapped files are all that the kernel can be asked about. A directory may still be somebody's working
directory, so it goes where it can come back from; a single worthless file cannot be, and its answer is whole.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...lazy_dataclass import dataclass, field
from ...model.answers import Held, Nobody, NotMeasured, Users
from ...model.sweep import Finding, Receipt, Remove
from ...model.terms import Kind, Outcome, Reason, Worth
from ...oskit.files import kernel_word
from ...oskit.proc.namespaces import in_initial_pid_namespace
from ...text import plural, shown, size

_MOST_SHOWN, _MOST_KEPT = 3, 64


def may_only_wait(finding: Finding) -> bool:
    """In doubt: whether it may go into quarantine and no further, whatever was asked for."""
    return finding.kind is not Kind.FILE or finding.litter.worth is Worth.SOME


def must_wait(verdict: Remove) -> bool:
    """Whether it goes into quarantine and no further: in such a doubt, and where an origin on this machine holds its
    commits, which may change its mind within a day."""
    return bool(verdict.evidence.git_origins) or (bool(verdict.doubt) and may_only_wait(verdict.finding))


def frees_nothing(verdict: Remove) -> bool:
    """Whether a clean gives no room back by it: quarantine lies on the same disk, and nothing else is allowed."""
    return bool(verdict.doubt) and may_only_wait(verdict.finding)


@dataclass(slots=True)
class Unchecked:
    """The items of a full disk by which no clean of ours frees anything, because somebody may use them unseen."""

    why: str = ""
    count: int = 0
    bytes: int = 0
    _largest: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def of(cls, verdicts: Iterable[Remove]) -> Unchecked:
        unchecked = cls()
        for verdict in verdicts:
            unchecked.add(verdict)
        return unchecked

    def add(self, verdict: Remove) -> None:
        amount = verdict.evidence.measure.bytes if verdict.evidence.measure else 0
        self.why = self.why or verdict.doubt
        self.count += 1
        self.bytes += amount
        self._largest.append((amount, verdict.finding.path))
        if len(self._largest) >= _MOST_KEPT:
            self._shorten()

    def _shorten(self) -> None:
        self._largest = sorted(self._largest, key=lambda pair: (-pair[0], pair[1]))[:_MOST_SHOWN]

    def sentence(self) -> str:
        """No command: whatever a person decides, it is not us who could say that nobody uses them."""
        self._shorten()
        names = ", ".join(f"{shown(path)} ({size(amount)})" for amount, path in self._largest)
        names += f" and {self.count - len(self._largest):,} more" if self.count > len(self._largest) else ""
        return (
            f"{plural(self.count, 'item')}, {size(self.bytes)}, could not be checked here ({self.why}), so they can "
            f"only be moved to quarantine, which frees nothing on this disk. Run tmpwarden {better_place()}; or decide "
            f"yourself whether you still need {names}"
        )


def better_place() -> str:
    """Where everybody could be seen."""
    if in_initial_pid_namespace():
        return "as root, or once that process has ended"
    return "on the host: this is a container"


def refusal(verdict: Remove, dir_fd: int, name: str = "", *, in_place: bool = False) -> Receipt | None:
    """Why the unit (or that member of a swarm) is kept after all; None if there is no doubt or the kernel resolved it.
    The last question before the deed: every law has said that it may go. `in_place`: none will follow."""
    finding = verdict.finding
    if not verdict.doubt and not (in_place and finding.litter.worth is Worth.SOME):
        return None
    users = NotMeasured(verdict.doubt, askable=True) if verdict.doubt else Nobody()
    match kernel_word.confirmed(users, dir_fd, name or finding.name):
        case Nobody():
            return None
        case Held(by):
            return Receipt(finding, Outcome.KEPT, Reason(by[0].kind.value), detail=by[0].detail)
        case NotMeasured(why):
            return Receipt(finding, Outcome.KEPT, Reason.NOT_MEASURED, detail=why)


def users_by_kernel(verdict: Remove) -> Users:
    """Who uses a unit that `refusal` does not keep: the doubt, if there was one, is resolved."""
    return Nobody() if verdict.doubt else verdict.evidence.users


def nowhere_to_wait(verdict: Remove) -> Receipt:
    detail = f"{verdict.doubt}, and there is no quarantine to bring it back from"
    return Receipt(verdict.finding, Outcome.KEPT, Reason.NOT_MEASURED, detail=detail)
