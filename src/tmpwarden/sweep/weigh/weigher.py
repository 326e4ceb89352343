"""Hear one finding: gather its evidence through an open directory, judge it, and look at git work last."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from ...lazy_dataclass import dataclass, replace
from ...model.answers import Held, Nobody, NotMeasured, Users
from ...model.request import Thresholds
from ...model.sweep import Evidence, Finding, Keep, Measure, Owner, Remove, Verdict, Witness
from ...model.terms import Kind, OwnerState, Reason, WitnessKind
from ..find import scan
from .evidence import World, gather, has_shape, inspect_git
from .judge import Standing, judge, threshold_s

# Swarms: single worthless files of one row in one directory, judged one by one and told together.

Judge = Callable[[Finding, Evidence], Verdict]


def split(finding: Finding, world: World, dir_fd: int, judge: Judge) -> Iterator[Verdict]:
    """One Remove for the members that may go, one Keep for each reason that keeps some. Other shapes are no litter."""
    groups: dict[Reason | None, list[tuple[str, Evidence, str]]] = {}
    for name in finding.members:
        evidence = _member_evidence(finding, name, world, dir_fd)
        if evidence is None or evidence.has_shape is False:
            continue
        verdict = judge(replace(finding, name=name, members=()), evidence)
        reason, detail = (None, verdict.doubt) if isinstance(verdict, Remove) else (verdict.reason, verdict.detail)
        groups.setdefault(reason, []).append((name, evidence, detail))
    for reason, members in groups.items():
        yield _together(finding, reason, members)


def _member_evidence(finding: Finding, name: str, world: World, dir_fd: int) -> Evidence | None:
    try:
        status = os.lstat(name, dir_fd=dir_fd)
    except OSError:
        return None
    return Evidence(
        owner=Owner(OwnerState.NONE),
        users=_users(f"{finding.parent}/{name}", status, world),
        measure=_measure(status, world),
        has_shape=has_shape(finding, world, dir_fd, name),
    )


def _users(path: str, status: os.stat_result, world: World) -> Users:
    match world.users_in(path):
        case Held() as users:
            return users
        case Nobody() | NotMeasured() if world.is_locked(status):
            return Held((Witness(WitnessKind.LOCK, path),))
        case Nobody():
            return Nobody()
        case NotMeasured() as doubt:
            return world.askable(doubt, path, files=1)


def _measure(status: os.stat_result, world: World) -> Measure:
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    return Measure(
        newest_ns=newest,
        oldest_ns=newest,
        bytes=status.st_blocks * 512,
        entries=1,
        foreign=int(status.st_uid != world.uid),
        sticky=int(bool(status.st_mode & 0o1000)),
    )


def _together(finding: Finding, reason: Reason | None, members: list[tuple[str, Evidence, str]]) -> Verdict:
    measures = [evidence.measure for _, evidence, _ in members if evidence.measure]
    names = tuple(name for name, _, _ in members)
    group = replace(finding, members=names)
    evidence = replace(
        members[0][1],
        measure=Measure(
            newest_ns=max(m.newest_ns for m in measures),
            oldest_ns=min(m.oldest_ns for m in measures),
            bytes=sum(m.bytes for m in measures),
            entries=len(measures),
        ),
    )
    if reason is None:
        return Remove(group, evidence, Reason.UNOWNED, next((doubt for _, _, doubt in members if doubt), ""))
    return Keep(group, evidence, reason, members[0][2])


StandingOf = Callable[[Finding, Evidence], Standing]


@dataclass(slots=True)
class Weigher:
    """The same hearing for scan, why, dry run and deed, so that a preview cannot differ from what is done."""

    world: World
    thresholds: Thresholds
    standing_of: StandingOf
    now_ns: Callable[[], int]
    hurried_roots: frozenset[str] = frozenset()  # those under pressure

    def verdicts(self, finding: Finding, dir_fd: int, measure: Measure | None = None) -> Iterator[Verdict]:
        """What is decided about a unit or about the members of a swarm; nothing if it vanished or is no litter.

        `measure`: what another walker has just seen of it."""
        if finding.members:
            yield from split(finding, self.world, dir_fd, self.judge)
            return
        try:
            evidence = gather(finding, self.world, dir_fd, measure)
        except OSError:
            unread = NotMeasured("its contents could not be read")
            evidence = Evidence(self.world.owner_of(finding, None)[0], unread, None, None)
        if evidence is None or evidence.has_shape is False:
            return
        verdict = self.judge(finding, evidence)
        if isinstance(verdict, Remove) and evidence.measure and evidence.measure.git:
            verdict = self.judge(finding, inspect_git(finding, evidence, dir_fd, excuses=self.world.excuses))
        yield verdict

    def judge(self, finding: Finding, evidence: Evidence) -> Verdict:
        standing, now_ns = self.standing_of(finding, evidence), self.now_ns()
        verdict = judge(finding, evidence, thresholds=self.thresholds, now_ns=now_ns, standing=standing)
        if isinstance(verdict, Remove) or finding.root not in self.hurried_roots or finding.litter.id == scan.ID:
            return verdict
        if isinstance(evidence.users, NotMeasured):
            return verdict  # pressure destroys at once, and a doubt allows no more than quarantine
        under_pressure = replace(self.thresholds, hurried=True)
        sooner = judge(finding, evidence, thresholds=under_pressure, now_ns=now_ns, standing=standing)
        # what keeps it now is what keeps it in a hurry: "goes when it is 3d old" would be no promise here
        return replace(sooner, reason=Reason.PRESSURE) if isinstance(sooner, Remove) else sooner

    def again(self, finding: Finding, dir_fd: int, measure: Measure | None = None) -> Iterator[Verdict]:
        """The hearing before the deed: the entry must be the very one that was found.

        `measure`: of its first hearing, where it will be walked in quarantine before anything of it goes."""
        if not finding.members:
            try:
                status = os.lstat(finding.name, dir_fd=dir_fd)
            except OSError:
                return
            if (status.st_dev, status.st_ino) != (finding.device, finding.inode):
                finding, measure = replace(finding, device=status.st_dev, inode=status.st_ino), None
                if (finding.kind is Kind.DIR) != (status.st_mode & 0o170000 == 0o040000):
                    return
        yield from self.verdicts(finding, dir_fd, measure)

    def member_may_go(self, finding: Finding, name: str, status: os.stat_result) -> bool:
        """What is looked at again, through its pin, right before one member of a swarm is taken."""
        is_plain = status.st_mode & 0o171000 == 0o100000 and status.st_uid == self.world.uid
        needed_s = threshold_s(finding.litter, OwnerState.NONE, self.thresholds)
        age_ns = self.now_ns() - max(status.st_mtime_ns, status.st_ctime_ns)
        return is_plain and age_ns >= needed_s * 10**9 and not self.world.is_locked(status)
