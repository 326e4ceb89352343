"""What helps against a full file system: by what the judge says of everything in its temp roots, one command.

What the judge would free comes first, whatever else is bigger. What is the user's own comes last, as a question and
never as a command. Law 12: a remedy that is printed helps when it is run as printed; where none would, the words say
that a person decides.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ..errors import TmpwardenError
from ..lazy_dataclass import dataclass
from ..model.answers import Held, NotMeasured
from ..model.request import Thresholds
from ..model.sweep import Keep, Measure, Remove, Space, Unmatched, Verdict, Witness
from ..model.terms import OwnerState, Reason
from ..oskit.files import places
from ..sweep.find.strangers import measure_below
from ..sweep.store import expiry, quarantine
from ..sweep.take.doubt import Unchecked, better_place, frees_nothing
from ..text import duration, plural, quoted, shown, size
from .patient import Patient

_QUARANTINE = "tmpwarden.quarantine"
_GONE = (OwnerState.DEAD, OwnerState.ABSENT)
_GIT = (Reason.GIT_WORK, Reason.GIT_UNCLEAR)
_YOUNG = (Reason.TOO_YOUNG, Reason.RESUMABLE)
_MOST_SHOWN = 3
_LITTLE = 20  # less than this part of what is used changes nothing, unless commands work again with it
_ENOUGH = {"bytes": 1 << 20, "inodes": 16}  # less than that is nothing to an agent


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way to get room: how much it gives, in words and as a command. Without a command a person has to act."""

    amount: int  # bytes, or entries where inodes are short
    words: str
    command: str = ""
    rank: int = 1  # 0: what the judge would free; 2: what a person is asked about
    is_unchecked: bool = False  # it might go, if only we could see everybody


@dataclass(frozen=True, slots=True)
class Relief:
    command: str
    words: str  # what fills the root, the most first


def relief(patient: Patient, room: Space, *, counts: str = "bytes", is_unseen: bool = False) -> Relief:
    """`counts`: what is short, "bytes" or "inodes"; `is_unseen`: by a limit that no number shows, so clean is told."""
    try:
        ways = sorted(_Root(patient, room, counts, is_unseen).ways(), key=lambda way: (way.rank, -way.amount))
    except TmpwardenError:
        return Relief(f"tmpwarden clean --yes{_common_options(patient)}", "")
    used = room.bytes_used if counts == "bytes" else room.inodes_used

    def is_much(way: Remedy) -> bool:
        return way.amount * _LITTLE >= used or way.amount >= _ENOUGH[counts] or (is_unseen and way.command != "")

    shown_ways = [way for way in ways if is_much(way) or way.command]
    best = next((way for way in shown_ways if way.command and is_much(way)), None)
    words = "; ".join(way.words for way in shown_ways[:_MOST_SHOWN])
    if best is not None:
        return Relief(best.command, words)
    if any(way.is_unchecked for way in shown_ways):
        return Relief("", words)
    if shown_ways and sum(way.amount for way in shown_ways) * 2 >= used:
        return Relief("", f"{words}; nothing else is removable, so you have to decide")
    show = f"du -xh -d 1 {quoted(room.mount_point or room.path)} | sort -h | tail"
    return Relief(show, "; ".join(filter(None, (words, "most of it belongs to others, or is not visible from here"))))


def shares(patient: Patient, room: Space, counts: str = "bytes") -> str:
    """Whose what fills this file system is: the agents', ours, the user's, and what lies elsewhere on it."""
    try:
        return _Root(patient, room, counts, is_unseen=False).shares()
    except TmpwardenError:
        return ""


def together(patient: Patient, room: Space) -> tuple[str, ...]:
    """The temp roots that share the file system of this one, and its limits."""
    mine = (room.mount_point or room.path, room.bytes_total, room.quota_of)
    return tuple(
        each.path for each in patient.spaces if (each.mount_point or each.path, each.bytes_total, each.quota_of) == mine
    )


@dataclass(slots=True)
class _Root:
    """One full file system with its temp roots, seen through the judge's eyes."""

    patient: Patient
    room: Space
    counts: str
    is_unseen: bool

    def ways(self) -> Iterator[Remedy]:
        judged = self.patient.judged(budget_bytes=self._budget_bytes()) if self.is_unseen else self.patient.verdicts
        here = [verdict for verdict in judged if self._is_here(verdict.finding.root)]
        kept = [verdict for verdict in here if isinstance(verdict, Keep)]
        removable = [verdict for verdict in here if isinstance(verdict, Remove)]
        yield from self._clean([each for each in removable if not frees_nothing(each)])
        yield from self._unchecked([each for each in removable if frees_nothing(each)])
        yield from self._ask([each for each in kept if each.reason is Reason.ASK_ONLY])
        yield from self._young([each for each in kept if each.reason in _YOUNG])
        yield from self._git([each for each in kept if each.reason in _GIT])
        yield from self._used([each for each in kept if _is_used(each)])
        yield from self._unmatched([each for each in self.patient.unmatched if self._is_here(each.root)])

    def shares(self) -> str:
        here = [each for each in self.patient.verdicts if self._is_here(each.finding.root)]
        agents = self._sum([each for each in here if each.finding.litter.key != _QUARANTINE])
        yours = [each for each in self.patient.unmatched if self._is_here(each.root)]
        own = sum(_of(each.bytes, each.entries, self.counts) for each in yours)
        ours = sum(_of(each.bytes, each.entries, self.counts) for each in self._ours())
        used = self.room.bytes_used if self.counts == "bytes" else self.room.inodes_used
        rest = max(0, used - agents - own - ours)
        amounts = (("agents", agents), ("tmpwarden", ours), ("your own in temp roots", own), ("all else", rest))
        return f"of {self._as_text(used)}: " + ", ".join(f"{who} {self._as_text(amount)}" for who, amount in amounts)

    def _ours(self) -> Iterator[Measure]:
        """The quarantines and the state."""
        state, name = os.path.split(self.patient.prepared.state)
        places_ = [(root, f"tmpwarden-{places.uid()}/q") for root in together(self.patient, self.room)]
        for root, below in (*places_, (state, name)):
            if self._is_here(root) and (measure := measure_below(root, below, places.uid())):
                yield measure

    def _is_here(self, root: str) -> bool:
        if root in together(self.patient, self.room):
            return True
        if root in self.patient.roots:
            return False
        try:
            return os.stat(root).st_dev == os.stat(self.room.path).st_dev
        except OSError:
            return False

    def _clean(self, removable: list[Remove]) -> Iterator[Remedy]:
        roots = together(self.patient, self.room)
        kept = dict(zip(roots, map(self._quarantined, roots), strict=True))
        quarantined, stays = (sum(pair[column] for pair in kept.values()) for column in (0, 1))
        if stays:
            why = next(why for root in roots if (why := self._doubt(root)))
            words = f"{self._as_text(stays)} stay in quarantine until they expire: they could not be checked here"
            yield Remedy(stays, f"{words} ({why}). Run tmpwarden {better_place()}", rank=0, is_unchecked=True)
        amount = self._sum(removable) + quarantined
        if not amount:
            return
        is_hurried = not self.patient.prepared.pressure.roots.isdisjoint(roots)
        is_emptied = is_hurried and not any(map(self._has_promised, roots))  # by any clean, under pressure
        purge = " --purge" if quarantined and not is_emptied else ""
        budget = f" --budget {self._budget_bytes() >> 10}K" if self.is_unseen else ""
        words = f"{self._as_text(amount)} can be removed now" + (
            " (part of it is in quarantine)" if quarantined else ""
        )
        yield Remedy(amount, words, f"tmpwarden clean --yes{purge}{budget}{_common_options(self.patient)}", 0)

    def _quarantined(self, root: str) -> tuple[int, int]:
        """What a purge would give, and what it would not: in doubt a clean takes only what has waited long enough."""
        below = f"tmpwarden-{places.uid()}/q"
        measure = measure_below(root, below, places.uid())
        all_ = _of(measure.bytes, measure.entries - 1, self.counts) if measure else 0
        if not (all_ and self._doubt(root)):
            return all_, 0
        now_ns, expiry_s = self.patient.prepared.now_ns(), self.patient.prepared.settings.quarantine_s
        stored = quarantine.stored(quarantine.beside(root))
        over = (each for each in stored if quarantine.is_expired(each, now_ns, expiry_s))
        sums = (measure_below(root, f"{below}/{each.name}", places.uid()) for each in over)
        may_go = sum(_of(each.bytes, each.entries, self.counts) for each in sums if each)
        return may_go, max(0, all_ - may_go)

    def _has_promised(self, root: str) -> bool:
        """Something there has a day for undo that no pressure shortens: only `--purge` does."""
        return bool(expiry.promised_a_day(self.patient.prepared.state, expiry.quarantined_entries(root)))

    def _doubt(self, root: str) -> str:
        """Why what lies in quarantine may be in use unseen."""
        match self.patient.prepared.weigher.world.users_in(quarantine.beside(root)):
            case NotMeasured(why):
                return why
            case _:
                return ""

    def _unchecked(self, doubted: list[Remove]) -> Iterator[Remedy]:
        if doubted:
            words = Unchecked.of(doubted).sentence()
            yield Remedy(self._sum(doubted), words, is_unchecked=True)

    def _ask(self, kept: list[Keep]) -> Iterator[Remedy]:
        if not kept:
            return
        thresholds = Thresholds(take_ask=True)
        paths = frozenset(each.finding.path for each in kept)
        judged = self.patient.judged(thresholds=thresholds, only_paths=paths)
        may_go = [each for each in judged if isinstance(each, Remove)]
        removable = [each for each in may_go if not frees_nothing(each)]
        yield from self._unchecked([each for each in may_go if frees_nothing(each)])
        if removable:
            words = f"{self._as_text(self._sum(removable))} are not removed by default ({_largest(kept)})"
            yield Remedy(self._sum(removable), words, f"tmpwarden clean --all{_common_options(self.patient)}")
        elif not may_go:
            yield Remedy(
                self._sum(kept), f"{self._as_text(self._sum(kept))} would be kept even then ({_largest(kept)})"
            )

    def _young(self, kept: list[Keep]) -> Iterator[Remedy]:
        """Naming replaces age: the biggest can go before its time, if its user says so."""
        if kept:
            largest = max(kept, key=self._amount)
            when = _goes_in(largest, self.patient.prepared.now_ns())
            words = f"{self._as_text(self._sum(kept))} are too new ({_largest(kept)}{when})"
            path = largest.finding.path
            command = self._by_name(path) if self._would_go(path) else ""
            yield Remedy(self._amount(largest) if command else self._sum(kept), words, command)

    def _git(self, kept: list[Keep]) -> Iterator[Remedy]:
        if kept:
            largest = max(kept, key=self._amount)
            words = f"{self._as_text(self._sum(kept))} hold git work that exists nowhere else ({_largest(kept)})"
            path = quoted(largest.finding.path)
            can_save = self.patient.can_rescue and largest.reason is Reason.GIT_WORK
            # what was saved is the user's to remove: rm asks once, and runs only if everything is in a verified bundle
            save = f"tmpwarden rescue {path}{_common_options(self.patient)} && rm -rI -- {path}"
            yield Remedy(self._amount(largest) if can_save else self._sum(kept), words, save if can_save else "")

    def _used(self, kept: list[Keep]) -> Iterator[Remedy]:
        """Those whose session has ended are held by a process that outlived it; the others are in use."""
        for left_over in (True, False):
            group = [each for each in kept if (each.evidence.owner.state in _GONE) == left_over]
            if not group:
                continue
            largest = max(group, key=self._amount)
            holders = sorted({each.pid for each in _witnesses(largest) if each.pid is not None})
            who = f", by {plural(len(holders), 'process', 'processes')}: {_pids(holders)}" if holders else ""
            end = "whose session has ended" if left_over else "end that process to free them"
            words = f"{self._as_text(self._sum(group))} are in use ({_largest(group)}{who}; {end})"
            kill = f"kill {_pids(holders)}; tmpwarden clean --yes{_common_options(self.patient)}"
            can_go = not self._doubt(largest.finding.root)
            yield Remedy(self._sum(group), words, kill if left_over and holders and can_go else "")

    def _unmatched(self, groups: list[Unmatched]) -> Iterator[Remedy]:
        """Only their user knows what these are worth. They are named, and no command is printed that removes them."""
        amounts = [(_of(each.bytes, each.entries, self.counts), each) for each in groups]
        amounts.sort(key=lambda pair: -pair[0])
        if amounts:
            total = sum(amount for amount, _ in amounts)
            names = ", ".join(f"{shown(each.glob)} ({self._as_text(amount)})" for amount, each in amounts[:_MOST_SHOWN])
            words = f"{self._as_text(total)} are not recognised: do you still need {names}?"
            yield Remedy(total, words, rank=2)

    def _would_go(self, *paths: str) -> bool:
        """Whether naming these would help: the judge's own word."""
        judged = self.patient.judged(words=paths)
        return any(isinstance(each, Remove) and not frees_nothing(each) for each in judged)

    def _by_name(self, path: str) -> str:
        return f"tmpwarden clean {quoted(path)}{_common_options(self.patient)}"

    def _budget_bytes(self) -> int:
        """As much as pressure would bring it down to, by what agents hold."""
        held = sum(map(bytes_of, self.patient.verdicts))
        return held * self.patient.prepared.settings.pressure_low_percent // 100

    def _sum(self, verdicts: Sequence[Verdict]) -> int:
        return sum(map(self._amount, verdicts))

    def _amount(self, verdict: Verdict) -> int:
        measure = verdict.evidence.measure
        return _of(measure.bytes, measure.entries, self.counts) if measure else 0

    def _as_text(self, amount: int) -> str:
        return size(amount) if self.counts == "bytes" else plural(amount, "inode")


def _of(amount_bytes: int, entries: int, counts: str) -> int:
    return amount_bytes if counts == "bytes" else entries


def _is_used(verdict: Keep) -> bool:
    return isinstance(verdict.evidence.users, Held) or verdict.evidence.owner.state is OwnerState.ALIVE


def _witnesses(verdict: Keep) -> tuple[Witness, ...]:
    match verdict.evidence.users:
        case Held(by):
            return by
        case _:
            return ()


def _largest(verdicts: list[Keep]) -> str:
    return shown(max(verdicts, key=bytes_of).finding.path)


def _pids(pids: list[int]) -> str:
    return " ".join(map(str, pids))


def _goes_in(verdict: Keep, now_ns: int) -> str:
    """`, goes in 12m`."""
    measure = verdict.evidence.measure
    if measure is None or not verdict.detail.isdigit():
        return ""
    left_s = int(verdict.detail) - (now_ns - measure.newest_ns) // 10**9
    return f", goes in {duration(max(1, left_s))}"


def bytes_of(verdict: Verdict) -> int:
    return verdict.evidence.measure.bytes if verdict.evidence.measure else 0


def _common_options(patient: Patient) -> str:
    """Those of the call: a clean of other roots would not help."""
    words = [word for root in patient.request.roots for word in ("--root", root)]
    if patient.request.config_file:
        words += ["--config", patient.request.config_file]
    return "".join(f" {quoted(word)}" for word in words)
