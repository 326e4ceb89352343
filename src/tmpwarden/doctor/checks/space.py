"""Room: which file systems are full or will be, what fills them, and what gives it back."""

import errno
import os
import time
from collections.abc import Iterator

from ...lazy_dataclass import dataclass, field
from ...model.answers import Held
from ...model.processes import GrowingFile
from ...model.sweep import Diagnosis, Remove, Space, Unmatched, Verdict
from ...model.terms import OwnerState
from ...oskit.files import own_files, places, space
from ...oskit.files.opening import closing
from ...oskit.files.space import percent_of_bytes, percent_of_inodes, percent_of_quota, percent_used
from ...oskit.proc import procs, proven
from ...oskit.proc.namespaces import MountTable
from ...oskit.proc.open_files import open_files
from ...processes import end, runaway
from ...processes.find import observe, question
from ...sweep.store import books, history, quarantine
from ...sweep.store.expiry import directories
from ...sweep.store.history import Growing, Steady, TooFew, Trend
from ...text import about, plural, quoted, shown, size
from .. import relief
from ..patient import Patient
from ..read_only import read_only
from ..relief import bytes_of

_NEARLY = 80
_NO_BYTES, _NO_INODES = 1 << 20, 16  # less than that is nothing to an agent; 98% of a large disk is not


def check_room(patient: Patient) -> Iterator[Diagnosis]:
    """How full each temp root is: bytes, inodes and this user's quota."""
    seen: set[tuple[str, ...]] = set()
    for room in patient.spaces:
        roots = relief.together(patient, room)
        if roots in seen:
            continue
        seen.add(roots)
        for name, percent, is_full, words, effect in (*_bytes(room), *_inodes(room), *_quota(room)):
            where = _where(room, roots)
            if not is_full and percent < _NEARLY:
                yield Diagnosis("room", "ok", f"{where}: {percent}% of its {name} are used.", words)
                continue
            counts = "inodes" if name == "inodes" else "bytes"
            help_ = relief.relief(patient, room, counts=counts)
            summary = (
                f"{where} {_FULL.get(name, f'has reached {room.quota_of}')}: {effect}."
                if is_full
                else f"{where}: {percent}% of its {name} are used."
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
        effect = "no file can be created there, even if `df` shows free space"
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


_SOON_S = 24 * 3600.0


def check_forecast(patient: Patient) -> Iterator[Diagnosis]:
    """Where each temp root is heading, by the history of its usage, and what was given back so far."""
    state = patient.prepared.state
    known = history.read(state, lately=True)
    for room, trend in zip(patient.spaces, history.trends(known, patient.spaces, patient.now_ns()), strict=True):
        yield _filling(patient, room, trend)
    if (so_far := books.saved_so_far(state)).entries:
        freed = f"{size(so_far.bytes)}, {plural(so_far.entries, 'entry', 'entries')}"
        yield Diagnosis("forecast", "ok", f"tmpwarden has freed {freed} so far.")


def _filling(patient: Patient, room: Space, trend: Trend) -> Diagnosis:
    match trend:
        case Growing(what, _, full_in_s, over_s):
            summary = f"{shown(room.path)} {history.sentence(trend)}."
            pace = f"at the rate of the last {about(over_s)}"
            if full_in_s is None or full_in_s > _SOON_S:
                return Diagnosis("forecast", "ok", summary, pace)
            help_ = relief.relief(patient, room, counts="inodes" if what == "inodes" else "bytes")
            return Diagnosis("forecast", "warn", summary, "; ".join(filter(None, (pace, help_.words))), help_.command)
        case Steady():
            return Diagnosis("forecast", "ok", f"{shown(room.path)} does not grow.")
        case TooFew():
            return Diagnosis("forecast", "ok", f"{shown(room.path)}: its growth is not known yet.")


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


def check_ghosts(patient: Patient) -> Iterator[Diagnosis]:
    """Deleted but open files: space that no rm gives back until the processes that hold them let go."""
    if why := proven.doubt():
        yield Diagnosis("ghosts", "unknown", f"deleted files that are still open could not be looked for here: {why}.")
        return
    ghosts_by_path = _look(patient.roots)
    shown_ghosts = [(room, ghosts_by_path[room.path]) for room in patient.spaces if room.path in ghosts_by_path]
    shown_ghosts = [(room, ghosts) for room, ghosts in shown_ghosts if ghosts.bytes >= _WORTH_TELLING]
    for room, ghosts in shown_ghosts:
        yield _ghosts_on(room, ghosts)
    if not shown_ghosts:
        yield Diagnosis("ghosts", "ok", "no process holds much deleted data open in a temp root.")


def _ghosts_on(room: Space, ghosts: _Ghosts) -> Diagnosis:
    pid = ghosts.worst
    everybody = ghosts.sharing_with(pid)
    who = f"{shown(procs.described(pid, None) or 'a process')} (pid {pid})"
    summary = (
        f"{size(ghosts.held_by(pid))} in {shown(room.path)} are deleted but held open by {who}: `rm` cannot free them."
    )
    holders = len({pid for pids in ghosts.holders.values() for pid in pids})
    detail = f"{plural(holders, 'process holds', 'processes hold')} {size(ghosts.bytes)} in all"
    is_short = percent_used(room) >= _SHORT_PERCENT
    matters = is_short and ghosts.bytes * _MUCH >= room.bytes_used
    return Diagnosis("ghosts", "fail" if matters else "warn", summary, detail, f"kill {' '.join(map(str, everybody))}")


def _look(roots: tuple[str, ...]) -> dict[str, _Ghosts]:
    ghosts_by_path: dict[str, _Ghosts] = {}
    table = MountTable.of()
    for pid in procs.pids():
        for file in open_files(pid, roots, table):
            if file.is_deleted:
                root = next(root for root in roots if file.path.startswith(root.rstrip("/") + "/"))
                ghosts = ghosts_by_path.setdefault(root, _Ghosts())
                ghosts.sizes[file.identity] = file.allocated_bytes
                if pid not in (holders := ghosts.holders.setdefault(file.identity, [])):
                    holders.append(pid)
    return ghosts_by_path


_BETWEEN_TWO_LOOKS_S = 0.5


def check_runaway(patient: Patient) -> Iterator[Diagnosis]:
    """A file that grows while somebody writes it, and processes that the brake has stopped."""
    inquiry = question(patient.roots, config_file=patient.request.config_file)
    first = runaway.sample(observe(inquiry), inquiry.roots)
    growing_files: tuple[GrowingFile, ...] = ()
    if first:  # most machines have none: no time is spent on a second look
        began_s = time.monotonic()
        time.sleep(_BETWEEN_TWO_LOOKS_S)
        second = runaway.sample(observe(inquiry), inquiry.roots)
        before = {key: file.allocated_bytes for key, file in first.items()}
        spaces = [space.space_of(root) for root in inquiry.roots]
        growing_files = runaway.growth(before, second.values(), time.monotonic() - began_s, spaces)
    runaways = [one for one in growing_files if runaway.is_runaway(one)]
    for one in runaways:
        remedy = f"tmpwarden brake --stop {one.file.writers[0].pid}" if one.file.writers else "tmpwarden brake"
        yield Diagnosis("runaway", "fail", shown(runaway.sentence(one)) + ".", "", remedy)
    if paused := end.stopped():
        words = plural(len(paused), "process was paused by the brake", "processes were paused by the brake")
        detail = "; ".join(f"{one.pid} {shown(one.command)}" for one in paused[:3])
        yield Diagnosis(
            "runaway", "warn", f"{words} and is still paused.", detail, f"tmpwarden brake --resume {paused[0].pid}"
        )
    elif not runaways:
        yield Diagnosis("runaway", "ok", "no file is growing without limit.")


_PROBE = b"\0" * (64 << 10)
_OF_EVERYBODY = ("tmp", "temp", "shm")  # what such a directory is called
_CAUSES = {
    errno.EDQUOT: "your disk quota there is used up",
    errno.ENOSPC: "no space is left",
    errno.EROFS: "it is mounted read-only",
    errno.EACCES: "you cannot write there",
    errno.EPERM: "you cannot write there",
}


def check_probe(patient: Patient) -> Iterator[Diagnosis]:
    """Write 64 KiB and see: quotas and mounts that no number shows. The only thing the doctor writes."""
    if not patient.may_probe:
        yield Diagnosis("probe", "ok", "no test write was made (--no-probe).")
        return
    for room in patient.spaces:
        number = _write(room.path)
        if number == 0:
            yield Diagnosis("probe", "ok", f"a test write of 64 KiB to {shown(room.path)} succeeded.")
            continue
        cause = _CAUSES.get(number, os.strerror(number).lower())
        summary = (
            f"a test write to {shown(room.path)} failed: {cause}, so commands fail there, often without a message."
        )
        detail, remedy = errno.errorcode.get(number, str(number)), _probe_remedy(patient, room, number)
        if number == errno.EROFS and (stuck := read_only(room.path)):
            detail, remedy = "; ".join(filter(None, (detail, stuck.detail))), stuck.command
        yield Diagnosis("probe", "fail", summary, detail, remedy)


def _probe_remedy(patient: Patient, room: Space, number: int) -> str:
    sudo = "" if os.geteuid() == 0 else "sudo "
    if number in (errno.EACCES, errno.EPERM):
        status = os.stat(room.path)
        if status.st_uid == os.geteuid():
            return f"chmod u+rwx {quoted(room.path)}"
        is_everybodys = status.st_uid == 0 and os.path.basename(room.path) in _OF_EVERYBODY
        return f"{sudo}chmod 1777 {quoted(room.path)}" if is_everybodys else f"ls -ld {quoted(room.path)}"
    high = patient.prepared.settings.pressure_high_percent
    return relief.relief(patient, room, is_unseen=number == errno.EDQUOT and percent_used(room) < high).command


def _write(root: str) -> int:
    """0, or the error number of the first call that failed. Nothing stays behind."""
    name = ""
    try:
        fd, name = _open(root)
        with closing(fd):
            written = os.write(fd, _PROBE)
            os.fsync(fd)
            return 0 if written == len(_PROBE) else errno.ENOSPC
    except OSError as error:
        return error.errno or errno.EIO
    finally:
        if name:
            own_files.remove_file(name)


def _open(root: str) -> tuple[int, str]:
    """A file without a name where the file system can (it vanishes with us), else one with a name of ours."""
    try:
        if hasattr(os, "O_TMPFILE"):
            return os.open(root, os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, 0o600), ""
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
            raise
    name = f"{root}/.tmpwarden-probe-{os.getpid()}-{os.urandom(4).hex()}"
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600), name


_WORTH_A_WARNING = 1 << 30
_LARGEST_SESSIONS = _LARGEST_GROUPS = 3


def check_consumers(patient: Patient) -> Iterator[Diagnosis]:
    """Who fills the temp roots: by agent, session and owner, and how much of it may go."""
    by_agent: dict[str, int] = {}
    for verdict in patient.verdicts:
        by_agent[_whose(verdict)] = by_agent.get(_whose(verdict), 0) + bytes_of(verdict)
    strange = ", ".join(f"{shown(group.glob)} {_amount(group)}" for group in patient.unmatched[:_LARGEST_GROUPS])
    if not by_agent:
        words = f"not recognised: {strange}" if strange else ""
        yield Diagnosis("consumers", "ok", "agents left nothing behind in the temp roots.", words)
        return
    removable = sum(bytes_of(verdict) for verdict in patient.verdicts if isinstance(verdict, Remove))
    largest = sorted(by_agent, key=lambda name: -by_agent[name])
    detail = ", ".join(f"{name} {size(by_agent[name])}" for name in largest[:5])
    if sessions := _sessions(patient.verdicts):
        detail += f"; largest: {', '.join(sessions)}"
    if strange:
        detail += f"; not recognised: {strange}"
    least = "" if patient.saw_all else "at least "
    amount = size(sum(by_agent.values()))
    summary = f"agents hold {least}{amount} in the temp roots; {size(removable)} of it is removable."
    status = "warn" if removable >= _WORTH_A_WARNING else "ok"
    yield Diagnosis("consumers", status, summary, detail, "tmpwarden clean" if removable else "")


def _amount(group: Unmatched) -> str:
    return f"{'at least ' if group.at_least else ''}{size(group.bytes)}"


def _sessions(verdicts: tuple[Verdict, ...]) -> list[str]:
    """The sessions that hold most, each with what became of its owner."""
    by_session: dict[str, int] = {}
    for verdict in verdicts:
        if session := verdict.evidence.owner.session or verdict.finding.session:
            name = f"session {shown(session)} of {_whose(verdict)}"
            by_session[name] = by_session.get(name, 0) + bytes_of(verdict)
    names = sorted(by_session, key=lambda name: -by_session[name])[:_LARGEST_SESSIONS]
    return [f"{name} {size(by_session[name])}" for name in names]


def _whose(verdict: Verdict) -> str:
    owner = verdict.evidence.owner
    if owner.state is OwnerState.ALIVE or isinstance(verdict.evidence.users, Held):
        return f"{verdict.finding.litter.agent} (live)"
    words = {OwnerState.DEAD: "dead", OwnerState.ABSENT: "gone", OwnerState.NONE: "unowned"}
    return f"{verdict.finding.litter.agent} ({words.get(owner.state, 'unknown owner')})"


_LONG_NS = 24 * 3600 * 10**9


def check_stuck(patient: Patient) -> Iterator[Diagnosis]:
    """What could not be put back: safe in quarantine, never expiring, and waiting for a person."""
    pinned = [
        entry.path
        for directory, _ in directories(patient.prepared)
        for entry in quarantine.stored(directory)
        if entry.name.endswith(quarantine.PINNED) or _was_forgotten(entry)
    ]
    if not pinned:
        yield Diagnosis("stuck", "ok", "nothing has to be moved back by hand.")
        return
    summary = f"{len(pinned)} items could not be moved back; they are safe in quarantine and never expire."
    if len(pinned) == 1:
        summary = "an item could not be moved back; it is safe in quarantine and never expires."
    detail = ", ".join(shown(path) for path in pinned[:5])
    home = quoted(f"{places.home()}/{os.path.basename(pinned[0])}")
    yield Diagnosis("stuck", "fail", summary, detail, f"mv {quoted(pinned[0])} {home}")


def _was_forgotten(entry: quarantine.Stored) -> bool:
    """Taken, never judged, and not put back by the runs since: the journal that told of it is lost."""
    return entry.name.endswith(quarantine.UNDECIDED) and time.time_ns() - entry.taken_ns > _LONG_NS
