"""The walk in quarantine before the first unlink: what came, went or changed since the judging sends a unit back.

A walk takes time, and what is written into a part that it has passed is not in its sum. Once a unit lies in quarantine
nobody finds it by its name any more, so a second walk there sees whatever the first one missed.
"""

from __future__ import annotations

import os
from contextlib import nullcontext

from ...model.answers import Held, Nobody, NotMeasured, Users
from ...model.sweep import Measure, Remove, Witness
from ...model.terms import Reason, WitnessKind, Worth
from ...oskit.files import kernel_word, walk
from ...oskit.files import roll as rolls
from ...oskit.files.roll import Roll
from ..weigh.evidence import World, socket_users
from .doubt import may_only_wait
from .taking import Deed

# Who began to use a unit between its judging and its take: asked once more, at its new place and by its old name.


def users_of(
    verdict: Remove,
    world: World,
    quarantine_fd: int,
    directory: str,
    token: str,
    inside: Measure | None = None,
    *,
    for_good: bool = False,
) -> Users:
    """Who uses what lies in quarantine as `token`: a unit, or one member of a swarm. The kernel is asked last, and only
    where somebody may be unseen, or what is worth something goes `for_good`. `inside`: what a walk in quarantine has
    just seen of it."""
    match world.users_in(f"{directory}/{token}", verdict.evidence.measure, verdict.evidence.owner):
        case Held() as held:
            return held
        case Nobody() | NotMeasured() as unseen:
            pass
    if not verdict.finding.members and (witness := _tmpdir_witness(verdict, world)):
        return Held((witness,))
    if world.newly_bound or _may_be_locked(verdict, world):
        match _locked_or_bound(world, quarantine_fd, token, inside):
            case Nobody():
                pass
            case Held() | NotMeasured() as answer:
                return answer
    if for_good and verdict.finding.litter.worth is Worth.SOME:
        if inside is not None and inside.has_no_openers and (isinstance(unseen, Nobody) or unseen.askable):
            return Nobody()
        return kernel_word.confirmed(unseen, quarantine_fd, token)
    if isinstance(unseen, NotMeasured) and unseen.askable:
        return kernel_word.ask(quarantine_fd, token)
    return unseen


def _tmpdir_witness(verdict: Remove, world: World) -> Witness | None:
    """A variable or a record holds a name, not a descriptor: it still says the old one."""
    match world.holders.within(verdict.finding.path):
        case Held(by) if tmpdirs := [witness for witness in by if witness.kind is WitnessKind.TMPDIR]:
            return tmpdirs[0]
        case Held() | Nobody() | NotMeasured():
            claims = world.owner_of(verdict.finding, verdict.evidence.measure)[1]
            return claims[0] if claims else None


def _may_be_locked(verdict: Remove, world: World) -> bool:
    """By the device; where the kernel names another device than stat does, any new lock may be in there."""
    if type(world.newly_locked) is not frozenset:
        return len(world.newly_locked) > 0
    return any(device == verdict.finding.device for device, _ in world.newly_locked)


def _locked_or_bound(world: World, quarantine_fd: int, token: str, inside: Measure | None) -> Users:
    """Locks and sockets need a walk, so this is asked only where there may be new ones."""
    measure = inside or walk.measure(quarantine_fd, token, uid=world.uid, count_atime=False, locked=world.newly_locked)
    if measure is None:
        return Nobody()
    if measure.locked:
        return Held((Witness(WitnessKind.LOCK, measure.locked[0]),))
    return socket_users(measure, quarantine_fd, token)


def why_back(deed: Deed, token: str, world: World, inside: Measure | None) -> tuple[Reason, str] | None:
    """Why a unit, or that member of a swarm, has to go back; None if it need not. `inside`: of a unit that is to be
    purged at once, what a walk in quarantine has just seen of it."""
    verdict, judged, place = deed.verdict, deed.verdict.evidence.measure, f"{deed.directory}/{token}"
    match users_of(
        verdict,
        world,
        quarantine_fd=deed.quarantine_fd,
        directory=deed.directory,
        token=token,
        inside=inside,
        for_good=deed.is_doomed,
    ):
        case Held(by):
            return Reason(by[0].kind.value), by[0].detail
        case NotMeasured(why):
            return Reason.NOT_MEASURED, why
        case Nobody() if (
            deed.is_doomed
            and may_only_wait(verdict.finding)
            and world.is_in_doubt(place, judged, verdict.evidence.owner)
        ):  # somebody hides since it was judged: the next run puts it where it can come back from
            return Reason.NOT_MEASURED, "a process that cannot be inspected started meanwhile"
        case Nobody() as nobody:
            deed.users = nobody
    if judged is not None and verdict.finding.members and _member_changed(deed.quarantine_fd, token, judged):
        return Reason.CHANGED, "it was written after it was checked"
    changed = change(judged, inside) if judged is not None and inside is not None else None
    return (Reason.CHANGED, changed) if changed else None


def measured_inside(
    world: World, quarantine_fd: int, token: str, roll: Roll | None = None, *, asks: bool = False
) -> Measure | None:
    """What lies in quarantine as `token`; None if it is gone. Our own rename is no change of it. `roll`: the names that
    its judging saw. `asks`: the kernel has to be asked about each file; it is, where the roll is enough for both."""
    if roll:
        with kernel_word.asking() if asks and kernel_word.can_ask() else nullcontext() as question:
            same = rolls.called(quarantine_fd, token, roll, uid=world.uid, locked=world.newly_locked, question=question)
        if same is not None:
            return same
    return walk.measure(
        quarantine_fd, token, uid=world.uid, count_atime=False, locked=world.newly_locked, was_moved=walk.JUST_NOW
    )


def change(judged: Measure, now: Measure) -> str | None:
    """What is not as it was judged, in words; None if nothing could be lost that nobody has judged."""
    if now.entries != judged.entries:
        return f"it has {now.entries:,} entries now, and had {judged.entries:,} when it was checked"
    if now.at_least or now.crosses_device or now.foreign:
        return "part of it changed after it was checked"
    if now.directories == now.entries == 1:
        return None  # empty: our own takes may have dated it, and rmdir loses nothing
    return "a file in it was written after it was checked" if now.newest_ns > judged.newest_ns else None


def _member_changed(quarantine_fd: int, token: str, judged: Measure) -> bool:
    """The same for one file of a swarm. Its ctime is our own rename's."""
    try:
        return os.lstat(token, dir_fd=quarantine_fd).st_mtime_ns > judged.newest_ns
    except FileNotFoundError:
        return False
    except OSError:
        return True  # what cannot be looked at may have changed
