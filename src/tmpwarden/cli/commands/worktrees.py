"""`tmpwarden worktrees`: worktrees and clones that agents made, each with a proof, and how to let them go."""

from __future__ import annotations

import click

from ...errors import BadArgument, NotProven, Partial, WouldAsk
from ...model.terms import Outcome
from ...repos.history import Merged
from ...repos.worktrees.compose import TreesWanted, proven, remove, survey
from ...repos.worktrees.proof import Holds, Tree
from ...repos.worktrees.removal import Gone
from ...text import plural, shown, size
from .. import ask, kinds
from .. import worktrees_told as told
from ..call import Answer, Call
from ..group import pass_call
from ..progress import Progress


@click.group(invoke_without_command=True)
@click.option("--min-age", type=kinds.age, metavar="D", help="How long nothing may have changed (1h).")
@pass_call
def command(call: Call, min_age: int | None) -> Answer:
    """Worktrees and clones that agents made, and which of them could go without losing anything.

    Found in the places that the catalogue knows, and in the list of worktrees of every repository met there or here.
    """
    trees = _looked_at(TreesWanted((), call.roots, call.config_file, min_age), call)
    return Answer({"worktrees": [told.document(tree) for tree in trees]}, lambda: told.table(trees, call))


@command.command("proof")
@click.argument("path", metavar="PATH")
@pass_call
def proof(call: Call, path: str) -> Answer:
    """Every item of the proof that nothing would be lost with PATH. Exit 0: provably nothing; 2: not proven."""
    tree = proven(path, TreesWanted((), call.roots, call.config_file), now_ns=call.now_ns)
    error = None if tree.is_proven else NotProven(shown(tree.path), shown(tree.failing.detail if tree.failing else ""))
    return Answer(told.document(tree), lambda: told.proof(tree), error=error)


@command.command("clean")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--merged", is_flag=True, help="Only those whose work has been merged (also squashed or rebased).")
@click.option("--derived-only", is_flag=True, help="Only what npm, pnpm, python or cargo makes again; the rest stays.")
@click.option("--also", multiple=True, metavar="NAME", help="With --derived-only: NAME can be made again, too.")
@click.option("--purge", is_flag=True, help="With --derived-only: free the space now; nothing can be undone.")
@click.option("--branches", is_flag=True, help="Delete the branch too, where it is merged.")
@click.option("--min-age", type=kinds.age, metavar="D", help="How long nothing may have changed (1h; named: 0).")
@click.option("-n", "--dry-run", is_flag=True, help="Show what would go, touch nothing.")
@click.option("-y", "--yes", "-f", "--force", "yes", is_flag=True, help="Do not ask. What is not proven still stays.")
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
    """Let worktrees go with which nothing would be lost, and their entries in the repository. Asks first.

    They wait in quarantine, and `tmpwarden undo` brings them back whole. Without PATH: those that agents made.
    The branch stays, and a detached HEAD is given a reference under refs/tmpwarden/.
    """
    if (purge or also) and not derived_only:
        word = "--purge" if purge else "--also"
        raise BadArgument(f"{word} goes with --derived-only", hint="take that out first, then the worktree")
    if wrong := [name for name in also if "/" in name or name in ("", ".", "..", ".git")]:
        raise BadArgument(f"{shown(wrong[0])} is no name of a directory", hint="for example: --also build --also .next")
    wish = TreesWanted(paths, call.roots, call.config_file, min_age, also=also)
    trees = _looked_at(wish, call)
    chosen = [tree for tree in trees if _may_go(tree, derived_only=derived_only) and (paths or tree.maker)]
    if merged:
        chosen = [tree for tree in chosen if tree.merged in (Merged.REACHABLE, Merged.SAME_PATCH)]
    kept = [tree for tree in trees if tree not in chosen]
    if dry_run or not chosen:
        return Answer(told.summary([], kept, chosen), lambda: told.plan(chosen, kept, derived_only, call))
    if not yes and not _agreed(chosen, kept, derived_only, call):
        return Answer(told.summary([], kept, []), lambda: ["Nothing was removed."])
    gone = remove(chosen, wish, only_derived=derived_only, branches=branches, purge=purge, now_ns=call.now_ns)
    return outcome(call, gone, kept)


def _looked_at(wish: TreesWanted, call: Call) -> list[Tree]:
    with Progress(wanted=not call.json) as progress:
        trees, warnings = survey(
            wish, on_tree=lambda done, all_: progress.tell(f"Looking: {done} of {all_} ..."), now_ns=call.now_ns
        )
    call.warn(*warnings)
    return trees


def outcome(call: Call, gone: list[Gone], kept: list[Tree]) -> Answer:
    call.warn(*(each.warning for each in gone if each.warning))
    failed = [each for each in gone if each.receipt.outcome is Outcome.FAILED]
    error = Partial(f"{plural(len(failed), 'item')} could not be removed") if failed else None
    return Answer(told.summary(gone, kept, []), lambda: told.done(gone), error=error)


def _may_go(tree: Tree, *, derived_only: bool) -> bool:
    if not derived_only:
        return tree.is_proven or tree.lacks_only_a_name
    in_the_way = {"unused", "idle", "inspectable"}
    return bool(tree.derived) and not any(i.holds is not Holds.YES and i.name in in_the_way for i in tree.items)


def _agreed(chosen: list[Tree], kept: list[Tree], derived_only: bool, call: Call) -> bool:
    if not call.can_ask:
        raise WouldAsk()
    ask.say(told.plan(chosen, kept, derived_only, call))
    what = "what can be made again in " if derived_only else ""
    return ask.yes(f"Remove {what}{plural(len(chosen), 'worktree')}, {size(told.amount(chosen, derived_only))}?")
