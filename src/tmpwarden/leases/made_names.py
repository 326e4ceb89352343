"""Note which of the stated names were made: what they are, and the process whose session they belong to."""

from __future__ import annotations

import os

from ..errors import UnsafeScratch
from ..model.belongings import Birth
from ..oskit.files import own_dirs, places
from ..oskit.files.dated import dated_tree
from ..oskit.files.opening import closing
from . import births, claims, record, stated

_COARSE_NS = 10**9  # where no birth time is written down, other times are often whole seconds


def note_made(state: str, file: str, *, looks: bool = False) -> None:
    """What calls stated in `file` and have made: of those that have ended well. `looks`: also at the processes of the
    session, for what its commands in the background go on writing."""
    ended = [statement for statement in stated.read(file) if statement.until_ns]
    if not ended:
        return
    known, new_births = births.read(state), []
    for statement in ended:
        births_of_statement = [
            one for path in statement.paths if (one := _birth_of(path, statement, known.get(path))) is not None
        ]
        if births_of_statement:
            owner = record.lease_for("", statement.agent, statement.session, statement.pid, statement.start)
            births.note_owner(state, owner)
        new_births += births_of_statement
        for path in statement.paths if looks and statement.goes_on else ():
            birth = known.get(path)
            if birth is not None and birth.is_claimed and birth.session == statement.session:
                claims.look_for_writers(state, birth)
    births.note(state, new_births)
    stated.drop(file, ended)


def note_all_made(state: str) -> None:
    """Called by a clean: a session may have been killed before its hooks could note what it had made."""
    try:
        fd = own_dirs.open_private_dir(f"{state}/hooks", make=False)
    except (OSError, UnsafeScratch):
        return
    with closing(fd):
        names = os.listdir(fd)
    for name in names:
        if name.endswith(stated.SUFFIX):
            note_made(state, f"{state}/hooks/{name}")


def _birth_of(path: str, statement: stated.Statement, known: Birth | None) -> Birth | None:
    """Born within the call: what was moved or linked there from elsewhere is older."""
    seen = next(dated_tree(path))[1]
    if seen is None or seen.uid != places.uid() or seen.is_linked:
        return None
    if births.is_same(known, seen) and known is not None and known.owned and known.session == statement.session:
        return None
    who = (statement.agent, statement.session, statement.command)
    if seen.born_ns is None and statement.since_ns - _COARSE_NS <= seen.changed_ns <= statement.until_ns:
        return Birth(path, seen.device, seen.inode, seen.changed_ns, *who, owned=False)  # it has only appeared
    if seen.born_ns is None or not statement.since_ns <= seen.born_ns <= statement.until_ns:
        return None
    return Birth(path, seen.device, seen.inode, seen.born_ns, *who, owned=True)
