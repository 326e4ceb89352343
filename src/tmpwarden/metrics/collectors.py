"""What is told of one user, part by part: a table of functions, each of which looks at one thing. Changes nothing.

Roots are named by their paths here; `series` gives them names that do not tell where they are.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator

from ..catalogue.load import load
from ..doctor.examine import examine
from ..doctor.patient import Patient
from ..lazy_dataclass import dataclass
from ..lifecycle.living import living_sessions
from ..model.sweep import Remove, Verdict
from ..model.terms import Reason
from ..oskit.files import places
from ..processes.find import look
from ..repos.worktrees.compose import TreesWanted, surveyors
from ..sweep.store import books, history, journal
from ..sweep.store.labels import still_there
from ..sweep.weigh import consent
from .families import Sample

HOME, OTHER = "home", "other"
VERDICTS = ("remove", "keep")
FATES = ("end", "keep", "never")
STATE_KINDS = ("journal", "guard", "rescue", "quarantine", "runtime", OTHER)
STATUSES = {"ok": 0, "unknown": -1, "warn": 1, "fail": 2}  # in the order in which one outdoes the other
_DOCTOR_S, _WORKTREES_S = 30.0, 15.0
_MOST_STATE_ENTRIES = 20_000


@dataclass(slots=True)
class Observed:
    """Whom we look at, and the agents that have a name here: what a user calls his own rows is nobody's label."""

    patient: Patient
    known_agents: frozenset[str]
    saw_all: bool = True  # of the part that is looked at now

    def agent(self, agent_id: str) -> str:
        return agent_id if agent_id in self.known_agents else OTHER

    @property
    def agents_here(self) -> tuple[str, ...]:
        """Those whose settings were found: they are told of even if there is nothing to tell."""
        return tuple(self.agent(hook.agent) for hook in self.patient.hooks)


def _roots(subject: Observed) -> Iterator[Sample]:
    for room in subject.patient.spaces:
        label = (room.path,)
        yield Sample("root_size_bytes", room.bytes_total, label)
        yield Sample("root_used_bytes", room.bytes_used, label)
        yield Sample("root_free_bytes", room.bytes_free, label)
        if room.inodes_total:
            yield Sample("root_inodes", room.inodes_total, label)
            yield Sample("root_used_inodes", room.inodes_used, label)
            yield Sample("root_free_inodes", room.inodes_free, label)
        if room.quota_bytes and room.quota_used is not None:
            yield Sample("quota_limit_bytes", room.quota_bytes, label)
            yield Sample("quota_used_bytes", room.quota_used, label)
        if room.quota_inodes and room.quota_inodes_used is not None:
            yield Sample("quota_limit_inodes", room.quota_inodes, label)
            yield Sample("quota_used_inodes", room.quota_inodes_used, label)


def _forecast(subject: Observed) -> Iterator[Sample]:
    """What status says in words. A quota is one user's, and does not fill a root."""
    patient = subject.patient
    known = history.read(places.state_dir(), lately=True)
    for room, trend in zip(patient.spaces, history.trends(known, patient.spaces, patient.now_ns()), strict=True):
        match trend:
            case history.Growing(("bytes" | "inodes") as what, per_hour, full_in_s):
                if what == "bytes":
                    yield Sample("root_growth_bytes_per_second", round(per_hour / 3600, 3), (room.path,))
                if full_in_s is not None:
                    yield Sample("root_full_seconds", round(full_in_s), (room.path,))
            case history.Steady():
                yield Sample("root_growth_bytes_per_second", 0, (room.path,))
            case history.Growing() | history.TooFew():
                pass


def _litter(subject: Observed) -> Iterator[Sample]:
    """With zeros for the agents that are here: a graph should fall to nothing, not end."""
    here = set(subject.agents_here)
    units: Counter[tuple[str, str]] = Counter()
    sizes: Counter[tuple[str, str]] = Counter()
    inodes: Counter[tuple[str, str]] = Counter()
    for verdict in filter(_is_ours, subject.patient.verdicts):
        label = subject.agent(verdict.finding.litter.agent), "remove" if isinstance(verdict, Remove) else "keep"
        measure = verdict.evidence.measure
        units[label] += len(verdict.finding.members) or 1
        sizes[label] += measure.bytes if measure else 0
        inodes[label] += measure.entries if measure else 1
        subject.saw_all &= measure is not None and not measure.at_least
        here.add(label[0])
    subject.saw_all &= subject.patient.saw_all
    for label in sorted((agent, verdict) for agent in here for verdict in VERDICTS):
        yield Sample("litter_units", units[label], label)
        yield Sample("litter_bytes", sizes[label], label)
        yield Sample("litter_inodes", inodes[label], label)


def _is_ours(verdict: Verdict) -> bool:
    """What belongs to another user is told by that one."""
    return verdict.reason is not Reason.FOREIGN or places.owner_of(verdict.finding.path) == places.uid()


def _quarantine(subject: Observed) -> Iterator[Sample]:
    units: Counter[str] = Counter(dict.fromkeys(subject.patient.roots, 0))
    sizes: Counter[str] = Counter()
    state = places.state_dir()
    for entry in still_there(journal.restorable(state).values(), state):
        root = str(entry.get("root", ""))
        label = root if root in subject.patient.roots else HOME
        units[label] += 1
        sizes[label] += int(entry.get("bytes", 0))
    for label, count in units.items():
        yield Sample("quarantine_units", count, (label,))
        yield Sample("quarantine_bytes", sizes[label], (label,))


def _totals(subject: Observed) -> Iterator[Sample]:
    state = places.state_dir()
    freed, counts = books.saved_so_far(state), books.counts_so_far(state)
    yield Sample("removed_units_total", counts.removed_units)
    yield Sample("freed_bytes_total", freed.bytes)
    yield Sample("freed_inodes_total", freed.entries)
    for result in books.RESULTS:
        yield Sample("cleans_total", counts.cleans.get(result, 0), (result,))
    for code, count in counts.failures.items():
        yield Sample("failures_total", count, (code,))
    last_ns = consent.last_clean_ns(state)
    if last_ns is not None:
        yield Sample("last_clean_timestamp_seconds", round(last_ns / 1e9, 3))
    if counts.last_result:
        yield Sample("last_clean_success", counts.last_result == "ok")
        yield Sample("last_clean_duration_seconds", counts.last_duration_s)


def _sessions(subject: Observed) -> Iterator[Sample]:
    counts: Counter[str] = Counter(dict.fromkeys(subject.agents_here, 0))
    for session in living_sessions(load(), subject.patient.roots):
        counts[subject.agent(session.agent)] += 1
    for agent, count in counts.items():
        yield Sample("live_sessions", count, (agent,))


def _orphans(subject: Observed) -> Iterator[Sample]:
    orphans = look(subject.patient.roots, config_file=subject.patient.request.config_file)
    for fate in FATES:
        these = [one for one in orphans if one.fate.value == fate]
        yield Sample("orphan_processes", len(these), (fate,))
        yield Sample("orphan_memory_bytes", sum(one.memory_bytes for one in these), (fate,))


def _worktrees(subject: Observed) -> Iterator[Sample]:
    """As many as there is time for; git is asked about each."""
    request, until_s = subject.patient.request, time.monotonic() + _WORKTREES_S
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    wish = TreesWanted(roots=request.roots, config_file=request.config_file)
    with surveyors(wish, now_ns=subject.patient.now_ns) as (surveyor, candidates, _):
        for tree in surveyor.look(candidates):
            verdict = "remove" if tree.is_proven else "keep"
            counts[verdict] += 1
            sizes[verdict] += tree.measure.bytes if tree.measure else 0
            if time.monotonic() > until_s:
                subject.saw_all = sum(counts.values()) == len(candidates)
                break
    for verdict in VERDICTS:
        yield Sample("worktrees", counts[verdict], (verdict,))
        yield Sample("worktree_bytes", sizes[verdict], (verdict,))


def _state(subject: Observed) -> Iterator[Sample]:
    """By the first word of a name right below: `journal.jsonl`, `guard/`, `q/`; `rescue/` and copies of ourselves."""
    sizes: Counter[str] = Counter(dict.fromkeys(STATE_KINDS, 0))
    for base, others in ((places.state_dir(), OTHER), (places.data_dir(), "runtime")):
        for number, (word, allocated_bytes) in enumerate(_files_below(base)):
            kind = {"q": "quarantine"}.get(word, word)
            sizes[kind if kind in STATE_KINDS else others] += allocated_bytes
            if number > _MOST_STATE_ENTRIES:
                subject.saw_all = False
                break
    for kind in STATE_KINDS:
        yield Sample("state_bytes", sizes[kind], (kind,))


def _files_below(base: str) -> Iterator[tuple[str, int]]:
    for parent, _, names in os.walk(base):
        for name in names:
            path = os.path.join(parent, name)
            try:
                status = os.lstat(path)
            except OSError:
                continue
            yield os.path.relpath(path, base).split("/")[0].split(".")[0], status.st_blocks * 512


def _doctor(subject: Observed) -> Iterator[Sample]:
    """The worst that each check says."""
    order = list(STATUSES)
    worst: dict[str, str] = {}
    for diagnosis in examine(subject.patient, within_s=_DOCTOR_S):
        worst[diagnosis.check] = max(worst.get(diagnosis.check, "ok"), diagnosis.status, key=order.index)
    for check, status in worst.items():
        yield Sample("doctor_check_status", STATUSES[status], (check,))


COLLECTORS: dict[str, Callable[[Observed], Iterator[Sample]]] = {
    "roots": _roots,
    "forecast": _forecast,
    "litter": _litter,
    "quarantine": _quarantine,
    "totals": _totals,
    "sessions": _sessions,
    "orphans": _orphans,
    "state": _state,
    "worktrees": _worktrees,
    "doctor": _doctor,
}


def gather(subject: Observed) -> Iterator[Sample]:
    """Everything; a part that breaks is missing and said to be, and the others are told."""
    for name, collect in COLLECTORS.items():
        began_s, subject.saw_all = time.monotonic(), True
        samples: list[Sample] = []
        try:
            samples = list(collect(subject))
        except Exception:
            subject.saw_all = False
        yield from samples
        yield Sample("collector_success", subject.saw_all, (name,))
        yield Sample("collector_duration_seconds", round(time.monotonic() - began_s, 3), (name,))
