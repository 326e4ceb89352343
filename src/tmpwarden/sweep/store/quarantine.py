"""Quarantines: private directories, one per mount, in which taken units wait for undo or for their purge.

The name of an entry says what may happen to it, so that the directory alone tells the truth when the journal is lost:
`<16 hex>.k` can be brought back until it expires, `<16 hex>.x` is to be purged, `<16 hex>.p` could not be put back
and stays, and so does `<16 hex>.u`: it was taken, and the last word about it has not been spoken yet. Journal and
receipts call an entry by the name that it is to have in the end. Empty files beside them say
what each is: labels.
"""

from __future__ import annotations

import os
import stat

from ...errors import UnsafeScratch
from ...lazy_dataclass import dataclass, field
from ...model.terms import Worth
from ...oskit.files import atomic, own_dirs, own_files, places, purge, space, take
from ...oskit.files.doomed import Bound, expired, resumed
from ...oskit.files.opening import closing
from ...oskit.proc.reach import Reach
from ...oskit.race import race_window as _race_window
from ...text import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...model.answers import Users
    from ...model.sweep import Measure
    from ...oskit.files.roll import Roll

KEPT, DOOMED, PINNED, UNDECIDED = ".k", ".x", ".p", ".u"
LABEL = ".n"
_FOR_GOOD = (PINNED, UNDECIDED)
_NAMES_AHEAD, _BLOCK, _PLENTY, _PLENTIFUL = 150, 1024, 4 << 20, 1000
_HEX = frozenset("0123456789abcdef")
EXPIRY_S = 24 * 3600
_IN_FLIGHT_S = 60  # a run with another state directory may still be looking for users of what it took


def token(worth: Worth, *, quarantine: bool) -> str:
    """A fresh, unguessable name that says what is to become of it."""
    return os.urandom(8).hex() + (KEPT if quarantine and worth is Worth.SOME else DOOMED)


def kept() -> str:
    """A name for what is only put aside, whatever it is worth."""
    return os.urandom(8).hex() + KEPT


def first_name(id_: str) -> str:
    """What an entry is called while it may still have to go back: no run may purge it, however short of room it is."""
    return renamed(id_, UNDECIDED)


def is_token(name: str) -> bool:
    """Whether a name is one of ours, to the letter: nothing else in a quarantine is ever touched."""
    return name[16:] in (KEPT, DOOMED, *_FOR_GOOD) and _HEX.issuperset(name[:16])


def is_label(name: str) -> bool:
    """Whether it has the shape of a part of a label (see labels): `<16 hex>.n12~...`, the first of two."""
    mark, number, count, gap = name[16:18], name[18:19], name[19:20], name[20:21]
    is_shaped = _HEX.issuperset(name[:16]) and mark == LABEL and gap == "~" and bool(number and count)
    return is_shaped and _HEX.issuperset(number + count) and "1" <= number <= count


def renamed(name: str, ending: str) -> str:
    return name[: name.rindex(".")] + ending


@dataclass(frozen=True, slots=True)
class Stored:
    """One entry of a quarantine."""

    directory: str
    name: str
    taken_ns: int  # ctime: the rename that brought it here set it, and nothing can set it back

    @property
    def path(self) -> str:
        return f"{self.directory}/{self.name}"

    @property
    def may_go(self) -> bool:
        return not self.name.endswith(_FOR_GOOD)


@dataclass(slots=True)
class Quarantines:
    """Opens, once each, the quarantine on the same mount as a root."""

    state: str
    home_roots: frozenset[str] = frozenset()  # bases of rows that lie in the user's home and not below a temp root
    refusals: dict[str, str] = field(default_factory=dict)  # root -> why nothing may be put beside it
    _fds: dict[str, int] = field(default_factory=dict)
    _directories: dict[str, str] = field(default_factory=dict)

    def directory(self, root: str) -> str:
        """Where units below `root` go: beside them; home rows below the state directory if that is the same mount."""
        if root not in self._directories:
            self._directories[root] = of_home(self.state) if root in self.home_roots else beside(root)
        return self._directories[root]

    def open(self, root: str) -> int | None:
        """A descriptor, or None where the quarantine cannot be made now. Only a full disk is no refusal (law 7)."""
        path = self.directory(root)
        if path not in self._fds:
            try:
                self._fds[path] = _make_room(path)
            except UnsafeScratch as squatted:
                self.refusals[root] = str(squatted)
                return None
            except OSError as error:
                is_full = error.errno in atomic.NO_ROOM
                if not (is_full and _is_out_of_room(path)):
                    but = ", although there is room" if is_full else ""
                    self.refusals[root] = f"the quarantine {shown(path)} cannot be opened: {error.strerror}{but}"
                return None
        return self._fds[path]

    def close(self) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()


def _make_room(path: str) -> int:
    """One refusal for want of room proves nothing, and what is removed in place cannot come back: tried once more."""
    try:
        return opened(path, make=True)
    except OSError as error:
        if error.errno not in atomic.NO_ROOM:
            raise
        return opened(path, make=True)


def _is_out_of_room(path: str) -> bool:
    """A call that is refused for want of room, however often, proves no full disk: its numbers must say so, or it must
    take no other file either."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return space.has_no_room(path)


def beside(root: str) -> str:
    return places.quarantine(root)


def of_home(state: str) -> str:
    return f"{state}/q"


def opened(directory: str, *, make: bool = False) -> int:
    """A descriptor of a quarantine, `<temp root>/tmpwarden-<uid>/q` or `<state>/q`: its last two components are ours.

    Raises UnsafeScratch where they are not, FileNotFoundError where there is none.
    """
    above, name = os.path.split(directory)
    base, ours = os.path.split(above)
    if point := Reach.now().frozen(directory):
        raise UnsafeScratch(shown(directory), f"the file system mounted at {shown(point)} does not respond")
    is_new = make and not os.path.lexists(directory)
    fd = own_dirs.open_ours(base, ours, name, make=make)
    if is_new:
        _grow(fd)
    return fd


def squatted(roots: Iterable[str], state: str) -> Iterator[str]:
    """A sentence for each quarantine that is there and cannot be used, with its path and its owner."""
    for directory in dict.fromkeys((*map(beside, roots), of_home(state))):
        try:
            os.close(opened(directory))
        except FileNotFoundError:
            continue  # nothing was ever put there
        except UnsafeScratch as refused:
            owner = "" if "(uid " in str(refused) else _owner_of(directory)
            yield f"{refused}{owner}: nothing can be moved to quarantine there or brought back"
        except OSError as error:
            why = error.strerror or str(error)
            yield f"the quarantine {shown(directory)} cannot be opened: {why.lower()}{_owner_of(directory)}"


def _owner_of(directory: str) -> str:
    """Of the first of the two names that is not a directory of ours alone, for a person who has to find out."""
    if Reach.now().frozen(directory):
        return ""  # looking would hang
    for path in (os.path.dirname(directory), directory):
        try:
            status = os.lstat(path)
        except OSError:
            continue
        if status.st_uid != os.geteuid() or not stat.S_ISDIR(status.st_mode) or status.st_mode & 0o022:
            return f" (owner of {shown(path)}: uid {status.st_uid})"
    return f" (owner: uid {os.geteuid()})"


def has_plenty(room: os.statvfs_result) -> bool:
    """Whether there is room for what is made ahead; less is left for those who need it now. btrfs counts no inodes."""
    return room.f_bavail * room.f_frsize >= _PLENTY and (not room.f_files or room.f_favail >= _PLENTIFUL)


def _grow(fd: int) -> None:
    """Make room for long names while there is some: a fresh directory of ext4 has it for 15 of them, or 3, and keeps
    what it once had. Others find room for names as long as they have an inode."""
    room = os.fstatvfs(fd)
    if os.fstat(fd).st_size < _BLOCK or not room.f_files or not has_plenty(room):
        return
    count = _NAMES_AHEAD * max(1, 4 * _BLOCK // room.f_frsize)  # the smaller a block, the sooner one is full
    names = [f"{os.urandom(8).hex()}{LABEL}11~{'-' * 225}" for _ in range(count)]
    try:
        for name in names:
            os.mknod(name, dir_fd=fd)
    except OSError:
        return  # as far as it goes
    finally:
        for name in names:
            own_files.remove_file(name, fd)


def is_quarantine(directory: str, state: str) -> bool:
    """Whether a path that was read somewhere can be one of ours at all."""
    root = os.path.dirname(os.path.dirname(directory))
    return directory in (beside(root), of_home(state))


@dataclass(frozen=True, slots=True)
class Contents:
    """What lies in one quarantine: our own entries, oldest first, and anything else, which is left alone."""

    entries: tuple[Stored, ...] = ()
    strangers: tuple[str, ...] = ()
    refusal: str = ""  # why nothing in there is touched


def contents(directory: str) -> Contents:
    try:
        fd = opened(directory)
    except UnsafeScratch as unsafe:
        return Contents(refusal=str(unsafe))
    except OSError:
        return Contents()
    with closing(fd):
        names = os.listdir(fd)
        all_entries = [_looked_at(fd, directory, name) for name in names if is_token(name)]
    entries = sorted((entry for entry in all_entries if entry is not None), key=lambda entry: entry.taken_ns)
    return Contents(tuple(entries), tuple(sorted(name for name in names if not (is_token(name) or is_label(name)))))


def _looked_at(fd: int, directory: str, name: str) -> Stored | None:
    try:
        return Stored(directory, name, os.lstat(name, dir_fd=fd).st_ctime_ns)
    except FileNotFoundError:
        return None


def stored(directory: str) -> tuple[Stored, ...]:
    """What lies in one quarantine, oldest first."""
    return contents(directory).entries


def holds(directory: str, name: str) -> bool:
    """Whether the entry lies there. Raises OSError where that cannot be looked at: it is not gone then."""
    try:
        with closing(opened(directory)) as fd:
            os.lstat(name, dir_fd=fd)
    except (FileNotFoundError, UnsafeScratch):
        return False
    return is_token(name)


def destroy(
    entry: Stored, bound: Bound, users: Users, measured: Measure | None = None, roll: Roll | None = None
) -> purge.Purged:
    """Give the space of a kept entry back for good: `bound` held it while it was looked at, `users` is what that said.
    Doomed by its name first: undo must never bring back half of it."""
    with closing(opened(entry.directory)) as fd:
        name = renamed(entry.name, DOOMED)
        doomed = expired(bound, fd, name, users)
        try:
            take.rename_within(fd, entry.name, name)
        except FileNotFoundError:
            return purge.Purged(0, 0, (), 0)  # undo was faster
        _race_window("doomed, not yet purged")
        return _placed(purge.purge(doomed, measured=measured, roll=roll), entry, name)


def finish(entry: Stored) -> purge.Purged:
    """Destroy what its name calls doomed: half of it may be gone."""
    with closing(opened(entry.directory)) as fd:
        try:
            with resumed(fd, entry.name) as doomed:
                purged = purge.purge(doomed)
        except FileNotFoundError:
            return purge.Purged(0, 0, (), 0)
        return _placed(purged, entry, entry.name)


def _placed(purged: purge.Purged, entry: Stored, name: str) -> purge.Purged:
    purged.place = f"{entry.directory}/{name}"
    return purged


def is_expired(entry: Stored, now_ns: int, expiry_s: int = EXPIRY_S) -> bool:
    """Doomed entries are leftovers of an interrupted run: the settling of intents has spoken for them already."""
    if not entry.may_go:
        return False
    return now_ns - entry.taken_ns >= (_IN_FLIGHT_S if entry.name.endswith(DOOMED) else expiry_s) * 10**9
