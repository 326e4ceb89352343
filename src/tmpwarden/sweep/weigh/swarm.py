"""Swarms: single worthless files of one row in one directory, judged one by one and told together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from ...lazy_dataclass import replace
from ...model.answers import Held, Nobody, NotMeasured, Users
from ...model.sweep import Evidence, Finding, Keep, Measure, Owner, Remove, Verdict, Witness
from ...model.terms import OwnerState, Reason, WitnessKind
from .evidence import has_shape
from .world import World

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
