"""Let worktrees go: proven once more, taken into quarantine with their entries, written down for undo."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ...lazy_dataclass import dataclass, field, replace
from ...model.answers import Nobody
from ...model.sweep import Evidence, Finding, Litter, Owner, Receipt, Remove
from ...model.terms import Outcome, OwnerState, Reason
from ...oskit.files import same_mount
from ...sweep.find import known_roots
from ...sweep.find.scan import kind_of
from ...sweep.prepared import Prepared
from ...sweep.store import books, settle
from ...sweep.store.journal import Journal
from ...sweep.store.quarantine import Quarantines
from ...sweep.take.act import Actor
from ...sweep.take.purger import Purger
from .. import gitdir
from ..gitdir import Unclear
from ..history import Merged
from . import changes
from .proof import Tree
from .survey import LITTER, Candidate, Surveyor

# The repositories of submodules in an entry were looked at with the worktree, whose proof came a moment before.
ENTRY = replace(LITTER, id="worktree-entry", git_disposable=True, why="what a repository keeps about a worktree")
DERIVED = replace(LITTER, id="derived", why="what a build or an install makes again")

_UNASKED = Evidence(Owner(OwnerState.NONE), Nobody(), None)  # every take of ours hears the unit again
_BATCH = 64


@dataclass(slots=True)
class Gone:
    """What happened to one worktree, or to one derived directory of it."""

    tree: Tree
    receipt: Receipt
    reference: str = ""  # refs of ours that keep its commits
    branch: str = ""  # the branch that was deleted with it
    warning: str = ""

    @property
    def is_gone(self) -> bool:
        return self.receipt.outcome in (Outcome.REMOVED, Outcome.QUARANTINED)


@dataclass(slots=True)
class _Plan:
    """One worktree on its way: the directory that goes, and what is to follow it."""

    tree: Tree
    finding: Finding
    entry: Finding | None = None
    references: dict[str, str] = field(default_factory=dict)  # refs of ours that keep its commits, and these


@dataclass(slots=True)
class Removal:
    """One run, inside the clean lock."""

    prepared: Prepared
    surveyor: Surveyor
    with_branches: bool = False
    keep_for_undo: bool = True
    removed: list[Gone] = field(default_factory=list)

    def take(self, trees: Iterable[Tree]) -> list[Gone]:
        """Whole worktrees with their entries. Whatever happens to one, the others are tried."""
        plans = [_Plan(tree, tree.finding, _entry(tree)) for tree in trees if tree.finding]
        findings = [finding for plan in plans for finding in (plan.finding, plan.entry) if finding]
        with self._acting(findings) as (actor, journal, placed):
            for batch in (plans[at : at + _BATCH] for at in range(0, len(plans), _BATCH)):
                self._take_batch([_placed(plan, placed) for plan in batch], actor, journal)
        return self.removed

    def take_derived(self, trees: Iterable[Tree]) -> list[Gone]:
        """What can be made again, of each; the rest of it stays."""
        pairs = [(tree, finding) for tree in trees for finding in _derived(tree)]
        with self._acting([finding for _, finding in pairs]) as (actor, _, placed):
            for batch in (pairs[at : at + _BATCH] for at in range(0, len(pairs), _BATCH)):
                of = {finding.path: tree for tree, finding in batch}
                wanted = [placed[finding.path] for tree, finding in batch if self._is_still_derived(tree, finding)]
                receipts = [r for finding in wanted for r in actor.take(Remove(finding, _UNASKED, Reason.TORN_DOWN))]
                receipts += actor.finish()
                self.removed += [Gone(of[receipt.finding.path], receipt) for receipt in receipts]
        return self.removed

    def _is_still_derived(self, tree: Tree, finding: Finding) -> bool:
        """Somebody may have put a file into it, or gone to work, while the question was on the screen."""
        now = self.surveyor.examine(Candidate(tree.path, tree.maker))
        is_derived = finding.path in (path for path, _ in now.derived)
        if is_derived and now.may_lose_derived:
            return True
        in_use = now.failing.detail if now.failing else "its worktree is in use"
        detail = in_use if is_derived else "it now contains files that cannot be created again"
        self.removed.append(Gone(tree, Receipt(finding, Outcome.KEPT, Reason.CHANGED, detail=detail)))
        return False

    @contextmanager
    def _acting(self, findings: list[Finding]) -> Iterator[_Acting]:
        self.prepared.weigher.world.excuses = self.surveyor.excuse
        journal, seen = Journal(self.prepared.state), len(self.removed)
        journal.open()
        roots = {finding.path: _root(finding, self.prepared) for finding in findings}
        at_home = frozenset(root for root, is_home in roots.values() if is_home)
        quarantines = Quarantines(self.prepared.state, at_home)
        actor = Actor(
            self.prepared.weigher, journal, quarantines, Purger(), self.keep_for_undo, only_into_quarantine=True
        )
        try:
            list(settle.settle(journal, self.prepared))
            yield actor, journal, {each.path: replace(each, root=roots[each.path][0]) for each in findings}
        finally:
            list(actor.finish())
            quarantines.close()
            journal.note("end")
            books.close_by_receipts(self.prepared, "clean", (each.receipt for each in self.removed[seen:]))

    def _take_batch(self, plans: list[_Plan], actor: Actor, journal: Journal) -> None:
        """First all directories and one look for their users; then the entries of those that went."""
        taken: dict[str, _Plan] = {}
        for plan in plans:
            if (why_not := self._still_proven(plan)) is not None:
                self.removed.append(why_not)
                continue
            taken[plan.finding.path] = plan
            refused = list(actor.take(Remove(plan.finding, _UNASKED, Reason.TORN_DOWN)))
            self.removed += [Gone(plan.tree, receipt) for receipt in refused]
        directories = [(taken[receipt.finding.path], receipt) for receipt in actor.last_look()]
        for plan, receipt in directories:
            if receipt.outcome is Outcome.QUARANTINED and plan.entry:
                list(actor.take(Remove(plan.entry, _UNASKED, Reason.TORN_DOWN)))
        entries = {receipt.finding.path: receipt for receipt in actor.last_look()}
        for plan, receipt in directories:
            self.removed.append(self._follow_up(plan, receipt, entries, journal))

    def _still_proven(self, plan: _Plan) -> Gone | None:
        """None if it may be taken; a detached HEAD has its reference by then."""
        tree = self.surveyor.examine(Candidate(plan.tree.path, plan.tree.maker))
        if not tree.is_proven and not tree.lacks_only_a_name:
            detail = tree.failing.detail if tree.failing else ""
            return Gone(tree, Receipt(plan.finding, Outcome.KEPT, Reason.CHANGED, detail=detail))
        if tree.is_linked and tree.head and not tree.branch:
            tips = [tree.head, *(oid for oid in tree.forgotten if oid != tree.head)]
        else:
            tips = list(tree.forgotten)
        common = gitdir.common_directory(tree.path) or "" if tips else ""
        try:
            plan.references = {changes.give_reference(common, plan.finding.name, oid): oid for oid in tips}
        except (Unclear, OSError) as error:
            return Gone(tree, Receipt(plan.finding, Outcome.FAILED, Reason.GIT_UNCLEAR, detail=str(error)))
        plan.tree = tree
        return None

    def _follow_up(self, plan: _Plan, receipt: Receipt, entries: dict[str, Receipt], journal: Journal) -> Gone:
        """Write down what belongs together, and see to the branch."""
        tree, removal = plan.tree, Gone(plan.tree, receipt, ", ".join(plan.references))
        if receipt.outcome is not Outcome.QUARANTINED or plan.entry is None:
            return removal
        entry = entries.get(plan.entry.path)
        common = os.path.dirname(os.path.dirname(plan.entry.path))
        if entry is None or entry.outcome is not Outcome.QUARANTINED:
            removal.warning = f"{tree.repository} still lists it: {entry.detail if entry else 'its entry changed'}"
        if self.with_branches and tree.branch and tree.merged in (Merged.REACHABLE, Merged.SAME_PATCH):
            removal.branch = tree.branch if changes.delete_branch(common, tree.branch, tree.head) else ""
        journal.note(
            changes.NOTE,
            id=receipt.id,
            entry=entry.id if entry else "",
            common=common,
            head=tree.head,
            references=plan.references,
            branch=removal.branch,
        )
        return removal


_Acting = tuple[Actor, Journal, dict[str, Finding]]


def _placed(plan: _Plan, placed: dict[str, Finding]) -> _Plan:
    return replace(plan, finding=placed[plan.finding.path], entry=placed[plan.entry.path] if plan.entry else None)


def _entry(tree: Tree) -> Finding | None:
    """The administrative entry of a linked worktree in its repository."""
    if not tree.is_linked or (path := gitdir.own_directory(tree.path)) is None:
        return None
    return _finding(ENTRY, path)


def _derived(tree: Tree) -> Iterator[Finding]:
    for path, _ in tree.derived:
        if finding := _finding(DERIVED, path):
            yield finding


def _finding(litter: Litter, path: str) -> Finding | None:
    parent, name = os.path.split(path)
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return Finding(
        litter=litter,
        root=parent,
        parent=parent,
        name=name,
        kind=kind_of(status.st_mode),
        device=status.st_dev,
        inode=status.st_ino,
    )


def _root(finding: Finding, prepared: Prepared) -> tuple[str, bool]:
    """Below which directory its quarantine lies, and whether that is the one in the state directory. Always on the
    mount of the unit itself: what cannot be renamed cannot be undone."""
    parent, mount = finding.parent, same_mount.mount_id(finding.parent)
    for root in prepared.roots:
        if f"{parent}/".startswith(f"{root}/") and same_mount.mount_id(root) == mount:
            return root, False
    if same_mount.mount_id(prepared.state) == mount:
        return (os.path.dirname(parent) if finding.litter is ENTRY else parent), True
    highest = same_mount.highest_own_directory(parent)
    if highest is not None:
        known_roots.note_quarantine(highest)
    return highest or parent, False
