"""Who fills the temp roots: by agent and owner, and how much of it may go."""

from collections.abc import Iterator

from ...model.sweep import Diagnosis, OwnerState, Remove, Verdict
from ...text import size
from ..patient import Patient

_WORTH_A_WARNING = 1 << 30


def check(patient: Patient) -> Iterator[Diagnosis]:
    by_agent: dict[str, int] = {}
    removable = 0
    for verdict in patient.verdicts:
        by_agent[_whose(verdict)] = by_agent.get(_whose(verdict), 0) + _bytes(verdict)
        removable += _bytes(verdict) if isinstance(verdict, Remove) else 0
    if not by_agent:
        yield Diagnosis("consumers", "ok", "agents have left nothing in the temp roots.")
        return
    largest = sorted(by_agent, key=lambda name: -by_agent[name])
    detail = ", ".join(f"{name} {size(by_agent[name])}" for name in largest[:5])
    summary = f"agents hold {size(sum(by_agent.values()))} in the temp roots; {size(removable)} of it can go now."
    status = "warn" if removable >= _WORTH_A_WARNING else "ok"
    yield Diagnosis("consumers", status, summary, detail, "tmpwarden clean" if removable else "")


def _whose(verdict: Verdict) -> str:
    owner = verdict.evidence.owner
    if owner.state is OwnerState.ALIVE or verdict.evidence.witnesses:
        return f"{verdict.finding.litter.agent} (live)"
    words = {OwnerState.DEAD: "dead", OwnerState.ABSENT: "gone", OwnerState.NONE: "unowned"}
    return f"{verdict.finding.litter.agent} ({words.get(owner.state, 'unknown owner')})"


def _bytes(verdict: Verdict) -> int:
    return verdict.evidence.measure.bytes if verdict.evidence.measure else 0
