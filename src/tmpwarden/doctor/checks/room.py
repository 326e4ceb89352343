"""How full each temp root is: bytes, inodes and this user's quota."""

from collections.abc import Iterator

from ...model.sweep import Diagnosis, Space
from ...oskit.space import percent_of_bytes, percent_of_inodes, percent_of_quota
from ...text import shown, size
from ..patient import Patient

REMEDY = "tmpwarden clean --yes"
_FULL, _NEARLY = 98, 80


def check(patient: Patient) -> Iterator[Diagnosis]:
    for room in patient.spaces:
        yield from _bytes(room)
        yield from _inodes(room)
        yield from _quota(room)


def _bytes(room: Space) -> Iterator[Diagnosis]:
    percent = percent_of_bytes(room)
    is_full = room.bytes_free == 0
    words = f"{size(room.bytes_free)} of {size(room.bytes_total)} free"
    yield _diagnosis(room, "bytes", max(percent, 100 if is_full else 0), words, "every command that writes there fails")


def _inodes(room: Space) -> Iterator[Diagnosis]:
    if room.inodes_total:
        percent = 100 if room.inodes_free == 0 else percent_of_inodes(room)
        words = f"{room.inodes_free:,} of {room.inodes_total:,} inodes free"
        yield _diagnosis(room, "inodes", percent, words, "no file can be created there, whatever `df` says of bytes")


def _quota(room: Space) -> Iterator[Diagnosis]:
    percent = percent_of_quota(room)
    if percent is not None:
        used, limit = room.quota_used or 0, room.quota_bytes or 0
        words = f"{size(used)} of your {size(limit)} used"
        yield _diagnosis(room, "quota", percent, words, "your writes there fail while `df` still shows room")


def _diagnosis(room: Space, what: str, percent: int, words: str, effect: str) -> Diagnosis:
    where = f"{shown(room.path)} ({room.filesystem})"
    name = {"bytes": "is full", "inodes": "has no inodes left", "quota": "has reached your quota"}[what]
    if percent >= _FULL:
        return Diagnosis("room", "fail", f"{where} {name}: {effect}.", words, REMEDY)
    if percent >= _NEARLY:
        return Diagnosis("room", "warn", f"{where}: {percent} % of its {what} are used.", words, REMEDY)
    return Diagnosis("room", "ok", f"{where}: {percent} % of its {what} are used.", words)
