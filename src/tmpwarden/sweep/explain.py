"""Why a path stays or goes: the hearing of its unit, told in full. Answers for any path, also one no row matches."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..errors import NotFound, TmpwardenError
from ..lazy_dataclass import replace
from ..model.answers import Nobody
from ..model.sweep import GitUnclear, Owner, Receipt, Verdict
from ..model.terms import OwnerState, Reason
from ..oskit.files import places
from ..oskit.proc.reach import as_named
from ..text import is_within, plural, quoted, shown
from ..text import size as size_text
from .find.named import Named
from .find.scan import kind_of
from .prepared import Explained, Prepared
from .store import labels
from .store.expiry import directories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def explain(path: str, prepared: Prepared) -> Explained:
    """`path` itself is not resolved (it may be a link); its parent is."""
    full = as_named(path)
    nobody = Explained(full, None, Owner(OwnerState.UNKNOWN), Nobody(), ())
    if stored := _stored(full, prepared):
        return replace(nobody, undo=str(stored["id"]), was=str(stored["path"]))
    try:
        owner = os.lstat(full).st_uid
    except OSError:
        raise NotFound(f"there is nothing at {shown(path)}") from None
    verdict = _verdict(full, prepared) if owner == places.uid() else None
    if verdict is not None:
        evidence = verdict.evidence
        explanation = Explained(full, verdict, evidence.owner, evidence.users, _would_lose(verdict))
        return replace(explanation, birth=prepared.finder.birth(full))
    inside = tuple(_inside(full, prepared)) if os.path.isdir(full) else ()
    unknown = replace(nobody, users=prepared.weigher.world.users_in(full), inside=inside)
    if owner != places.uid():
        return replace(unknown, belongs_to=places.user_name(owner))
    return replace(unknown, by_name=_by_name(full, prepared), birth=prepared.finder.birth(full))


def _stored(path: str, prepared: Prepared) -> dict[str, Any] | None:
    """The receipt of what lies in quarantine: asked for there, or by the name that it had."""
    restorable = labels.restorable(prepared.state)
    for directory, _ in directories(prepared):
        if path.startswith(f"{directory}/"):
            return restorable.get(path[len(directory) + 1 :].partition("/")[0])
    if os.path.lexists(path):
        return None
    return next((each for each in restorable.newest_first() if each["path"] == path), None)


def _inside(path: str, prepared: Prepared) -> Iterator[Verdict]:
    """Of the units below a directory that is none itself, a temp root for one."""
    for finding in prepared.finder.find():
        if is_within(finding.parent, path):
            yield from prepared.hear(finding)


def _by_name(path: str, prepared: Prepared) -> Verdict | None:
    """What naming it would replace is its age; the hearing is the same."""
    try:
        findings = Named(prepared.finder, prepared.roots).findings((path,))
    except TmpwardenError:
        return None
    limits = replace(prepared.weigher.thresholds, named=frozenset((path,)), named_reason=Reason.NAMED)
    prepared_by_name = replace(prepared, weigher=replace(prepared.weigher, thresholds=limits))
    return next(prepared_by_name.hear(findings[0]), None) if [each.path for each in findings] == [path] else None


def left_to_know(receipt: Receipt) -> Iterator[str]:
    """What a person should know of a unit that went: its entry in a repository of theirs, which a clean never changes,
    and what was saved of it."""
    for each in receipt.git_entries:
        yield f"a worktree of {shown(each)} was removed; `git -C {quoted(each)} worktree prune` removes its entry"
    if receipt.rescued:
        path = shown(receipt.finding.path)
        yield f"unique work in {path} was saved first: tmpwarden rescue show {receipt.rescued}"


def _verdict(path: str, prepared: Prepared) -> Verdict | None:
    unit = prepared.finder.unit_of(path)
    finding = prepared.finder.finding_at(*unit) if unit else None
    if unit is None:
        finding = prepared.finder.birth_at(path, kind_of(os.lstat(path).st_mode))
    return next(prepared.hear(finding), None) if finding else None


def _would_lose(verdict: Verdict) -> tuple[str, ...]:
    measure, losses = verdict.evidence.measure, verdict.evidence.git_losses
    contents = []
    if measure:
        at_least = "at least " if measure.at_least else ""
        contents.append(f"{at_least}{size_text(measure.bytes)} in {plural(measure.entries, 'entry', 'entries')}")
    if isinstance(losses, GitUnclear):
        return *contents, f"git work that could not be inspected: {losses.why}"
    return *contents, *losses
