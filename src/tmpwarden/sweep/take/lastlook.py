"""Who began to use a unit between its judging and its take: asked once more, at its new place and by its old name."""

from __future__ import annotations

from ...model.answers import Held, Nobody, NotMeasured, Users
from ...model.sweep import Measure, Remove, Witness
from ...model.terms import WitnessKind, Worth
from ...oskit.files import kernel_word, walk
from ..weigh.evidence import socket_users
from ..weigh.world import World


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
    match world.users_in(f"{directory}/{token}", verdict.evidence.measure):
        case Held() as held:
            return held
        case Nobody() | NotMeasured() as unseen:
            pass
    if not verdict.finding.members and (named := _named(verdict, world)):
        return Held((named,))
    if world.newly_bound or _may_be_locked(verdict, world):
        match _locked_or_bound(world, quarantine_fd, token, inside):
            case Nobody():
                pass
            case Held() | NotMeasured() as answer:
                return answer
    if for_good and verdict.finding.litter.worth is Worth.SOME:
        return kernel_word.confirmed(unseen, quarantine_fd, token)
    if isinstance(unseen, NotMeasured) and unseen.askable:
        return kernel_word.ask(quarantine_fd, token)
    return unseen


def _named(verdict: Remove, world: World) -> Witness | None:
    """A variable or a record holds a name, not a descriptor: it still says the old one."""
    match world.holders.within(verdict.finding.path):
        case Held(by) if found := [witness for witness in by if witness.kind is WitnessKind.TMPDIR]:
            return found[0]
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
