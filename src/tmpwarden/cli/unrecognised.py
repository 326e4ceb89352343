"""The last question of `clean`: whether the biggest groups that are not recognised, and long unused, should go too."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from functools import partial

from ..catalogue.settings import load_settings
from ..lazy_dataclass import dataclass, replace
from ..model.request import Request, Thresholds
from ..model.sweep import Remove, Unmatched
from ..sweep.compose import cleaned
from ..sweep.prepared import CleanResult
from ..text import duration, plural, shown, size
from . import ask, render
from .call import Call

_MOST = 3  # groups that one question is about
_LOOKED_AT = 12  # the biggest; of these some may be in use
_LEAST_BYTES, _LEAST_ITEMS = 1 << 20, 20  # less is not worth a question


@dataclass(frozen=True, slots=True)
class Offer:
    """A group of names that tmpwarden does not recognise, and what of it may be removed."""

    group: Unmatched
    removals: tuple[Remove, ...]

    @property
    def bytes(self) -> int:
        return sum(each.evidence.measure.bytes for each in self.removals if each.evidence.measure)

    def sentence(self, now_ns: int) -> str:
        newest_ns = max(each.evidence.measure.newest_ns for each in self.removals if each.evidence.measure)
        unused = duration(max(0, (now_ns - newest_ns) // 10**9))
        return (
            f"{shown(self.group.glob)}: {plural(len(self.removals), 'item')}, {size(self.bytes)}, unused for {unused}"
        )


def ask_about(call: Call, request: Request, unmatched: Sequence[Unmatched]) -> CleanResult | None:
    """What came of it; None if there was nothing to ask, or the answer was no. They are judged as if the user had named
    them, except that they have to be as old as what has no known owner."""
    offers = _offers(call, request, unmatched)
    if not offers:
        return None
    removals, now_ns = [each for offer in offers for each in offer.removals], call.now_ns()
    ask.say(["", "Not recognised:", *(f"  {offer.sentence(now_ns)}" for offer in offers)])
    listed = partial(render.removable_lines, removals, now_ns=now_ns, for_a_person=True)
    if not ask.yes_or_list(f"Remove {'these' if len(offers) > 1 or len(removals) > 1 else 'it'} too?", listed):
        return None
    these = _of_words(call, request, tuple(each.finding.path for each in removals))
    return cleaned(these, now_ns=call.now_ns)


def _offers(call: Call, request: Request, unmatched: Sequence[Unmatched]) -> list[Offer]:
    groups = [each for each in unmatched if _is_worth_asking(each)][:_LOOKED_AT]
    if not groups:
        return []
    planned = cleaned(_of_words(call, request, tuple(each.glob for each in groups)), dry_run=True, now_ns=call.now_ns)
    offers = [Offer(group, tuple(_of(group, planned.planned))) for group in groups]
    worth = (each for each in offers if each.bytes >= _LEAST_BYTES or len(each.removals) >= _LEAST_ITEMS)
    return sorted(worth, key=lambda each: -each.bytes)[:_MOST]


def _is_worth_asking(group: Unmatched) -> bool:
    is_big = group.at_least or group.bytes >= _LEAST_BYTES or group.count >= _LEAST_ITEMS
    return is_big and group.shape != "*" and not group.shape.startswith(".")


def _of(group: Unmatched, planned: Sequence[Remove]) -> Iterator[Remove]:
    depth = group.glob.count("/")
    for each in planned:
        path = each.finding.path
        if path.count("/") == depth and fnmatch.fnmatchcase(path, group.glob):
            yield each


def _of_words(call: Call, request: Request, words: tuple[str, ...]) -> Request:
    limits = request.thresholds
    oldest_s = limits.max_age_s if limits.max_age_s is not None else load_settings(call.config_file).periodic_max_age_s
    least_s = max(oldest_s, limits.min_age_s or 0)
    return replace(request, words=words, only_unknown=True, thresholds=Thresholds(min_age_s=least_s))
