"""Why a path stays or goes: the hearing of its unit, told in full. Answers for any path, also one no row matches."""

from __future__ import annotations

import os

from ..errors import FrozenMount, NotFound
from ..model.sweep import Owner, OwnerState, Unclear, Verdict
from ..oskit.proc.reach import Reach
from ..text import plural, quoted, shown
from ..text import size as in_words
from .prepared import Explained, Prepared


def explain(path: str, prepared: Prepared) -> Explained:
    """`path` itself is not resolved (it may be a link); its parent is."""
    full = os.path.abspath(path)
    if point := Reach.now().frozen(full):
        raise FrozenMount(shown(path), shown(point))
    full = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
    if not os.path.lexists(full):
        raise NotFound(f"there is nothing called {shown(path)}")
    verdict = _verdict(full, prepared)
    if verdict is None:
        users = prepared.weigher.world.users_in(full)
        return Explained(full, None, Owner(OwnerState.UNKNOWN), users, ())
    evidence = verdict.evidence
    return Explained(full, verdict, evidence.owner, evidence.users, _would_lose(verdict))


def still_listed(repository: str) -> str:
    """What is left for the user to do: the repository is theirs, and nothing in it is changed by a clean."""
    return f"a worktree of {shown(repository)} went; `git -C {quoted(repository)} worktree prune` makes it forget"


def rescued_first(path: str, rescue: str) -> str:
    return f"what existed only in {shown(path)} was saved first: tmpwarden rescue show {rescue}"


def _verdict(path: str, prepared: Prepared) -> Verdict | None:
    found = prepared.finder.unit_of(path)
    finding = prepared.finder.finding_at(*found) if found else None
    return next(prepared.hear(finding), None) if finding else None


def _would_lose(verdict: Verdict) -> tuple[str, ...]:
    measure, losses = verdict.evidence.measure, verdict.evidence.git_losses
    contents = []
    if measure:
        at_least = "at least " if measure.at_least else ""
        contents.append(f"{at_least}{in_words(measure.bytes)} in {plural(measure.entries, 'entry', 'entries')}")
    if isinstance(losses, Unclear):
        return *contents, f"git work that could not be inspected: {losses.why}"
    return *contents, *losses
