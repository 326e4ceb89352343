"""Who fills the temp roots: by agent, session and owner, and how much of it may go."""

from collections.abc import Iterator

from ...model.answers import Held
from ...model.sweep import Diagnosis, Remove, Unmatched, Verdict
from ...model.terms import OwnerState
from ...text import shown, size
from ..patient import Patient
from ..relief import bytes_of

_WORTH_A_WARNING = 1 << 30
_LARGEST_SESSIONS = _LARGEST_GROUPS = 3


def check(patient: Patient) -> Iterator[Diagnosis]:
    by_agent: dict[str, int] = {}
    for verdict in patient.verdicts:
        by_agent[_whose(verdict)] = by_agent.get(_whose(verdict), 0) + bytes_of(verdict)
    strange = ", ".join(f"{shown(group.glob)} {_amount(group)}" for group in patient.unmatched[:_LARGEST_GROUPS])
    if not by_agent:
        words = f"yours and of no known kind: {strange}" if strange else ""
        yield Diagnosis("consumers", "ok", "agents have left nothing in the temp roots.", words)
        return
    removable = sum(bytes_of(verdict) for verdict in patient.verdicts if isinstance(verdict, Remove))
    largest = sorted(by_agent, key=lambda name: -by_agent[name])
    detail = ", ".join(f"{name} {size(by_agent[name])}" for name in largest[:5])
    if sessions := _sessions(patient.verdicts):
        detail += f"; largest: {', '.join(sessions)}"
    if strange:
        detail += f"; yours and of no known kind: {strange}"
    least = "" if patient.saw_all else "at least "
    amount = size(sum(by_agent.values()))
    summary = f"agents hold {least}{amount} in the temp roots; {size(removable)} of it can go now."
    status = "warn" if removable >= _WORTH_A_WARNING else "ok"
    yield Diagnosis("consumers", status, summary, detail, "tmpwarden clean" if removable else "")


def _amount(group: Unmatched) -> str:
    return f"{'at least ' if group.at_least else ''}{size(group.bytes)}"


def _sessions(verdicts: tuple[Verdict, ...]) -> list[str]:
    """The sessions that hold most, each with what became of its owner."""
    by_session: dict[str, int] = {}
    for verdict in verdicts:
        if session := verdict.evidence.owner.session or verdict.finding.session:
            name = f"session {shown(session)} of {_whose(verdict)}"
            by_session[name] = by_session.get(name, 0) + bytes_of(verdict)
    names = sorted(by_session, key=lambda name: -by_session[name])[:_LARGEST_SESSIONS]
    return [f"{name} {size(by_session[name])}" for name in names]


def _whose(verdict: Verdict) -> str:
    owner = verdict.evidence.owner
    if owner.state is OwnerState.ALIVE or isinstance(verdict.evidence.users, Held):
        return f"{verdict.finding.litter.agent} (live)"
    words = {OwnerState.DEAD: "dead", OwnerState.ABSENT: "gone", OwnerState.NONE: "unowned"}
    return f"{verdict.finding.litter.agent} ({words.get(owner.state, 'unknown owner')})"
