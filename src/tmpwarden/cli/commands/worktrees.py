"""`tmpwarden worktrees`: worktrees and clones that agents made, each with a proof, and how to let them go."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

import click

from ...errors import BadArgument, NotProven, Partial, WouldAsk
from ...model.terms import Outcome
from ...repos.history import Merged
from ...repos.worktrees.compose import TreesWanted, proven, remove, survey
from ...repos.worktrees.proof import ITEMS, Holds, Tree
from ...repos.worktrees.removal import Gone
from ...text import duration, plural, shown, size
from .. import ask, documents, kinds
from ..call import Answer, Call
from ..group import pass_call
from ..progress import Progress
from ..table import Row, draw


@click.group(invoke_without_command=True)
@click.option("--min-age", type=kinds.age, metavar="D", help="Only those unchanged for this long (1h; elsewhere 72h).")
@pass_call
def command(call: Call, min_age: int | None) -> Answer:
    """List git worktrees and clones that agents made, and which can be removed without losing work.

    Looks in the places where agents put them, and in the worktree list of each repository found there or here.
    """
    trees = _looked_at(TreesWanted((), call.roots, call.config_file, min_age), call)
    return Answer({"worktrees": [document(tree) for tree in trees]}, lambda: table(trees, call))


@command.command("proof")
@click.argument("path", metavar="PATH")
@pass_call
def proof(call: Call, path: str) -> Answer:
    """Check whether PATH can be removed without losing work, point by point. Exit 0: yes; 2: not proven."""
    tree = proven(path, TreesWanted((), call.roots, call.config_file), now_ns=call.now_ns)
    error = None if tree.is_proven else NotProven(shown(tree.path), shown(tree.failing.detail if tree.failing else ""))
    return Answer(document(tree), lambda: proof_lines(tree), error=error)


@command.command("clean")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--merged", is_flag=True, help="Only those whose work is merged (also squashed or rebased).")
@click.option("--derived-only", is_flag=True, help="Remove only what npm, pnpm, Python or cargo can create again.")
@click.option("--also", multiple=True, metavar="NAME", help="With --derived-only: also directories called NAME.")
@click.option("--purge", is_flag=True, help="With --derived-only: delete at once. Cannot be undone.")
@click.option("--branches", is_flag=True, help="Also delete the branch if it is merged.")
@click.option(
    "--min-age", type=kinds.age, metavar="D", help="Only those unchanged for this long (1h; elsewhere 72h; named: 0)."
)
@click.option("-n", "--dry-run", is_flag=True, help="Show what would be removed, and change nothing.")
@click.option(
    "-y", "--yes", "-f", "--force", "yes", is_flag=True, help="Do not ask. Worktrees that may hold work are still kept."
)
@pass_call
def clean(
    call: Call,
    paths: tuple[str, ...],
    merged: bool,
    derived_only: bool,
    also: tuple[str, ...],
    purge: bool,
    branches: bool,
    min_age: int | None,
    dry_run: bool,
    yes: bool,
) -> Answer:
    """Remove worktrees that hold no work of their own, and their entries in the repository. Asks first.

    They go into quarantine, and `tmpwarden undo` brings them back. Without PATH: all that the list calls
    "nothing to lose": unused for 1h where agents put them, for 72h elsewhere.
    The branch is kept, and a detached HEAD gets a reference under refs/tmpwarden/.
    """
    if (purge or also) and not derived_only:
        word = "--purge" if purge else "--also"
        raise BadArgument(f"{word} needs --derived-only", hint="run that first, then remove the worktree")
    if wrong := [name for name in also if "/" in name or name in ("", ".", "..", ".git")]:
        raise BadArgument(f"{shown(wrong[0])} is not a directory name", hint="for example: --also build --also .next")
    wish = TreesWanted(paths, call.roots, call.config_file, min_age, also=also)
    trees = _looked_at(wish, call)
    chosen = [tree for tree in trees if _may_go(tree, derived_only=derived_only)]
    if derived_only and not paths:  # a person builds in worktrees of their own
        chosen = [tree for tree in chosen if tree.maker]
    if merged:
        chosen = [tree for tree in chosen if tree.merged in (Merged.REACHABLE, Merged.SAME_PATCH)]
    kept = [tree for tree in trees if tree not in chosen]
    if dry_run or not chosen:
        return Answer(summary([], kept, chosen), lambda: plan(chosen, kept, derived_only, call))
    if not yes and not _agreed(chosen, kept, derived_only, call):
        return Answer(summary([], kept, []), lambda: ["Nothing was removed."])
    removals = remove(chosen, wish, only_derived=derived_only, branches=branches, purge=purge, now_ns=call.now_ns)
    return outcome(call, removals, kept, kept_was_shown=not yes)


def _looked_at(wish: TreesWanted, call: Call) -> list[Tree]:
    with Progress(wanted=not call.json) as progress:
        trees, warnings = survey(
            wish,
            on_tree=lambda number, all_: progress.tell(f"Checking: {number} of {all_} ..."),
            on_search=lambda searched, count: progress.tell(
                f"Searching: {searched} directories, {plural(count, 'repository', 'repositories')} ..."
            ),
            now_ns=call.now_ns,
        )
    call.warn(*warnings)
    return trees


def outcome(call: Call, removals: list[Gone], kept: list[Tree], *, kept_was_shown: bool = False) -> Answer:
    """`kept_was_shown`: the question has already listed what is kept."""
    call.warn(*(each.warning for each in removals if each.warning))
    failed = [each for each in removals if each.receipt.outcome is Outcome.FAILED]
    error = Partial(f"{plural(len(failed), 'item')} could not be removed") if failed else None
    return Answer(
        summary(removals, kept, []), lambda: removal_lines(removals, () if kept_was_shown else kept), error=error
    )


def _may_go(tree: Tree, *, derived_only: bool) -> bool:
    return tree.may_lose_derived if derived_only else tree.is_proven or tree.lacks_only_a_name


def _agreed(chosen: list[Tree], kept: list[Tree], derived_only: bool, call: Call) -> bool:
    if not call.can_ask:
        raise WouldAsk()
    ask.say(plan(chosen, kept, derived_only, call))
    what = "build products and packages in " if derived_only else ""
    return ask.yes(f"Remove {what}{plural(len(chosen), 'worktree')}, {size(amount(chosen, derived_only))}?")


_COLUMNS = (
    ">SIZE", ">DERIVED", "REPOSITORY", "BRANCH", ">COMMIT", ">UNPUSHED", "MERGED", "DIRTY", "HELD BY", "VERDICT",
)  # fmt: skip
_HOLDS = {Holds.YES: True, Holds.NO: False, Holds.NOT_MEASURED: None}


def document(tree: Tree) -> documents.Document:
    merged = tree.merged
    return {
        "path": tree.path,
        "made_by": tree.maker,
        "repository": tree.repository,
        "linked": tree.is_linked,
        "branch": tree.branch or None,
        "head": tree.head or None,
        "committed": _moment(tree.committed_s),
        "dirty": tree.is_dirty,
        "unpushed": tree.unpushed,
        "merged": None if merged is None else merged is not Merged.NO,
        "merged_how": merged.value if merged in (Merged.REACHABLE, Merged.SAME_PATCH) else None,
        "held_by": [documents.witness(each) for each in tree.held_by],
        "bytes": tree.measure.bytes if tree.measure else None,
        "derived_bytes": tree.derived_bytes,
        "verdict": "remove" if tree.is_proven else "keep",
        "reason": tree.reason,
        "detail": tree.failing.detail if tree.failing else "",
        "items": [{"item": each.name, "holds": _HOLDS[each.holds], "detail": each.detail} for each in tree.items],
    }


def summary(removals: list[Gone], kept: list[Tree], planned: list[Tree]) -> documents.Document:
    removed = [each for each in removals if each.is_gone]
    return {
        "effect": "would_delete" if planned else "deleted",
        "removed": [documents.receipt(each.receipt) | _followers(each) for each in removed]
        or [document(tree) for tree in planned],
        "kept": [{"path": tree.path, "reason": tree.reason} for tree in kept]
        + [_kept_document(each) for each in removals if each.receipt.outcome is Outcome.KEPT],
        "failed": [_kept_document(each) for each in removals if each.receipt.outcome is Outcome.FAILED],
        "freed_bytes": sum(each.receipt.freed_bytes for each in removed),
        "quarantined_bytes": sum(e.receipt.bytes for e in removed if e.receipt.outcome is Outcome.QUARANTINED),
    }


def _followers(removal: Gone) -> documents.Document:
    return {"reference": removal.reference or None, "branch_deleted": removal.branch or None}


def _kept_document(removal: Gone) -> documents.Document:
    return {
        "path": removal.receipt.finding.path,
        "reason": removal.receipt.reason.value,
        "detail": removal.receipt.detail,
    }


def table(trees: list[Tree], call: Call) -> Iterator[str]:
    if not trees:
        yield "No worktree of an agent was found. To check any other one: tmpwarden worktrees proof PATH"
        return
    yield from draw(_COLUMNS, [_row(tree, call) for tree in trees], for_a_person=call.for_a_person)
    removable = [tree for tree in trees if tree.is_proven]
    derived = sum(tree.derived_bytes for tree in trees)
    yield f"{plural(len(trees), 'worktree')}, {size(amount(trees, False))}, {size(derived)} of it can be created again."
    if removable:
        yield f"With {len(removable)} of them no work would be lost: tmpwarden worktrees clean"


def _row(tree: Tree, call: Call) -> Row:
    age = "" if tree.committed_s is None else _age(call.now_ns() // 10**9 - tree.committed_s)
    words = "nothing to lose" if tree.is_proven else f"kept: {_why(tree)}"
    if tree.lacks_only_a_name:  # `clean` takes it, so the list does not call it kept
        words = f"removable once clean has given a ref to: {_why(tree)}"
    cells = (
        size(tree.measure.bytes) if tree.measure else "?",
        size(tree.derived_bytes),
        shown(os.path.basename(tree.repository)) if tree.repository else "?",
        shown(tree.branch) if tree.branch else "(detached)" if tree.head else "?",
        age,
        "?" if tree.unpushed is None else str(tree.unpushed),
        tree.merged.value if tree.merged else "?",
        "?" if tree.is_dirty is None else "yes" if tree.is_dirty else "no",
        _holder(tree),
        words,
    )
    return Row(cells, shown(tree.path), style="" if not tree.is_proven else "green")


def _holder(tree: Tree) -> str:
    if not tree.held_by:
        return "-"
    first = tree.held_by[0]
    return shown(first.command or first.kind.value) + (f" ({first.pid})" if first.pid else "")


def _why(tree: Tree) -> str:
    failing = tree.failing
    return "" if failing is None else shown(failing.detail or tree.reason)


def proof_lines(tree: Tree) -> Iterator[str]:
    yield shown(tree.path)
    if tree.repository:
        yield f"  {'of':<12}  {shown(tree.repository)}, {shown(tree.branch) or 'detached HEAD'}"
    for item in tree.items:
        word = {Holds.YES: "yes", Holds.NO: "no", Holds.NOT_MEASURED: "not measured"}[item.holds]
        yield f"  {word:<12}  {ITEMS[item.name][0]}" + (f": {shown(item.detail)}" if item.detail else "")
    yield "Nothing would be lost." if tree.is_proven else "Not proven."


def plan(chosen: list[Tree], kept: list[Tree], derived_only: bool, call: Call) -> Iterator[str]:
    if chosen:
        yield from draw(_COLUMNS, [_row(tree, call) for tree in chosen], for_a_person=call.for_a_person)
    yield from _stays(kept)
    if not chosen:
        yield "Nothing to remove."
    elif derived_only:
        yield f"{size(amount(chosen, True))} in them can be created again."


_MOST_KEPT = 20


def _stays(kept: Sequence[Tree]) -> Iterator[str]:
    for tree in kept[:_MOST_KEPT]:
        yield f"Kept {shown(tree.path)}: {_why(tree) or 'not asked for'}"
    if len(kept) > _MOST_KEPT:
        yield f"Kept {plural(len(kept) - _MOST_KEPT, 'more worktree')}: tmpwarden worktrees"


def removal_lines(removals: list[Gone], kept: Sequence[Tree] = ()) -> Iterator[str]:
    yield from _stays(kept)
    removed = [each for each in removals if each.is_gone]
    for each in removals:
        if not each.is_gone:
            yield f"Kept {shown(each.receipt.finding.path)}: {shown(each.receipt.detail or each.receipt.reason.value)}"
        elif each.reference:
            yield f"Its commits are kept as {each.reference} in {shown(each.tree.repository or '')}"
        elif each.branch:
            yield f"Branch {shown(each.branch)} was deleted with {shown(each.receipt.finding.path)}"
    if not removed:
        yield "Nothing was removed."
        return
    quarantined = [each for each in removed if each.receipt.outcome is Outcome.QUARANTINED]
    yield f"Removed {plural(len(removed), 'item')}, {size(sum(each.receipt.bytes for each in removed))}."
    if freed := sum(each.receipt.freed_bytes for each in removed):
        yield f"Freed {size(freed)}."
    if quarantined:
        yield "They use disk space in quarantine until they expire. To bring them back: tmpwarden undo"


def amount(trees: Sequence[Tree], derived_only: bool) -> int:
    return sum(tree.derived_bytes if derived_only else tree.measure.bytes if tree.measure else 0 for tree in trees)


def _age(seconds: int) -> str:
    """In one unit: days are enough to tell an old branch from a young one."""
    return f"{seconds // 86400}d" if seconds >= 86400 else duration(max(0, seconds) // 60 * 60 or 1)


def _moment(seconds: int | None) -> str | None:
    return None if seconds is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
