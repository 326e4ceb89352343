"""What each setup changed, with the bytes that were there before: `<state>/setup/<target>.json` and its backups."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator

from ..errors import PermissionDenied, SetupFailed
from ..lazy_dataclass import dataclass
from ..oskit.files import atomic, own_dirs, own_files, places, purge, walk
from ..oskit.files.opening import closing
from ..text import shown
from .edits import Edit, read


@dataclass(frozen=True, slots=True)
class Changed:
    """One file as we left it, where its former bytes are (None: there was no such file), and the directories that were
    made for it."""

    path: str
    digest: str
    backup: str | None
    made: tuple[str, ...] = ()  # the deepest first


@dataclass(frozen=True, slots=True)
class Record:
    target: str
    version: str
    guard: bool = False
    observe: bool = False
    files: tuple[Changed, ...] = ()


def directory() -> str:
    return os.path.join(places.state_dir(), "setup")


def _make_directory() -> None:
    own_dirs.make_private_dir(places.state_dir())
    own_dirs.make_private_dir(directory())


def load(target: str) -> Record | None:
    content = read(os.path.join(directory(), f"{target}.json"))
    try:
        raw = json.loads(content or b"null")
        files = tuple(
            Changed(item["path"], item["digest"], item["backup"], tuple(item.get("made", ()))) for item in raw["files"]
        )
        return Record(raw["target"], raw["version"], bool(raw["guard"]), bool(raw["observe"]), files)
    except (ValueError, TypeError, KeyError):
        return None


def files_of(target: str) -> dict[str, Changed]:
    """What a setup changed, by path; nothing where there was none."""
    known = load(target)
    return {changed.path: changed for changed in known.files} if known else {}


def save(record: Record) -> None:
    _make_directory()
    files = [
        {"path": item.path, "digest": item.digest, "backup": item.backup, "made": item.made} for item in record.files
    ]
    raw = {"target": record.target, "version": record.version, "guard": record.guard, "observe": record.observe}
    atomic.write(os.path.join(directory(), f"{record.target}.json"), json.dumps(raw | {"files": files}, indent=1))


def forget(target: str) -> None:
    files = files_of(target).values()
    for changed in files:
        if changed.backup:
            remove(changed.backup)
    for new_directory in sorted({new_directory for changed in files for new_directory in changed.made}, reverse=True):
        own_files.remove_empty_dir(new_directory)
    remove(os.path.join(directory(), f"{target}.json"))


def apply(edit: Edit, earlier: Changed | None, without_us: bytes | None) -> Changed:
    """Write one edit. What was there before our first change is kept, or, if somebody changed it since, all but us."""
    is_our_work = earlier is not None and earlier.digest == digest(edit.before)
    backup = earlier.backup if earlier is not None and is_our_work else _back_up(edit.path, without_us)
    new_directories = (earlier.made if earlier else ()) or tuple(_missing(os.path.dirname(edit.path)))
    put(edit)
    return Changed(edit.path, digest(edit.after), backup, new_directories)


def _missing(path: str) -> Iterator[str]:
    while not os.path.lexists(path):
        yield path
        path = os.path.dirname(path)


def put(edit: Edit) -> None:
    """Make the file what the edit says. Raises SetupFailed if it is not any more what the edit was made for."""
    if read(edit.path) != edit.before:
        raise SetupFailed(
            f"another program has just changed {shown(edit.path)}; it was not changed", hint="run it again"
        )
    status = os.stat(edit.path) if os.path.exists(edit.path) else None
    if status is not None and status.st_uid != os.geteuid():
        # `sudo -E` leads root here. A file that we write anew is ours, and its owner could not read it any more.
        raise PermissionDenied(shown(edit.path), hint=f"it belongs to uid {status.st_uid}: run it as that user")
    if edit.after is None:
        remove(edit.path)
        return
    own_dirs.make_parents(os.path.dirname(edit.path))
    if status is not None and status.st_nlink > 1:
        atomic.overwrite(edit.path, edit.after)  # a rename would part it from its other names; the backup is there
    else:
        mode = 0o600 if status is None else status.st_mode & 0o777
        atomic.write(edit.path, edit.after, mode, durable=True, like=edit.path)


def remove(path: str) -> None:
    """Take away one file or directory of our own making."""
    try:
        parent = walk.open_dir(os.path.dirname(path))
    except OSError:
        return
    with closing(parent):
        purge.purge_own(parent, os.path.basename(path))


def digest(content: bytes | None) -> str:
    return hashlib.sha256(content).hexdigest() if content is not None else ""


def _back_up(path: str, content: bytes | None) -> str | None:
    if content is None:
        return None
    name = f"{os.path.basename(path)}.{digest(path.encode() + content)[:12]}.before"
    backup = os.path.join(directory(), name)
    _make_directory()
    atomic.write(backup, content, durable=True)
    return backup
