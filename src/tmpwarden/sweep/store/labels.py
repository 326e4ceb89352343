"""Labels: what the journal says of a taken item, written into names. A name can be made where no byte can be written.

Beside an entry of a quarantine lies an empty file `<16 hex>.n11~<text>` (`.n13`, `.n23`, `.n33` where the text needs
three names). With it `undo`, `log` and the next run know the entry when the journal is lost or could not be written.
Where no quarantine can be made at all, the item itself carries the text in its name, `.tmpwarden~<text>~<16 hex>.x`, in
the directory nearest to our state or, if that lies on another disk, in one of ours below its temp root: a rename needs
neither a byte nor an inode.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

from ...errors import UnsafeScratch
from ...lazy_dataclass import dataclass, replace
from ...model.terms import Outcome, Reason, Worth
from ...oskit.files import own_dirs, own_files, places, space, take
from ...oskit.files.opening import closing
from ...oskit.proc.reach import Reach
from ..find import known_roots
from . import journal, quarantine
from .journal import Intent, Waiting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...model.sweep import Receipt

_VERSION = "1"
_MARK, _GAP = quarantine.LABEL, "~"
_LONGEST = 250  # bytes of a name
_HEAD = 16 + len(_MARK) + 2 + len(_GAP)  # before the text of one part
_MOST_PARTS = 15
_WORTHS = {worth.value[:2]: worth.value for worth in Worth}
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=@:")
_SLASH = "!"
_DOOMED = stat.S_ISUID | stat.S_ISVTX  # of an item that carries its label, and had neither when it was taken
_FIELDS = 13  # and for a swarm one more: how many
_WENT = (Outcome.REMOVED.value, Outcome.QUARANTINED.value)
ENDINGS = ("receipt", "settled", "undone", "expired")  # lines of the journal that tell how it ended


@dataclass(frozen=True, slots=True)
class Label:
    """What the names beside an entry, or its own name, tell of it."""

    intent: Intent
    run: str
    time_s: int
    bytes: int

    def as_receipt(self) -> dict[str, Any]:
        """As the journal would have it, were it there."""
        intent, can_return = self.intent, self.intent.id.endswith(quarantine.KEPT)
        return {
            "time": _stamp(self.time_s),
            "run": self.run,
            "t": "receipt",
            "id": intent.id,
            "path": intent.path,
            "row": intent.row,
            "agent": intent.row.partition(".")[0],
            "root": intent.root,
            "outcome": (Outcome.QUARANTINED if can_return else Outcome.REMOVED).value,
            "reason": Reason.CHANGED.value,
            "bytes": self.bytes,
            "entries": intent.entries,
            "freed": 0,
            "count": intent.count,
            "undoable": can_return,
            "detail": "known from file names in quarantine, not from the journal",
        }


def names_of(label: Label) -> tuple[str, ...]:
    """Of the empty files beside the entry; none where it cannot be told in names."""
    text, token, room = _text(label), label.intent.id[:16], _LONGEST - _HEAD
    parts = [text[at : at + room] for at in range(0, len(text), room)]
    if len(parts) > _MOST_PARTS:
        return ()
    return tuple(f"{token}{_MARK}{number:x}{len(parts):x}{_GAP}{part}" for number, part in enumerate(parts, 1))


def write(fd: int, label: Label) -> tuple[str, ...]:
    """The names that were made in a quarantine; none where they could not be."""
    names = names_of(label)
    for number, name in enumerate(names):
        try:
            os.mknod(name, stat.S_IFREG | 0o600, dir_fd=fd)  # fails on a name that is there
        except OSError:
            remove(fd, names[:number])
            return ()
    return names


def remove(fd: int, names: Iterable[str]) -> None:
    """What stays is removed by a later run, as its entry is gone."""
    for name in names:
        own_files.remove_file(name, fd)


def tell_swarm(fd: int, receipt: Receipt, directory: str, run: str) -> bool:
    """Of worthless single files that are gone, and of which no journal could tell: how many there were, and where."""
    finding, count = receipt.finding, len(receipt.finding.members)
    intent = Intent(
        id=receipt.id,
        path=finding.path,
        root=finding.root,
        row=finding.litter.key,
        quarantine=directory,
        worth=finding.litter.worth.value,
        mode=0,
        device=0,
        inode=0,
        count=count,
        entries=count,
    )
    return write(fd, Label(intent, run, int(time.time()), receipt.bytes)) != ()


def name_with(label: Label, directory: str) -> str | None:
    """The name of an item that carries its own label there; None where that is too long for a name."""
    name = f"{places.CARRIED}{_text(label, directory)}{_GAP}{label.intent.id}"
    return name if len(name) <= _LONGEST else None


def is_carried(name: str) -> bool:
    return name.startswith(places.CARRIED) and name.count(_GAP) == 2 and quarantine.is_token(name.rpartition(_GAP)[2])


def by_token(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The names of each label, by the digits of its entry."""
    names_by_token: dict[str, list[str]] = {}
    for name in names:
        if quarantine.is_label(name):
            names_by_token.setdefault(name[:16], []).append(name)
    return {digits: tuple(sorted(parts)) for digits, parts in names_by_token.items()}


def made(names: tuple[str, ...]) -> tuple[str, str] | None:
    """By which run the label was made, and when, as the journal writes it; None if it does not say so."""
    try:
        _, run, seconds, *_ = names[0][_HEAD:].split(",")
        return run, _stamp(int(seconds, 16))
    except (IndexError, ValueError, OverflowError, OSError):
        return None


def _stamp(time_s: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_s))


def read(fd: int, directory: str, state: str, names: tuple[str, ...], id_: str) -> Label | None:
    """What the parts say of the entry that is called `id_`; None where one is missing, is not ours, or says what cannot
    be of this quarantine."""
    count = int(names[0][19], 16) if names else 0
    if not names or [name[18:20] for name in names] != [f"{number:x}{count:x}" for number in range(1, count + 1)]:
        return None
    if not all(_is_empty_and_ours(fd, name) for name in names):
        return None
    label = _decoded("".join(name[_HEAD:] for name in names), id_, directory)
    if label is None or directory not in (quarantine.beside(label.intent.root), quarantine.of_home(state)):
        return None
    return label


def read_carried(fd: int, name: str, directory: str) -> Label | None:
    """The same of an item that carries its label: it must be the very item that was taken."""
    _, text, id_ = name.split(_GAP)
    label = _decoded(text, id_, directory, is_carried=True)
    try:
        status = os.lstat(name, dir_fd=fd)
    except OSError:
        return None
    if label is None or status.st_uid != os.geteuid():
        return None
    is_same = (status.st_dev, status.st_ino) == (label.intent.device, label.intent.inode)
    if is_same and status.st_mode & _DOOMED == _DOOMED and not label.intent.mode & _DOOMED:
        label = replace(label, intent=replace(label.intent, id=quarantine.renamed(id_, quarantine.DOOMED)))
    return label if is_same else None


def mark_doomed(fd: int, name: str) -> bool:
    """Say by its mode what another name would say. A small directory of a full xfs has no room for a second one. Never
    of a file: its other names, which stay, would get that mode too."""
    with closing(take.pin(fd, name)) as pinned:
        status = os.fstat(pinned)
        can_say_so = stat.S_ISDIR(status.st_mode) and not status.st_mode & _DOOMED
        return can_say_so and take.restore_mode(pinned, stat.S_IMODE(status.st_mode) | _DOOMED)


def _is_empty_and_ours(fd: int, name: str) -> bool:
    try:
        status = os.lstat(name, dir_fd=fd)
    except OSError:
        return False
    is_plain = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
    return is_plain and status.st_size == 0 and status.st_uid == os.geteuid()


def _text(label: Label, carrier: str = "") -> str:
    """`carrier`: where it carries this itself, as short as can be: a small directory on a full xfs has room for 165
    bytes. The way to a carrier from which it comes is left out, and so is what nobody asks of what lies there."""
    intent, newest_ns = label.intent, 0 if carrier else label.intent.newest_ns
    numbers = (label.time_s, intent.mode, intent.device, intent.inode, newest_ns, intent.entries, label.bytes)
    fields = [_VERSION, label.run, *(f"{number:x}" for number in numbers), intent.worth[:2], _quoted(intent.row)]
    is_inside = os.path.dirname(carrier) == intent.root and intent.path.startswith(f"{carrier}/")
    root, start = ("", carrier) if is_inside else (intent.root, intent.root)
    below = intent.path[len(start) :] if intent.path.startswith(start) else ""
    swarm = [] if intent.count == 1 else [f"{intent.count:x}"]
    return ",".join((*fields, _quoted(root), _quoted(below), *swarm))


def _decoded(text: str, id_: str, directory: str, *, is_carried: bool = False) -> Label | None:
    fields = text.split(",")
    if len(fields) not in (_FIELDS, _FIELDS + 1) or fields[0] != _VERSION:
        return None
    run, worth, row, root = fields[1], _WORTHS.get(fields[9], ""), _unquoted(fields[10]), _unquoted(fields[11])
    below = _unquoted(fields[12])
    if is_carried and not root:
        root, below = os.path.dirname(directory), f"/{os.path.basename(directory)}{below}"
    try:
        time_s, mode, device, inode, newest_ns, entries, size = (int(field, 16) for field in fields[2:9])
        count = int(fields[_FIELDS], 16) if len(fields) > _FIELDS else 1
    except ValueError:
        return None
    path = root + below
    is_path = os.path.isabs(path) and os.path.normpath(path) == path and "\0" not in path + row
    is_inside = bool(below.lstrip("/")) and path.startswith(root.rstrip("/") + "/")
    if not (worth and is_path and count > 0 and (is_inside or (count > 1 and path == root))):
        return None
    intent = Intent(
        id=id_,
        path=path,
        root=root,
        row=row,
        quarantine=directory,
        worth=worth,
        mode=mode,
        device=device,
        inode=inode,
        count=count,
        newest_ns=newest_ns,
        entries=entries,
    )
    return Label(intent, run, time_s, size)


def _quoted(text: str) -> str:
    if text.isascii() and _PLAIN.issuperset(text.replace("/", "").encode()):
        return text.replace("/", _SLASH)
    raw = os.fsencode(text)
    return "".join(_SLASH if byte == 47 else chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw)


def _unquoted(text: str) -> str:
    first, *rest = text.replace(_SLASH, "/").encode("utf-8", "replace").split(b"%")
    try:
        return os.fsdecode(first + b"".join(bytes((int(part[:2], 16),)) + part[2:] for part in rest))
    except ValueError:
        return ""


def nearest(state: str) -> str | None:
    """The deepest directory on the way to our state that is ours alone to write; None where there is none."""
    return next(on_the_way(state), None)


def places_for(state: str, root: str, path: str) -> Iterator[str]:
    """Where an item that carries its label may go: as near to our state as can be, or on its own disk."""
    if (directory := nearest(state)) is not None:
        yield directory
    first = path[len(root) :].strip("/").partition("/")[0]
    yield from (directory for directory in _private_below(root) if directory in (places.ours(root), f"{root}/{first}"))


def carriers(state: str, roots: Iterable[str]) -> Iterator[str]:
    """Wherever one may have been left."""
    yield from on_the_way(state)
    for root in roots:
        yield from _private_below(root)


def _private_below(root: str) -> Iterator[str]:
    """The directories right below a temp root that have our number in their name and are ours alone; our own first."""
    ending = f"-{places.uid()}"
    try:
        names = [name for name in os.listdir(root) if name.endswith(ending)]
    except OSError:
        return
    for path in sorted((os.path.join(root, name) for name in names), key=lambda path: path != places.ours(root)):
        with suppress(OSError):
            os.close(opened(path))
            yield path


def is_out_of_room(state: str) -> bool:
    """Whether the journal cannot be written because there is no room, and for no other reason."""
    directory = nearest(state)
    return directory is not None and space.has_no_room(directory)


def on_the_way(state: str) -> Iterator[str]:
    """The state directory and those above it, where they are there and ours alone: any may have been the nearest.

    One that a umask of 002 left open to a group (`~/.local`) is passed over: the home above it still serves."""
    path = os.path.realpath(state)
    while path != "/":
        with suppress(OSError):
            os.close(opened(path))
            yield path
        path = os.path.dirname(path)


def opened(path: str) -> int:
    """A descriptor of such a directory. Raises OSError where others can write there, or where it does not respond."""
    if Reach.now().frozen(path):
        raise TimeoutError(errno.ETIMEDOUT, "its file system does not respond", path)
    with closing(own_dirs.open_base(path)) as base:
        status = os.fstat(base)
        if status.st_uid != os.geteuid() or status.st_mode & own_dirs.WRITABLE_BY_OTHERS:
            raise PermissionError(errno.EPERM, "it is not tmpwarden's alone", path)
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=base)


# What waits in quarantine and does lie there: by the journal, or by its labels where the journal does not tell.


def restorable(state: str, *, must_read: bool = False) -> Waiting:
    """What can come back, by id: of the journals and, after the loss of one, by the labels in quarantine."""
    result = journal.restorable(state, must_read=must_read)
    result.add(sorted(_by_label(state, result), key=lambda receipt: str(receipt["time"])))
    return result


def _by_label(state: str, known: Waiting) -> Iterator[dict[str, Any]]:
    roots = (*places.temp_roots(extra=known_roots.remembered()), *known_roots.quarantined())
    for directory in dict.fromkeys((*map(quarantine.beside, roots), quarantine.of_home(state))):
        try:
            fd = quarantine.opened(directory)
        except (OSError, UnsafeScratch):
            continue
        with closing(fd):
            names = os.listdir(fd)
            names_without_intent = [
                name for name in names if name.endswith(quarantine.KEPT) and quarantine.is_token(name)
            ]
            names_without_intent = [name for name in names_without_intent if name not in known]
            parts = by_token(names) if names_without_intent else {}
            for name in names_without_intent:
                if label := read(fd, directory, state, parts.get(name[:16], ()), name):
                    yield label.as_receipt()


def unrecorded(state: str) -> list[dict[str, Any]]:
    """Receipts of what is gone, or waits in quarantine, and of which no receipt tells, oldest first: by names, and by
    the intents of what is gone."""
    roots = (*places.temp_roots(extra=known_roots.remembered()), *known_roots.quarantined())
    labels_by_token = {label.intent.id[:16]: label for label in (*_beside(state, roots), *_carrying(state, roots))}
    for entry in journal.entries(state, *ENDINGS) if labels_by_token else ():
        labels_by_token.pop(str(entry.get("id"))[:16], None)
    by_name = [label.as_receipt() for label in labels_by_token.values()]
    paths_by_name = {receipt["path"] for receipt in by_name}
    by_intent = receipts_of_gone(state, journal.open_intents(state), roots)
    by_intent = [receipt for receipt in by_intent if receipt["path"] not in paths_by_name]
    return sorted((*by_name, *by_intent), key=lambda receipt: str(receipt["time"]))


def receipts_of_gone(state: str, intents: Iterable[Intent], roots: Iterable[str]) -> list[dict[str, Any]]:
    """Of those open intents whose items lie nowhere any more: the disk had room for the intent, and none for the
    receipt. What a later attempt of the same run took has that one's receipt, or carries its label."""
    missing = {intent.id: intent for intent in intents if _is_gone(intent, state)}
    carried_paths = {label.intent.path for label in _carried_labels(state, roots)} if missing else set()
    receipts: dict[str, dict[str, Any]] = {}  # by path
    for line in journal.entries(state, "intent", "receipt") if missing else ():
        id_, path = str(line.get("id")), str(line.get("path"))
        if line.get("t") == "receipt" and line.get("outcome") in _WENT:
            receipts.pop(path, None)
        elif line.get("t") == "intent" and id_ in missing and path not in carried_paths:
            receipts[path] = _receipt_of_gone(missing[id_], line)
    return list(receipts.values())


def _receipt_of_gone(intent: Intent, line: dict[str, Any]) -> dict[str, Any]:
    label = Label(replace(intent, id=intent.id[:16] + quarantine.DOOMED), str(line.get("run")), 0, 0)
    detail = "it is gone, and the run that was to remove it did not record how that ended"
    return label.as_receipt() | {"id": intent.id, "time": line.get("time"), "detail": detail}


def _is_gone(intent: Intent, state: str) -> bool:
    """Neither where it was taken from nor in quarantine. What cannot be looked at is not gone."""
    if intent.count > 1 or Reach.now().frozen(intent.path) or not os.path.isdir(intent.root):
        return False
    try:
        status = os.lstat(intent.path)
        if (status.st_dev, status.st_ino) == (intent.device, intent.inode):
            return False
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError:
        return False
    return not intent.quarantine or _has_left_quarantine(intent, state)


def _has_left_quarantine(intent: Intent, state: str) -> bool:
    """By whatever last name it had there."""
    if not (quarantine.is_quarantine(intent.quarantine, state) and quarantine.is_token(intent.id)):
        return False  # somebody edited the line
    try:
        with closing(quarantine.opened(intent.quarantine)) as fd:
            return not any(name[:16] == intent.id[:16] and quarantine.is_token(name) for name in os.listdir(fd))
    except FileNotFoundError:
        return True
    except (OSError, UnsafeScratch):
        return False


@dataclass(frozen=True, slots=True)
class Labelled:
    """What a label in a quarantine directory stands for."""

    digits: str
    parts: tuple[str, ...]  # the names of the label's files
    name: str  # of the entry that lies there; "" where there is none


def listings(directories: Iterable[str]) -> Iterator[tuple[int, str, list[Labelled]]]:
    """Each quarantine directory that can be opened, with its labels. Its descriptor is open until the next one."""
    for directory in directories:
        try:
            fd = quarantine.opened(directory)
        except (OSError, UnsafeScratch):
            continue
        with closing(fd):
            names = os.listdir(fd)
            entries = {name[:16]: name for name in names if quarantine.is_token(name)}
            labelled = by_token(names).items()
            yield fd, directory, [Labelled(digits, parts, entries.get(digits, "")) for digits, parts in labelled]


def _beside(state: str, roots: Iterable[str]) -> Iterator[Label]:
    directories = dict.fromkeys((*map(quarantine.beside, roots), quarantine.of_home(state)))
    for fd, directory, labelled in listings(directories):
        for one in labelled:
            name = one.name or one.digits + quarantine.DOOMED
            label = None if name.endswith(quarantine.UNDECIDED) else read(fd, directory, state, one.parts, name)
            if label and (one.name or not is_back(label.intent)):
                yield label


def _carrying(state: str, roots: Iterable[str]) -> Iterator[Label]:
    return (label for label in _carried_labels(state, roots) if label.intent.id.endswith(quarantine.DOOMED))


def _carried_labels(state: str, roots: Iterable[str]) -> Iterator[Label]:
    for directory in carriers(state, roots):
        with suppress(OSError), closing(opened(directory)) as fd:
            for name in filter(is_carried, os.listdir(fd)):
                if label := read_carried(fd, name, directory):
                    yield label


def is_back(intent: Intent) -> bool:
    """Whether it lies where it was taken from, or was never taken. Swarms are told of when they are gone."""
    if intent.count > 1:
        return False
    try:
        status = os.lstat(intent.path)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == (intent.device, intent.inode)


def quarantined(state: str) -> Iterator[tuple[str, list[str]]]:
    """Each quarantine, and the names in it that could come back, if anything tells where they were."""
    roots = (*places.temp_roots(extra=known_roots.remembered()), *known_roots.quarantined())
    for directory in dict.fromkeys((*map(quarantine.beside, roots), quarantine.of_home(state))):
        try:
            names = [entry.name for entry in quarantine.stored(directory) if entry.name.endswith(quarantine.KEPT)]
        except OSError:
            continue
        if names:
            yield directory, names


def still_there(entries: Iterable[dict[str, Any]], state: str) -> Iterator[dict[str, Any]]:
    """Those of `restorable` that are there. Where a quarantine cannot be looked into, nothing is said to be gone."""
    names: dict[str, frozenset[str] | None] = {}
    for entry in entries:
        for directory in (quarantine.beside(str(entry.get("root", ""))), quarantine.of_home(state)):
            if directory not in names:
                names[directory] = _names_in(directory)
            held = names[directory]
            if held is None or entry.get("id") in held:
                yield entry
                break


def _names_in(directory: str) -> frozenset[str] | None:
    """None: not measured."""
    try:
        with closing(quarantine.opened(directory)) as fd:
            return frozenset(os.listdir(fd))
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnsafeScratch):
        return None
