"""Where temporary files go: that each temp root and TMPDIR is there, ours, answers and is what it seems."""

import fnmatch
import os
import stat
from collections.abc import Iterator

from ...agent_facts import NAMES_IN_TEMP, SHARED_NAMES, TEMP_VARIABLES
from ...errors import UnsafeScratch
from ...leases.static_temp import directories
from ...model.sweep import Diagnosis
from ...oskit.files import own_dirs, places
from ...oskit.files.opening import entry_names
from ...oskit.proc.namespaces import MountTable
from ...oskit.proc.reach import Reach
from ...text import is_within, quoted, shown, size
from .. import relief
from ..patient import Patient
from ..read_only import moved_aside, read_only


def check_frozen(patient: Patient) -> Iterator[Diagnosis]:
    """Mounts that do not answer: a program that touches one waits for ever, so sweeps pass over them."""
    reach = Reach.now()
    frozen = [point for point in reach.risky if _matters(point, patient) and reach.is_frozen_at(point)]
    for point in frozen:
        kind = reach.risky[point].filesystem
        summary = (
            f"the {kind} file system mounted at {shown(point)} does not respond: every program that touches it hangs."
        )
        detail = "scan and clean skip it; when its server is back, the waiting programs continue"
        yield Diagnosis("frozen", "fail", summary, detail, f"umount -l {quoted(point)}")
    if not frozen:
        yield Diagnosis("frozen", "ok", "every mount in or above the temp roots and your home responds.")


def _matters(point: str, patient: Patient) -> bool:
    """In, at or above a place where agents leave something."""
    roots = [root for root in patient.environ.get("TMPWARDEN_ROOTS", "").split(":") if root]
    here = (*patient.request.roots, *roots, *patient.roots, places.home())
    return any(is_within(point, place) or is_within(place, point) for place in here)


def check_squatted(patient: Patient) -> Iterator[Diagnosis]:
    """Directories that must be ours and private: somebody else's in their place stops us, or spies on the agent."""
    is_squatted = False
    for root in patient.roots:
        agents = (f"{root}/{name.format(uid=places.uid())}" for name in NAMES_IN_TEMP)
        for path in (places.ours(root), places.quarantine(root), *agents):
            if problem := _squatter(path):
                is_squatted = True
                cause, remedy = problem
                summary = f"{shown(path)} {cause}: agents and tmpwarden refuse to use it."
                yield Diagnosis("squatted", "fail", summary, "", remedy)
                break  # what is below it is not the point
    for path, uid in _shared_with_others(patient):
        is_squatted = True
        summary = f"{shown(path)} belongs to another user (uid {uid}): an agent that wants this name gets EACCES."
        detail = (
            "versions that use one name for all users; TMPDIR, or a newer version, gives each user one of their own"
        )
        yield Diagnosis("squatted", "warn", summary, detail)
    if not is_squatted:
        yield Diagnosis("squatted", "ok", "the private directories below the temp roots are yours.")


def _shared_with_others(patient: Patient) -> Iterator[tuple[str, int]]:
    """Names that every user's agent wants alike, where another user has them and we cannot write there."""
    for root in patient.roots:
        if Reach.now().frozen(root):
            continue
        for name in entry_names(root):
            path = f"{root.rstrip('/')}/{name}"
            if not any(fnmatch.fnmatchcase(name, glob) for glob in SHARED_NAMES) or os.access(path, os.W_OK):
                continue
            try:
                uid = os.lstat(path).st_uid
            except OSError:
                continue
            if uid != places.uid():
                yield path, uid


def _squatter(path: str) -> tuple[str, str] | None:
    """What is wrong, and the command that rights it without destroying anything."""
    if Reach.now().frozen(path):
        return None  # that check says so
    try:
        status = os.lstat(path)
    except OSError:
        return None
    is_ours = status.st_uid == places.uid()
    sudo = "" if is_ours or places.uid() == 0 else "sudo "
    aside = f"{sudo}{moved_aside(path, '.squatted')}"
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link", aside
    if not is_ours:
        return f"belongs to another user (uid {status.st_uid})", aside
    if not stat.S_ISDIR(status.st_mode):
        return "is not a directory", aside
    return ("can be written by other users", f"chmod 700 {quoted(path)}") if status.st_mode & 0o022 else None


_VARIABLES = ("TMPDIR", *TEMP_VARIABLES, "TMP", "TEMP")
_LONGEST = 60  # sun_path is 108 bytes (104 on macOS), and programs add names of 40 and more


def check_tmpdir(patient: Patient) -> Iterator[Diagnosis]:
    """The variables that name a temp directory: it must exist, be writable, and be short enough for sockets."""
    settings = [(name, patient.environ[name]) for name in _VARIABLES if patient.environ.get(name)]
    settings += [("TMPWARDEN_ROOTS", path) for path in patient.environ.get("TMPWARDEN_ROOTS", "").split(":") if path]
    problems = [problem for name, path in settings if (problem := _trouble_with(name, path))]
    yield from problems
    if not problems:
        words = ", ".join(f"{name}={shown(path)}" for name, path in settings) or "not set: programs use /tmp"
        yield Diagnosis("tmpdir", "ok", "the temp variables name a usable directory.", words)


def _trouble_with(name: str, path: str) -> Diagnosis | None:
    if point := Reach.now().frozen(path):
        summary = f"{name} names {shown(path)}, where the file system mounted at {shown(point)} does not respond."
        return Diagnosis("tmpdir", "fail", summary, "", f"unset {name}")
    effect = "tmpwarden cannot work" if name == "TMPWARDEN_ROOTS" else "mktemp and every program that uses it fail"
    if not path.startswith("/"):
        summary = f"{name} names {shown(path)}, a relative path, so each program uses a different directory."
        return Diagnosis("tmpdir", "fail", summary, "", f"unset {name}")
    if os.path.lexists(path) and not os.path.isdir(path):
        what = "a link that leads nowhere" if not os.path.exists(path) else "not a directory"
        return Diagnosis(
            "tmpdir", "fail", f"{name} names {shown(path)}, which is {what}: {effect}.", "", f"unset {name}"
        )
    if not os.path.isdir(path):
        summary = f"{name} names {shown(path)}, which does not exist: {effect}."
        remedy = f"mkdir -p -m 700 -- {quoted(path)}" if _can_be_made(path) else f"unset {name}"
        return Diagnosis("tmpdir", "fail", summary, "", remedy)
    if name == "TMPWARDEN_ROOTS":
        return None  # the other checks look at roots
    if stuck := read_only(path):
        summary = f"{name} names {shown(path)}, which {stuck.words}: {effect}."
        return Diagnosis("tmpdir", "fail", summary, stuck.detail, f"unset {name}")
    if not os.access(path, os.W_OK | os.X_OK):
        return Diagnosis(
            "tmpdir", "fail", f"{name} names {shown(path)}, which you cannot write to.", "", f"unset {name}"
        )
    if len(os.fsencode(path)) > _LONGEST:
        summary = f"{name} is {len(os.fsencode(path))} bytes long: sockets below it may not fit into 108 bytes."
        return Diagnosis("tmpdir", "warn", summary, shown(path), f"export {name}=/tmp")
    return None


def _can_be_made(path: str) -> bool:
    """By a mkdir: what exists of the way to it is a directory that we may write to, on a disk with room."""
    above = os.path.dirname(path)
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    room = os.statvfs(above)
    has_room = room.f_bavail > 0 and (room.f_favail > 0 or not room.f_files)
    return os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK) and has_room


def check_tempdirs(patient: Patient) -> Iterator[Diagnosis]:
    """The temp directories that agents' settings name: without one, every mktemp of that agent's commands fails."""
    paths = directories(places.state_dir())
    wrong = [problem for path in paths if (problem := _missing(path))]
    yield from wrong
    if not wrong:
        summary = "the temp directories in agents' settings exist."
        yield Diagnosis(
            "tempdirs", "ok", summary if paths else "no agent's settings name a temp directory of tmpwarden."
        )


def _missing(path: str) -> Diagnosis | None:
    agent = os.path.basename(path)
    try:
        os.close(own_dirs.open_private_dir(path, make=False))
    except FileNotFoundError:
        summary = f"{agent} sends its commands to {shown(path)}, which does not exist: every mktemp of theirs fails."
        return Diagnosis("tempdirs", "fail", summary, "", f"mkdir -p -m 700 -- {quoted(path)}")
    except (OSError, UnsafeScratch) as problem:
        summary = f"{agent} sends its commands to {shown(path)}, which cannot be used: {problem}."
        return Diagnosis("tempdirs", "fail", summary, "", f"tmpwarden setup --remove  # {agent} then uses /tmp")
    return None


def check_mounts(patient: Patient) -> Iterator[Diagnosis]:
    """Mount options that change what ages mean."""
    table = MountTable.of()
    unread = [root for root in patient.roots if table is not None and "noatime" in table.options(root)]
    if not unread:
        yield Diagnosis("mounts", "ok", "reading a file in the temp roots counts as use.")
        return
    words = ", ".join(map(shown, unread))
    summary = f"{words} is mounted noatime: reading a file there does not count as use, only changing it does."
    yield Diagnosis("mounts", "ok", summary)


_MUCH_PERCENT = 25


def check_memory(patient: Patient) -> Iterator[Diagnosis]:
    """Temp roots that live in memory: what lies there is taken from every program."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    seen = False
    for room in patient.spaces:
        used = room.bytes_used
        if room.memory_backed and used * 100 >= total * _MUCH_PERCENT:
            seen = True
            summary = f"{shown(room.path)} is kept in memory and uses {used * 100 // total}% of it ({size(used)})."
            help_ = relief.relief(patient, room)
            yield Diagnosis("memory", "warn", summary, help_.words, help_.command)
    if not seen:
        yield Diagnosis("memory", "ok", "no temp root uses much memory.")
