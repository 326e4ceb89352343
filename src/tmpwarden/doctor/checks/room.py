"""How full each temp root is: bytes, inodes and this user's quota."""

from collections.abc import Iterator

from ...model.sweep import Diagnosis, Space
from ...oskit.files.space import percent_of_bytes, percent_of_inodes, percent_of_quota
from ...text import shown, size
from .. import relief
from ..patient import Patient

_NEARLY = 80
_NO_BYTES, _NO_INODES = 1 << 20, 16  # less than that is nothing to an agent; 98 % of a large disk is not


def check(patient: Patient) -> Iterator[Diagnosis]:
    seen: set[tuple[str, ...]] = set()
    for room in patient.spaces:
        roots = relief.together(patient, room)
        if roots in seen:
            continue
        seen.add(roots)
        for name, percent, is_full, words, effect in (*_bytes(room), *_inodes(room), *_quota(room)):
            where = _where(room, roots)
            if not is_full and percent < _NEARLY:
                yield Diagnosis("room", "ok", f"{where}: {percent} % of its {name} are used.", words)
                continue
            counts = "inodes" if name == "inodes" else "bytes"
            help_ = relief.relief(patient, room, counts=counts)
            summary = (
                f"{where} {_FULL.get(name, f'has reached {room.quota_of}')}: {effect}."
                if is_full
                else f"{where}: {percent} % of its {name} are used."
            )
            whose = relief.shares(patient, room, counts) if name != "quota" else ""
            detail = "; ".join(filter(None, (words, help_.words, whose)))
            yield Diagnosis("room", "fail" if is_full else "warn", summary, detail, help_.command)


def _where(room: Space, roots: tuple[str, ...]) -> str:
    """`/tmp and /var/tmp (ext4 at /)`"""
    at = f" at {shown(room.mount_point)}" if room.mount_point not in ("", *roots) else ""
    return f"{' and '.join(map(shown, roots))} ({room.filesystem}{at})"


_FULL = {"bytes": "is full", "inodes": "has no inodes left"}
_Measured = Iterator[tuple[str, int, bool, str, str]]


def _bytes(room: Space) -> _Measured:
    if room.quota_bytes == room.bytes_total:
        return  # a project's quota, which the file system shows as its own size: told once
    words = f"{size(room.bytes_free)} of {size(room.bytes_total)} free"
    is_full = room.bytes_free < min(_NO_BYTES, room.bytes_total // 8 + 1)
    yield "bytes", percent_of_bytes(room), is_full, words, "every command that writes there fails"


def _inodes(room: Space) -> _Measured:
    if room.inodes_total:
        words = f"{room.inodes_free:,} of {room.inodes_total:,} inodes free"
        is_full = room.inodes_free < min(_NO_INODES, room.inodes_total // 8 + 1)
        effect = "no file can be created there, whatever `df` says of bytes"
        yield "inodes", percent_of_inodes(room), is_full, words, effect


def _quota(room: Space) -> _Measured:
    percent = percent_of_quota(room)
    if percent is None:
        return
    words, is_full = [], False
    if room.quota_bytes:
        used = room.quota_used or 0
        words.append(f"{size(used)} of {size(room.quota_bytes)} used")
        is_full |= room.quota_bytes - used < _NO_BYTES
    if room.quota_inodes:
        used = room.quota_inodes_used or 0
        words.append(f"{used:,} of {room.quota_inodes:,} inodes used")
        is_full |= room.quota_inodes - used < _NO_INODES
    yield "quota", percent, is_full, ", ".join(words), "your writes there fail while `df` still shows room"
