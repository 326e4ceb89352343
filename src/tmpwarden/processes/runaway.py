"""Files in temp roots that grow while somebody writes them: sampled, compared, held against limits. Looks only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..model.processes import Breach, GrowingFile, Limits, Sampled, Writer
from ..model.sweep import Space
from ..oskit.proc.namespaces import MountTable
from ..oskit.proc.open_files import OpenFile, open_files
from ..text import size
from .exclusions import ProcessWorld, Suspect, reason_to_spare

WORTH_A_LOOK = 16 << 20  # smaller files fill no disk
_SOON_S = 3600.0
_UNTIL_NEXT_LOOK_S = 2.0  # a running brake looks every second; a look takes part of the next


def sample(
    world: ProcessWorld, roots: Sequence[str], *, least_bytes: int = WORTH_A_LOOK
) -> dict[tuple[int, int], Sampled]:
    """Every file of ours below `roots` that somebody has open for writing, by what it is, not by its name."""
    table = MountTable.of()
    files_by_id: dict[tuple[int, int], list[OpenFile]] = {}
    for pid in world.suspects:
        for file in open_files(pid, roots, table):
            if file.is_written and file.allocated_bytes >= least_bytes:
                files_by_id.setdefault(file.identity, []).append(file)
    return {key: _sampled(files, world) for key, files in files_by_id.items()}


def _sampled(files: list[OpenFile], world: ProcessWorld) -> Sampled:
    first = files[0]
    writers = tuple(_writer(world.suspects[pid], world) for pid in sorted({file.pid for file in files}))
    return Sampled(
        first.path,
        first.is_deleted,
        device=first.device,
        inode=first.inode,
        allocated_bytes=first.allocated_bytes,
        writers=writers,
    )


def _writer(suspect: Suspect, world: ProcessWorld) -> Writer:
    """A live session is no reason to let its command fill the disk; every other reason to spare a process stands."""
    one, binding = suspect.vitals, suspect.binding
    reason = reason_to_spare(Suspect(one, suspect.row, None), world)
    session = binding.session if binding else None
    return Writer(one.pid, one.start, " ".join(one.arguments) or one.name, session, reason)


def growth(
    before: Mapping[tuple[int, int], int], now: Iterable[Sampled], elapsed_s: float, spaces: Sequence[Space]
) -> tuple[GrowingFile, ...]:
    """What each file gained since `before` (its bytes then), and when its root is full at that rate. Fastest first."""
    growing_files = []
    for file in now:
        space = _space_of(file.path, spaces)
        if space is None:
            continue
        gained = file.allocated_bytes - before.get(file.identity, file.allocated_bytes)
        rate = max(0.0, gained / elapsed_s) if elapsed_s > 0 else 0.0
        full_s = space.bytes_free / rate if rate > 0 else None
        growing_files.append(GrowingFile(file, rate, full_s, space.path))
    return tuple(sorted(growing_files, key=lambda one: (-one.bytes_per_s, -one.file.allocated_bytes)))


def _space_of(path: str, spaces: Sequence[Space]) -> Space | None:
    inside = [space for space in spaces if path.startswith(space.path.rstrip("/") + "/")]
    return max(inside, key=lambda space: len(space.path), default=None)


def breaches(files: Sequence[GrowingFile], limits: Limits, spaces: Sequence[Space]) -> tuple[Breach, ...]:
    """Every growing file that a limit speaks of. Blocks count, not the length: a sparse file takes no room."""
    return tuple(
        Breach(one, words, tuple(w for w in one.file.writers if w.session is not None and w.spared is None))
        for one in files
        if one.is_growing and (words := _limit_over(one, files, limits, spaces))
    )


def _limit_over(
    one: GrowingFile, everything: Sequence[GrowingFile], limits: Limits, spaces: Sequence[Space]
) -> str | None:
    if limits.max_file_bytes is not None and one.file.allocated_bytes > limits.max_file_bytes:
        return f"max_file {size(limits.max_file_bytes)}"
    sessions = {writer.session for writer in one.file.writers if writer.session}
    for session in sessions:
        total = sum(o.file.allocated_bytes for o in everything if any(w.session == session for w in o.file.writers))
        if limits.max_session_bytes is not None and total > limits.max_session_bytes:
            return f"max_session {size(limits.max_session_bytes)}"
    space = next((space for space in spaces if space.path == one.root), None)
    least = limits.min_free_percent
    if space is not None and least is not None:
        free_then = space.bytes_free - one.bytes_per_s * _UNTIL_NEXT_LOOK_S  # at 200 MB/s a second later is too late
        if 100 * free_then < least * space.bytes_total:
            return f"min_free {least}%"
    return None


def is_runaway(one: GrowingFile) -> bool:
    """It will fill its root within the hour: what is worth a word without any limit set."""
    return one.seconds_to_full is not None and one.seconds_to_full <= _SOON_S


def sentence(one: GrowingFile) -> str:
    """`/tmp/x.log grows by 200.0 MB/s (pid 12, yes) and fills /tmp in about 6 min`."""
    who = ", ".join(f"pid {writer.pid}, {writer.command[:40]}" for writer in one.file.writers[:2])
    words = f"{one.file.path}{' (deleted)' if one.file.is_deleted else ''} holds {size(one.file.allocated_bytes)}"
    if one.is_growing:
        words += f", grows by {size(int(one.bytes_per_s))}/s"
    words += f" ({who})"
    if one.seconds_to_full is not None:
        words += f" and fills {one.root} in about {_about(one.seconds_to_full)}"
    return words


def _about(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{round(seconds / 3600)} h"
