"""Who began to use a unit between its judging and its take: asked once more, at its new place and by its old name."""

from __future__ import annotations

from ...model.sweep import Measure, Remove, Witness, WitnessKind
from ...oskit.files import walk
from ..weigh.evidence import World, listens


def user_of(verdict: Remove, world: World, quarantine_fd: int, directory: str, token: str) -> Witness | None:
    """The first witness of life for what lies in quarantine as `token` (a unit, or one member of a swarm), or None."""
    held = world.holders.within(f"{directory}/{token}")
    if held is None:
        return Witness(WitnessKind.NOT_MEASURED, "processes could not be looked at")
    if held:
        return held[0]
    if not verdict.finding.members and (named := _named(verdict, world)):
        return named
    if world.newly_bound or _may_be_locked(verdict, world):
        return _locked_or_bound(world, quarantine_fd, token)
    return None


def _named(verdict: Remove, world: World) -> Witness | None:
    """A variable or a record holds a name, not a descriptor: it still says the old one."""
    inside = world.holders.within(verdict.finding.path) or ()
    if found := [witness for witness in inside if witness.kind is WitnessKind.TMPDIR]:
        return found[0]
    claims = world.owner_of(verdict.finding, verdict.evidence.measure)[1]
    return claims[0] if claims else None


def _may_be_locked(verdict: Remove, world: World) -> bool:
    """By the device; where the kernel names another device than stat does, any new lock may be in there."""
    if type(world.newly_locked) is not frozenset:
        return bool(world.newly_locked)
    return any(device == verdict.finding.device for device, _ in world.newly_locked)


def _locked_or_bound(world: World, quarantine_fd: int, token: str) -> Witness | None:
    """Locks and sockets need a walk, so this is asked only where there may be new ones."""
    measure = walk.measure(quarantine_fd, token, uid=world.uid, count_atime=False, locked=world.newly_locked)
    if measure is None:
        return None
    if measure.locked:
        return Witness(WitnessKind.LOCK, measure.locked[0])
    return bound_socket(measure, quarantine_fd, token)


def bound_socket(measure: Measure, quarantine_fd: int, token: str) -> Witness | None:
    """A socket in a taken unit that somebody has bound, or that cannot be asked."""
    for relative in measure.sockets:
        if listens(quarantine_fd, f"{token}/{relative}".rstrip("/")) is not False:
            return Witness(WitnessKind.SOCKET, relative)
    return None
