"""Deleted but open files: space that no rm gives back until the processes that hold them let go."""

from collections.abc import Iterator

from ...lazy_dataclass import dataclass, field
from ...model.sweep import Diagnosis, Space
from ...oskit.files.space import percent_used
from ...oskit.proc import procs
from ...oskit.proc.namespaces import MountTable
from ...oskit.proc.open_files import open_files
from ...text import plural, shown, size
from ..patient import Patient

_WORTH_TELLING = 16 << 20
_SHORT_PERCENT, _MUCH = 80, 4  # where it matters: the root is short, and a quarter of what is used is this


@dataclass
class _Ghosts:
    """The deleted files of one root: how big each is, and who holds it."""

    sizes: dict[tuple[int, int], int] = field(default_factory=dict)
    holders: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return sum(self.sizes.values())

    def held_by(self, pid: int) -> int:
        return sum(self.sizes[file] for file, pids in self.holders.items() if pid in pids)

    @property
    def worst(self) -> int:
        pids = sorted({pid for pids in self.holders.values() for pid in pids})
        return max(pids, key=self.held_by)

    def sharing_with(self, pid: int) -> list[int]:
        """Everybody who holds a file that `pid` holds: it is free when the last of them has let go."""
        return sorted({other for pids in self.holders.values() if pid in pids for other in pids})


def check(patient: Patient) -> Iterator[Diagnosis]:
    found = _look(patient.roots)
    told = [(room, found[room.path]) for room in patient.spaces if room.path in found]
    told = [(room, ghosts) for room, ghosts in told if ghosts.bytes >= _WORTH_TELLING]
    for room, ghosts in told:
        yield _diagnosis(room, ghosts)
    if not told:
        yield Diagnosis("ghosts", "ok", "no process holds much deleted data open in a temp root.")


def _diagnosis(room: Space, ghosts: _Ghosts) -> Diagnosis:
    pid = ghosts.worst
    everybody = ghosts.sharing_with(pid)
    who = f"{shown(procs.described(pid, None) or 'a process')} (pid {pid})"
    summary = f"{size(ghosts.held_by(pid))} in {shown(room.path)} are deleted but held open by {who}: no rm frees them."
    holders = len({pid for pids in ghosts.holders.values() for pid in pids})
    detail = f"{plural(holders, 'process holds', 'processes hold')} {size(ghosts.bytes)} in all"
    is_short = percent_used(room) >= _SHORT_PERCENT
    matters = is_short and ghosts.bytes * _MUCH >= room.bytes_used
    return Diagnosis("ghosts", "fail" if matters else "warn", summary, detail, f"kill {' '.join(map(str, everybody))}")


def _look(roots: tuple[str, ...]) -> dict[str, _Ghosts]:
    found: dict[str, _Ghosts] = {}
    table = MountTable.of()
    for pid in procs.pids():
        for file in open_files(pid, roots, table):
            if file.is_deleted:
                root = next(root for root in roots if file.path.startswith(root.rstrip("/") + "/"))
                ghosts = found.setdefault(root, _Ghosts())
                ghosts.sizes[file.identity] = file.allocated_bytes
                if pid not in (holders := ghosts.holders.setdefault(file.identity, [])):
                    holders.append(pid)
    return found
