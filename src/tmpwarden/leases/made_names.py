"""Note which of the stated names were made: their inodes, and the process whose session they belong to."""

from __future__ import annotations

import os

from ..errors import UnsafeScratch
from ..model.belongings import Birth
from ..oskit.files import birth, own_dirs, places, walk
from ..oskit.files.descriptors import closing
from . import births, record, stated

_TICK_NS = 10**7  # the clock of files runs a little behind
_LONGEST_CALL_NS = 3600 * 10**9


def note_made(state: str, file: str) -> list[Birth]:
    """What calls stated in `file` and have made by now."""
    statements = stated.read(file)
    if not statements:
        return []
    known, found = births.read(state), []
    for statement in statements:
        made = [one for path in statement.paths if (one := _made(path, statement, known.get(path))) is not None]
        if made:
            owner = record.lease_for("", statement.agent, statement.session, statement.pid, statement.start)
            births.note_owner(state, owner)
        found += made
    births.note(state, found)
    return found


def note_all_made(state: str) -> None:
    """For whoever cleans: a session may have been killed before its hooks could say what it had made."""
    try:
        fd = own_dirs.open_private_dir(f"{state}/hooks", make=False)
    except (OSError, UnsafeScratch):
        return
    with closing(fd):
        names = os.listdir(fd)
    for name in names:
        if name.endswith(stated.SUFFIX):
            note_made(state, f"{state}/hooks/{name}")


def _made(path: str, statement: stated.Statement, known: Birth | None) -> Birth | None:
    """Born after it was stated, and not much later: what was moved or linked there from elsewhere is older."""
    parent, _, name = path.rpartition("/")
    try:
        with closing(walk.open_dir(parent or "/")) as fd:
            status = os.lstat(name, dir_fd=fd)
            born_ns = birth.born_ns(fd, name)
    except OSError:
        return None
    since_ns = statement.time_ns - _TICK_NS
    if status.st_uid != places.uid() or born_ns is None or not since_ns <= born_ns <= since_ns + _LONGEST_CALL_NS:
        return None
    if births.is_linked(status) or (known is not None and known.stated and births.is_same(known, status)):
        return None
    who = (statement.agent, statement.session, statement.command)
    return Birth(path, status.st_dev, status.st_ino, born_ns, *who, owned=True, stated=True)
