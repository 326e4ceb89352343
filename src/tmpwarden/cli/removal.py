"""What people and programs are told of a clean: the list before it, and the truth after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ..errors import Interrupted, Partial, TimeLimit, TmpwardenError
from ..model.sweep import Keep, Receipt, Remove, Verdict
from ..model.terms import Worth
from ..sweep.prepared import CleanResult
from ..sweep.store.books import Saved
from ..text import duration, plural, shown, size
from . import documents, render
from .envelope import Spool
from .table import Row, draw
from .wording import sentence, with_detail

_GONE = (">SIZE", "KIND", "WHY")


def question(removals: Sequence[Verdict], *, quarantine: bool) -> str:
    """`Remove 38 items, 612.0 MB (12 cannot be undone)?`"""
    for_good = [each for each in removals if not (quarantine and each.finding.litter.worth is Worth.SOME)]
    lost = render.items(for_good)
    words = f" ({lost:,} cannot be undone)" if lost else ""
    return f"Remove {render.counted(removals)}{words}?"


def question_for_good(removals: Sequence[Verdict]) -> str:
    """Where quarantine would lie on the very disk that is full: `y` deletes, `q` moves to quarantine all the same."""
    return (
        "Quarantine is on the same full disk, so moving them there frees nothing (q does it anyway).\n"
        f"Delete {render.counted(removals)} permanently?"
    )


def document(result: CleanResult, *, dry_run: bool, quarantine: bool) -> documents.Document:
    planned = [_planned(each, quarantine) for each in result.planned] if dry_run else []
    return {
        "effect": "would_delete" if dry_run else "deleted",
        "removed": planned or Spool(documents.receipt(each) for each in result.removed),
        "kept": Spool(chain(map(_kept, result.kept), map(_kept_document, result.spared))),
        "failed": [{"path": each.finding.path, "error": each.detail} for each in result.failed]
        + [{"path": each.place, "error": each.trouble} for each in result.undeleted],
        "freed_bytes": result.freed_bytes,
        "freed_entries": result.freed_entries,
        "quarantined_bytes": result.quarantined_bytes,
        "held_open_bytes": result.held_open_bytes,
        "not_reached": [] if dry_run else [each.finding.path for each in result.planned],
    }


def _planned(verdict: Remove, quarantine: bool) -> documents.Document:
    measure = verdict.evidence.measure
    document = documents.identity(verdict.finding) | {
        "bytes": measure.bytes if measure else None,
        "entries": measure.entries if measure else None,
        "receipt": None,
        "undoable": quarantine and verdict.finding.litter.worth is Worth.SOME,
        "reason": verdict.reason.value,
    }
    return document | ({"at_least": True} if documents.is_at_least([verdict]) else {})


def _kept(verdict: Remove | Keep) -> documents.Document:
    return documents.identity(verdict.finding) | {"reason": verdict.reason.value}


def _kept_document(receipt: Receipt) -> documents.Document:
    return documents.identity(receipt.finding) | {"reason": receipt.reason.value, "detail": receipt.detail}


def problem(result: CleanResult, signal_number: int | None, time_limit_s: float | None) -> TmpwardenError | None:
    """What the exit status has to tell; stopping comes before a part that failed."""
    if result.stopped == "interrupted":
        return Interrupted(signal_number or 2)
    if result.stopped == "time-limit":
        return TimeLimit(duration(time_limit_s or 0))
    if result.refused:
        rest = f" (and {plural(len(result.refused) - 1, 'other path')})" if len(result.refused) > 1 else ""
        return Partial(f"{result.refused[0]}{rest}; the others were judged")
    if failed := _items(result.failed) + len(result.undeleted):
        return Partial(f"{plural(failed, 'item')} could not be removed")
    return None


def removal_lines(receipts: Sequence[Receipt], *, for_a_person: bool, most: int | None) -> Iterator[str]:
    groups: dict[object, list[Receipt]] = {}
    for each in receipts:
        finding = each.finding
        groups.setdefault((finding.parent, finding.litter.key) if finding.members else finding.path, []).append(each)
    ordered = sorted(groups.values(), key=lambda unit: (-_bytes(unit), unit[0].finding.path))
    rows = [
        Row(
            (size(_bytes(unit)), unit[0].finding.litter.key, sentence(unit[0].reason)),
            render.place(*(each.finding for each in unit)),
        )
        for unit in ordered[:most]
    ]
    if for_a_person:
        litters = [unit[0].finding.litter for unit in ordered]
        yield from render.listed(
            [
                render.Line((litter.agent, litter.id, row.cells[2]), row.cells[:1], row.path)
                for litter, row in zip(litters, rows, strict=False)
            ]
        )
    else:
        yield from draw(_GONE, rows, for_a_person=False)
    if rest := [each for unit in ordered[len(rows) :] for each in unit]:
        more = size(_bytes(rest))
        yield f"... and {plural(_items(rest), 'item')} more, {more}. To list all: tmpwarden log"


def outcome(result: CleanResult, *, quarantine_s: int, purge: str) -> Iterator[str]:
    """What was spared and why, what failed, and what really went."""
    if result.confirmed and (result.removed or not result.stopped):
        yield from render.kept(result.kept)
    for each in result.spared:
        words = with_detail(sentence(each.reason), each.reason, each.detail)
        yield f"Skipped {render.place(each.finding)}: {words}"
    for each in result.failed:
        yield f"Failed {render.place(each.finding)}: {shown(each.detail)}"
    for left in result.undeleted:
        yield f"Failed {shown(left.place)}: {shown(left.trouble)}; the next clean tries again"
    yield from _sums(result, quarantine_s, purge)


def _sums(result: CleanResult, quarantine_s: int, purge: str) -> Iterator[str]:
    removed, quarantined = result.removed, result.quarantined
    if not removed:
        was_wanted = result.failed or result.spared or result.planned or result.stopped
        did = "Nothing was removed." if was_wanted else "Nothing to remove."
        if expired := len(result.expired) - len(result.undeleted):
            did += f" {plural(expired, 'item')} expired in quarantine and was deleted."
    else:
        did = f"Removed {plural(_items(removed), 'item')}, {size(_bytes(removed))}."
    yield f"{did} {freed}" if (freed := _freed(result)) else did
    if quarantined:
        yield (
            f"{plural(_items(quarantined), 'item')}, {size(result.quarantined_bytes)}, can be brought back "
            f"within {duration(quarantine_s)}: tmpwarden undo"
        )
        yield f"Until then they still use disk space. {_sooner(result.doubt, purge)}"
    if result.stopped and result.planned:
        yield f"Not reached in time: {render.counted(result.planned)}."


def _sooner(doubt: str, purge: str) -> str:
    if doubt:
        return f"They cannot be deleted earlier: {shown(doubt)}."
    return f"To delete them now, permanently: {purge}"


def saved_so_far(result: CleanResult, saved: Saved) -> Iterator[str]:
    """Of all runs, once there was more than this one."""
    if result.freed_entries and saved.runs > 1:
        yield f"Freed so far: {size(saved.bytes)}, {plural(saved.entries, 'entry', 'entries')}."


def _freed(result: CleanResult) -> str:
    """Not bytes alone: a file system may have run out of inodes."""
    amount = f"{size(result.freed_bytes)}, " if result.freed_bytes else ""
    return f"Freed {amount}{plural(result.freed_entries, 'entry', 'entries')}." if result.freed_entries else ""


def _bytes(receipts: Iterable[Receipt]) -> int:
    return sum(each.bytes for each in receipts)


def _items(receipts: Iterable[Receipt]) -> int:
    return sum(render.items_in(each.finding) for each in receipts)
