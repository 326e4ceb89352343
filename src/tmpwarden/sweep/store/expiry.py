"""When quarantine ends: after its time, at once when told to, and first of all when memory or disk is short."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator

from ...lazy_dataclass import dataclass, field, replace
from ...model.answers import Held, Nobody, NotMeasured, Users
from ...model.sweep import Measure, Receipt, Space
from ...model.terms import Outcome, Reason
from ...oskit.files import kernel_word, space, take, walk
from ...oskit.files.doomed import Bound
from ...oskit.files.opening import closing
from ...oskit.files.purge import Purged
from ...oskit.race import race_window as _race_window
from ...text import duration, plural, shown
from ..find import known_roots, named, scan, unknown
from ..prepared import Prepared
from ..take.recheck import change
from ..weigh.evidence import World
from ..weigh.judge import keeping
from . import labels, quarantine, way_back
from .journal import Journal, entries
from .labels import restorable
from .quarantine import Stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...oskit.files.roll import Roll


# Before what waits for undo is given up: one walk. What was written into it since it was judged sends it back.
#
# A process that had something open in it before it was taken may have written long after the last look. The journal
# says how new the unit was when it was judged; where it does not, the rename that brought it here is the date
# that counts.


@dataclass(frozen=True, slots=True)
class JournalWord:
    """What the journal tells of an entry of a quarantine."""

    path: str
    root: str
    newest_ns: int = 0  # 0: a teardown took it, which judges later
    entries: int = 0


@dataclass(frozen=True, slots=True)
class Back:
    """What was to be given up, and was not as it was judged."""

    id: str
    path: str
    place: str  # where it is now
    why: str

    @property
    def is_back(self) -> bool:
        return self.place == self.path

    @property
    def sentence(self) -> str:
        where = (
            "it was moved back to its place"
            if self.is_back
            else f"it could not be moved back, and is at {shown(self.place)}"
        )
        return f"{shown(self.path)} was in quarantine, and {self.why}: {where}"


@dataclass(slots=True)
class GivingUp:
    """Destroys entries for good, brings them back or lets them wait on. `told` has the latter two in words."""

    journal: Journal
    world: World
    kept_paths: tuple[str, ...] = ()  # what was kept since it was taken goes back
    back: list[Back] = field(default_factory=list)
    waiting: dict[str, str] = field(default_factory=dict)  # what may be in use unseen, and why that is not known
    _labels: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)  # by quarantine, as it was listed
    _known: dict[str, JournalWord] = field(default_factory=dict)

    def all(self, stored: Iterable[Stored]) -> Iterator[Purged]:
        """Those that went, or would not go."""
        entries = list(stored)
        self.learn(entry.name for entry in entries if entry.name.endswith(quarantine.KEPT))
        for entry in entries:
            purged = self.one(entry)
            if isinstance(purged, Purged):
                yield purged

    def learn(self, names: Iterable[str]) -> None:
        """Read what is known of these, once for all of them."""
        self._labels.clear()  # this run has put more there since
        wanted = set(names) - self._known.keys()
        for line in entries(self.journal.state) if wanted else ():
            id_, path, root = line.get("id"), line.get("path"), line.get("root")
            if not (isinstance(id_, str) and isinstance(path, str) and isinstance(root, str)) or id_ not in wanted:
                continue
            before = self._known.get(id_, JournalWord(path, root))
            newest_ns, count = line.get("newest_ns", before.newest_ns), line.get("entries", before.entries)
            if isinstance(newest_ns, int) and isinstance(count, int):
                self._known[id_] = JournalWord(path, root, newest_ns, before.entries or count)

    def sentences(self) -> Iterator[str]:
        """What a person should know of those that did not go."""
        yield from (each.sentence for each in self.back)
        if self.waiting:
            path, why = next(iter(self.waiting.items()))
            others = f" (and {plural(len(self.waiting) - 1, 'other item')})" if len(self.waiting) > 1 else ""
            yield f"{shown(path)}{others} is kept in quarantine: it could not be checked whether it is in use ({why})"

    def one(self, entry: Stored) -> Purged | Back | None:
        """An entry that is doomed already may be half gone, and is not asked about. None: it waits on."""
        try:
            if not entry.name.endswith(quarantine.KEPT):
                return self._noted(entry, quarantine.finish(entry))
            with closing(quarantine.opened(entry.directory)) as fd, Bound(fd, entry.name) as bound:
                return self._looked_at_anew(entry, fd, bound)
        except FileNotFoundError:
            return Purged(0, 0, (), 0)  # undo was faster
        except OSError as error:  # what cannot be looked at is not given up
            return _unread(entry, error)

    def _looked_at_anew(self, entry: Stored, fd: int, bound: Bound) -> Purged | Back | None:
        self._learn_from_label(entry, fd)
        roll: Roll = []
        inside = walk.measure(fd, entry.name, uid=self.world.uid, count_atime=False, was_moved=walk.LONG_AGO, roll=roll)
        users = self.world.users_in(entry.path)
        if why := self._kept(entry) or (inside and _change(self._known.get(entry.name), entry, inside)):
            self.back.append(self._put_back(entry, why))
            return self.back[-1]
        users = kernel_word.confirmed(users, fd, entry.name)  # of every file, before the first of them goes
        if why := _used(users):
            self.back.append(self._put_back(entry, why))
            return self.back[-1]
        if isinstance(users, NotMeasured):
            self.waiting[entry.path] = users.why
            return None
        _race_window("walked, not yet given up")
        return self._noted(entry, quarantine.destroy(entry, bound, users, inside, roll))

    def _kept(self, entry: Stored) -> str | None:
        word = self._known.get(entry.name)
        return "it is on your keep list now" if word and keeping(word.path, self.kept_paths) else None

    def _noted(self, entry: Stored, purged: Purged) -> Purged:
        if purged.entries or purged.left:
            self.journal.open()
            self.journal.note("expired", id=entry.name, freed=purged.freed_bytes)
        if not purged.left and self.journal.is_open:  # else the label tells the next run
            self._unlabel(entry)
        return purged

    def _learn_from_label(self, entry: Stored, fd: int) -> None:
        """Where the journal could not be written, or is lost."""
        if entry.name in self._known:
            return
        label = labels.read(fd, entry.directory, self.journal.state, self._labels_of(entry, fd), entry.name)
        if label:
            intent = label.intent
            self._known[entry.name] = JournalWord(intent.path, intent.root, intent.newest_ns, intent.entries)

    def _labels_of(self, entry: Stored, fd: int) -> tuple[str, ...]:
        if entry.directory not in self._labels:
            self._labels[entry.directory] = labels.by_token(os.listdir(fd))
        return self._labels[entry.directory].get(entry.name[:16], ())

    def _unlabel(self, entry: Stored) -> None:
        with closing(quarantine.opened(entry.directory)) as fd:
            labels.remove(fd, self._labels_of(entry, fd))

    def _put_back(self, entry: Stored, why: str) -> Back:
        """Where nobody knows any more where it was, it keeps a name that never expires."""
        judged = self._known.get(entry.name)
        path, pinned = judged.path if judged else entry.path, quarantine.renamed(entry.path, quarantine.PINNED)
        with closing(quarantine.opened(entry.directory)) as fd:
            if judged is None:
                take.rename_within(fd, entry.name, os.path.basename(pinned))
            is_back = judged is not None and way_back.put_back(fd, entry.name, judged.root, path)
        self.journal.note("undone" if is_back else "pinned", id=entry.name, path=path, detail=why)
        if is_back:
            self._unlabel(entry)
        return Back(entry.name, path, path if is_back else pinned, why)


def _used(users: Users) -> str | None:
    """Who uses it, in words. What was not measured is no use, and no proof of the contrary."""
    match users:
        case Held(by):
            return f"it is in use ({by[0].kind.value})"
        case Nobody() | NotMeasured():
            return None


def _change(judged: JournalWord | None, entry: Stored, now: Measure) -> str | None:
    """What is not as it was judged, in words."""
    newest_ns, count = (judged.newest_ns, judged.entries) if judged else (0, 0)
    return change(Measure(newest_ns or entry.taken_ns, 0, 0, count or now.entries), now)


def _unread(entry: Stored, error: OSError) -> Purged:
    purged = Purged(0, 0, (("", error.strerror or str(error)),), 1)
    purged.place = entry.path
    return purged


def ending_of(result: Purged | Back) -> Outcome:
    if isinstance(result, Purged):
        return Outcome.REMOVED
    return Outcome.KEPT if result.is_back else Outcome.FAILED


def instead(receipt: Receipt, result: Purged | Back) -> Receipt:
    """What is told of a unit that the same run had put aside."""
    new_receipt = replace(receipt, outcome=ending_of(result), undoable=False)
    if isinstance(result, Purged):
        return replace(new_receipt, freed_bytes=result.freed_bytes)
    return replace(new_receipt, reason=Reason.CHANGED, detail=result.why)


_PROMISED = frozenset(reason.value for reason in (Reason.NAMED, Reason.OUTLIVED, Reason.UNOWNED))
_OF_GIT = "git"  # rows of worktrees/


def expire(prepared: Prepared, giving_up: GivingUp) -> list[Purged]:
    """Destroy what has waited long enough, or what a nearly full memory-backed root cannot afford."""
    now_ns, expiry_s = prepared.now_ns(), prepared.settings.quarantine_s
    is_time_known = not prepared.settings.unread_limits  # else a user's `[quarantine] keep` may be longer than ours
    purged: list[Purged] = []
    for directory, root in directories(prepared):
        entries = [e for e in quarantine.stored(directory) if is_time_known or e.name.endswith(quarantine.DOOMED)]
        due = [e for e in entries if quarantine.is_expired(e, now_ns, expiry_s)]
        waits = _waits_longer(prepared.state, due, now_ns)
        purged += giving_up.all(e for e in due if e.name not in waits)
        if (
            is_time_known
            and root
            and _is_short_of_memory(space.space_of(root), prepared.settings.pressure_high_percent)
        ):
            rest = tuple(unused(prepared, (e for e in quarantine.stored(directory) if e.may_go)))
            promised = promised_a_day(prepared.state, rest)
            purged += giving_up.all(e for e in rest if e.name not in promised)
    return purged


def _waits_longer(state: str, due: Iterable[Stored], now_ns: int) -> frozenset[str]:
    """Names of those that nobody recognised, which wait a week."""
    young = [e.name for e in due if not quarantine.is_expired(e, now_ns, unknown.KEEP_S)]
    known = restorable(state) if young else {}
    return frozenset(name for name in young if known.get(name, {}).get("row") == unknown.KEY)


def complaints(prepared: Prepared) -> Iterator[str]:
    """What in our quarantines is not ours, and is left alone: told by every run."""
    for directory, _ in directories(prepared):
        seen = quarantine.contents(directory)
        if seen.refusal:
            yield seen.refusal
        if seen.strangers:
            names = ", ".join(shown(name) for name in seen.strangers[:3])
            names += ", ..." if len(seen.strangers) > 3 else ""
            yield f"{shown(directory)} contains files that tmpwarden did not put there; they are left alone: {names}"


def expired_rescues(prepared: Prepared) -> Iterator[str]:
    """Rescues older than they were promised to stay: told when they go."""
    from ...repos.rescue import store  # only where there are any

    if not prepared.home_roots or prepared.settings.unread_limits or not store.exists():
        return
    for each in store.expire(prepared.settings.rescue_keep_s, prepared.now_ns() / 1e9):
        age = duration(prepared.settings.rescue_keep_s)
        yield f"the rescue {each.id} of {shown(each.path)} was {age} old and was removed"


def purge_all(prepared: Prepared, giving_up: GivingUp, kept_tokens: Collection[str] = ()) -> list[Purged]:
    """`clean --purge`: whatever can be destroyed, now. `resting`: ids of what waits, whatever was asked for."""
    entries = (entry for directory, _ in directories(prepared) for entry in quarantine.stored(directory))
    return list(
        giving_up.all(unused(prepared, (entry for entry in entries if entry.may_go and entry.name not in kept_tokens)))
    )


def unused(prepared: Prepared, entries: Iterable[Stored]) -> Iterator[Stored]:
    """Those that may go before their time: nobody uses them. In doubt they wait until it is over."""
    world = prepared.weigher.world
    return (entry for entry in entries if isinstance(world.users_in(entry.path), Nobody))


def promised_a_day(state: str, entries: Iterable[Stored]) -> frozenset[str]:
    """Names of those that no pressure takes before their time: what only its age or a person's word had taken, births,
    and worktrees. They were told that `undo` has a day. What neither journal nor label speaks of stays with them."""
    kept = {entry.name for entry in entries if entry.name.endswith(quarantine.KEPT)}
    known = restorable(state) if kept else {}
    return frozenset(name for name in kept if name not in known or _is_promised(known[name]))


def _is_promised(receipt: dict[str, Any]) -> bool:
    agent, _, row = str(receipt.get("row")).partition(".")
    is_by_word = receipt.get("reason") in _PROMISED or (agent, row) == (named.LITTER.agent, named.LITTER.id)
    return is_by_word or row == scan.ID or agent == _OF_GIT


def directories(prepared: Prepared) -> Iterator[tuple[str, str]]:
    """(quarantine, temp root) of this run; the one of home rows has no root."""
    for root in prepared.roots:
        yield quarantine.beside(root), root
    yield quarantine.of_home(prepared.state), ""
    for root in known_roots.quarantined() if prepared.home_roots else ():
        yield quarantine.beside(root), ""


def quarantined_entries(root: str) -> Iterator[Stored]:
    """What may be destroyed in the quarantine of a root, oldest first."""
    return (entry for entry in quarantine.stored(quarantine.beside(root)) if entry.may_go)


def _is_short_of_memory(root: Space, high_percent: int) -> bool:
    return root.memory_backed and space.percent_used(root) >= high_percent
