"""When quarantine ends: after its time, at once when told to, and first of all when memory or disk is short."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...model.answers import Nobody
from ...model.sweep import Space
from ...model.terms import Reason
from ...oskit.files import space
from ...oskit.files.purge import Purged
from ...text import duration, shown
from ..find import births, known_roots, named
from ..prepared import Prepared
from . import quarantine
from .giving_up import GivingUp
from .present import restorable
from .quarantine import Stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PROMISED = frozenset(reason.value for reason in (Reason.NAMED, Reason.OUTLIVED, Reason.UNOWNED))
_OF_GIT = "git"  # rows of worktrees/


def expire(prepared: Prepared, giving_up: GivingUp) -> list[Purged]:
    """Destroy what has waited long enough, or what a nearly full memory-backed root cannot afford."""
    now_ns, expiry_s = prepared.now_ns(), prepared.settings.quarantine_s
    is_time_known = not prepared.settings.unread_limits  # else a user's `[quarantine] keep` may be longer than ours
    gone: list[Purged] = []
    for directory, root in directories(prepared):
        entries = [e for e in quarantine.stored(directory) if is_time_known or e.name.endswith(quarantine.DOOMED)]
        gone += giving_up.all(e for e in entries if quarantine.is_expired(e, now_ns, expiry_s))
        if (
            is_time_known
            and root
            and _is_short_of_memory(space.space_of(root), prepared.settings.pressure_high_percent)
        ):
            rest = tuple(unused(prepared, (e for e in quarantine.stored(directory) if e.may_go)))
            promised = promised_a_day(prepared.state, rest)
            gone += giving_up.all(e for e in rest if e.name not in promised)
    return gone


def complaints(prepared: Prepared) -> Iterator[str]:
    """What in our quarantines is not ours, and is left alone: told by every run."""
    for directory, _ in directories(prepared):
        seen = quarantine.contents(directory)
        if seen.refusal:
            yield seen.refusal
        if seen.strangers:
            names = ", ".join(shown(name) for name in seen.strangers[:3])
            names += ", ..." if len(seen.strangers) > 3 else ""
            yield f"{shown(directory)} holds what tmpwarden did not put there, and leaves it alone: {names}"


def expired_rescues(prepared: Prepared) -> Iterator[str]:
    """Rescues older than they were promised to stay: told when they go."""
    from ...repos.rescue import store  # only where there are any

    if not prepared.home_roots or prepared.settings.unread_limits or not store.exists():
        return
    for each in store.expire(prepared.settings.rescue_keep_s, prepared.now_ns() / 1e9):
        yield f"the rescue {each.id} of {shown(each.path)} was {duration(prepared.settings.rescue_keep_s)} old and went"


def purge_all(prepared: Prepared, giving_up: GivingUp) -> list[Purged]:
    """`clean --purge`: whatever can be destroyed, now."""
    entries = (entry for directory, _ in directories(prepared) for entry in quarantine.stored(directory))
    return list(giving_up.all(unused(prepared, (entry for entry in entries if entry.may_go))))


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
    return is_by_word or row == births.ID or agent == _OF_GIT


def directories(prepared: Prepared) -> Iterator[tuple[str, str]]:
    """(quarantine, temp root) of this run; the one of home rows has no root."""
    for root in prepared.roots:
        yield quarantine.beside(root), root
    yield quarantine.of_home(prepared.state), ""
    for root in known_roots.quarantined() if prepared.home_roots else ():
        yield quarantine.beside(root), ""


def waiting(root: str) -> Iterator[Stored]:
    """What may be destroyed in the quarantine of a root, oldest first."""
    return (entry for entry in quarantine.stored(quarantine.beside(root)) if entry.may_go)


def _is_short_of_memory(root: Space, high_percent: int) -> bool:
    return root.memory_backed and space.percent_used(root) >= high_percent
