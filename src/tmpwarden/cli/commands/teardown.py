"""`tmpwarden teardown`: what an orchestrator calls when an agent ends."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import click

from ...errors import BadArgument, NotProven, Partial, TeardownFailed, TmpwardenError
from ...lazy_dataclass import replace
from ...lifecycle.teardown import TeardownResult, TeardownWish, torn_down
from ...model.sweep import Finding, Receipt
from ...model.terms import Kind, Worth
from ...text import plural, shown
from .. import documents
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import AnsweringPath, agent_ids
from ..kinds import pid as pid_number


@click.command()
@click.option("--session", metavar="ID", help="The ID of the session that ended.")
@click.option("--pid", type=pid_number, help="The PID of the agent that ended.")
@click.option(
    "--agent", metavar="A", shell_complete=agent_ids, help="The agent. Without a session: all of its ended sessions."
)
@click.option(
    "--worktree",
    metavar="PATH",
    type=AnsweringPath(),
    help="Also its git worktree, if no work would be lost; otherwise says which.",
)
@click.option("--wait", is_flag=True, help="Return only when everything is deleted, not just moved away.")
@pass_call
def command(
    call: Call, session: str | None, pid: int | None, agent: str | None, worktree: str | None, wait: bool
) -> Answer:
    """Remove what an ended session left behind, at once and at any age.

    Removes the session's temp directory and the agent's temp files that name the session or its process. Items in use
    and everything of other sessions are kept. --agent alone removes what belongs to sessions of that agent whose
    process has ended, and then the rest as the timer would. Safe to call twice.
    """
    if session is not None and not session.strip():
        raise BadArgument("--session is empty", hint="is its variable set? `tmpwarden status` lists sessions")
    names_nobody = session is None and pid is None and agent is None
    if names_nobody and worktree is None:
        raise BadArgument(
            "name the session, process or agent that ended",
            hint="--session ID, --pid PID, --agent NAME or --worktree PATH",
        )
    wanted, result = TeardownWish(session, pid, agent), TeardownResult(None)
    if not names_nobody:
        result = torn_down(wanted, roots=call.roots, config_file=call.config_file, wait=wait)
    call.warn(*result.warnings)
    if worktree is not None and os.path.lexists(worktree):
        return _with_worktree(call, worktree, result)
    if worktree is not None:
        call.warn(f"nothing is at {shown(worktree)}: it was removed already, or the path is wrong.")
    return answer(call, result)


def answer(call: Call, result: TeardownResult, **more: object) -> Answer:
    """What became of a session's things; `lease close` says it in the same words."""
    return Answer(_data(result) | more, lambda: _lines(result), error=_error(result))


def _with_worktree(call: Call, path: str, result: TeardownResult) -> Answer:
    """The proof, and the deed if it holds."""
    from ...repos.worktrees.compose import TreesWanted, proven, remove
    from .worktrees import document as tree_document  # only here: an orchestrator's usual teardown is to be over soon

    wish = TreesWanted((path,), call.roots, call.config_file, 0)
    tree = proven(path, wish, now_ns=call.now_ns)
    may_go = tree.is_proven or tree.lacks_only_a_name
    removals = remove([tree], wish, now_ns=call.now_ns) if may_go else []
    result.receipts += [each.receipt for each in removals]
    detail = next((each.receipt.detail for each in removals), tree.failing.detail if tree.failing else "")
    error = None if any(each.is_gone for each in removals) else NotProven(shown(tree.path), shown(detail))
    data = _data(result) | {"worktree": tree_document(tree)}
    return Answer(data, lambda: _lines(result), error=_error(result) or error)


def _error(result: TeardownResult) -> TmpwardenError | None:
    if result.error:
        return TeardownFailed(result.error)
    return Partial(f"{plural(len(result.failed), 'item')} could not be removed") if result.failed else None


def _data(result: TeardownResult) -> dict[str, object]:
    return {
        "session": result.session,
        "released": result.released,
        "removed": [
            documents.identity(each.finding) | {"receipt": each.id, "undoable": each.undoable}
            for each in result.removed
        ],
        "pending": [{"path": r.finding.path, "receipt": r.id} for r in result.pending],
        "kept": [_kept(receipt) for receipt in result.kept],
        "failed": [{"path": r.finding.path, "error": r.detail} for r in result.failed],
        "freed_bytes": result.freed_bytes,
    }


def _kept(receipt: Receipt) -> dict[str, object]:
    document: dict[str, object] = {
        "path": receipt.finding.path,
        "reason": receipt.reason.value,
        "detail": receipt.detail,
    }
    return document | ({"count": len(receipt.finding.members)} if receipt.finding.members else {})


def _reason(receipt: Receipt) -> str:
    from ..wording import SENTENCES

    return SENTENCES[receipt.reason].format(who="a process")


def _alike(receipts: Iterable[Receipt]) -> Iterator[list[Finding]]:
    """Worthless files of one row in one directory are one line."""
    groups: dict[object, list[Finding]] = {}
    for receipt in receipts:
        finding = receipt.finding
        is_one_of_many = finding.kind is Kind.FILE and finding.litter.worth is Worth.NONE
        groups.setdefault((finding.parent, finding.litter.key) if is_one_of_many else finding.path, []).append(finding)
    for alike in groups.values():
        names = tuple(finding.name for finding in alike)
        yield alike if len(alike) == 1 else [replace(alike[0], members=names)]


def _lines(result: TeardownResult) -> Iterator[str]:
    from .. import render  # for people; an orchestrator asks for JSON, and its agent's name is to be gone soon

    for alike in _alike(result.removed):
        yield f"removed  {render.place(*alike)}"
    for receipt in result.kept:
        yield f"kept     {render.place(receipt.finding)}: {_reason(receipt)}"
    for receipt in result.failed:
        yield f"failed   {shown(receipt.finding.path)}: {receipt.detail}"
    kept = sum(len(receipt.finding.members) or 1 for receipt in result.kept)
    yield f"Removed {plural(len(result.removed), 'item')}, kept {plural(kept, 'item')}."
