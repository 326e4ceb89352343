"""Settle what an interrupted run left open: every intent ends as taken, put back, or never begun."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...errors import UnsafeScratch
from ...model.answers import Nobody
from ...model.sweep import Measure, Outcome, Reason
from ...oskit.files import take, walk
from ...oskit.files.inplace import purge_in_place
from ..weigh.weigher import Weigher
from . import quarantine
from .journal import Intent, Journal, open_intents

_QUARANTINED, _FINISHED, _UNDER_WAY = "quarantined", "finished", "under way"
_JUDGING_NS = 120 * 10**9  # how long a teardown may take to judge what it took, before it counts as killed


def settle(journal: Journal, weigher: Weigher) -> Iterator[str]:
    """Finish the work of a run that was killed; yields a sentence for each thing a person should know."""
    for intent in open_intents(journal.state):
        ending = _in_place(intent, weigher) if not intent.quarantine else _taken(intent, weigher, journal.state)
        if ending == _UNDER_WAY:
            continue
        if ending == _QUARANTINED:
            _write_receipt(journal, intent, _measure(intent))
        elif ending == _FINISHED:
            _write_receipt(journal, intent, None)
        else:
            journal.note("settled", id=intent.id, path=intent.path, ending=ending)
        if ending == "stuck":
            yield f"{intent.path} could not be put back; it is safe in {intent.quarantine}"


def _measure(intent: Intent) -> Measure | None:
    fd = quarantine.opened(intent.quarantine)
    try:
        return walk.measure(fd, intent.id, uid=os.geteuid(), count_atime=False)
    finally:
        os.close(fd)


def _write_receipt(journal: Journal, intent: Intent, measure: Measure | None) -> None:
    """The receipt that the interrupted run could not write any more: with it, log tells and undo finds the unit."""
    can_return = bool(intent.quarantine) and intent.id.endswith(quarantine.KEPT)
    outcome = Outcome.QUARANTINED if can_return else Outcome.REMOVED
    journal.note(
        "receipt",
        id=intent.id,
        path=intent.path,
        root=intent.root,
        row=intent.row,
        agent=intent.row.partition(".")[0],
        outcome=outcome.value,
        reason=Reason.CHANGED.value,
        bytes=measure.bytes if measure else 0,
        entries=measure.entries if measure else 0,
        freed=0,
        count=intent.count,
        undoable=can_return,
        detail="finished for a run that was interrupted",
    )


def _taken(intent: Intent, weigher: Weigher, state: str) -> str:
    """The unit lies in quarantine, or the rename never happened."""
    if not (quarantine.is_quarantine(intent.quarantine, state) and quarantine.is_token(intent.id)):
        return "not ours"  # somebody edited the line
    try:
        fd = quarantine.opened(intent.quarantine)
    except (OSError, UnsafeScratch):
        return "gone"
    try:
        if not _exists(fd, intent.id):
            return _undecided(fd, intent, weigher)
        _restore_mode(fd, intent)
        if intent.count > 1 or isinstance(weigher.world.users_in(f"{intent.quarantine}/{intent.id}"), Nobody):
            return _QUARANTINED
        return "put back" if _put_back(fd, intent.id, intent) else "stuck"
    finally:
        os.close(fd)


def _undecided(fd: int, intent: Intent, weigher: Weigher) -> str:
    """No law has spoken about what a teardown took and did not come to judge: it goes back, to be heard like any."""
    name = quarantine.renamed(intent.id, quarantine.UNDECIDED)
    try:
        taken_ns = os.lstat(name, dir_fd=fd).st_ctime_ns
    except OSError:
        return "not begun or gone"
    if weigher.now_ns() - taken_ns < _JUDGING_NS:
        return _UNDER_WAY
    return "put back" if _put_back(fd, name, intent) else "stuck"


def _put_back(fd: int, token: str, intent: Intent) -> bool:
    parent, _, name = intent.path.rpartition("/")
    try:
        parent_fd = walk.open_dir(parent)
    except OSError:
        parent_fd = -1
    try:
        if parent_fd >= 0 and take.put_back(fd, token, parent_fd, name):
            return True
    finally:
        if parent_fd >= 0:
            os.close(parent_fd)
    take.rename_within(fd, token, quarantine.renamed(token, quarantine.PINNED))
    return False


def _restore_mode(fd: int, intent: Intent) -> None:
    """The run may have died between making a read-only directory movable and giving its mode back."""
    pinned = take.pin(fd, intent.id)
    try:
        status = os.fstat(pinned)
        if status.st_ino == intent.inode and status.st_mode & 0o7777 != intent.mode and intent.count == 1:
            take.restore_mode(pinned, intent.mode)
    finally:
        os.close(pinned)


def _in_place(intent: Intent, weigher: Weigher) -> str:
    """A tree that was being removed where it lay is half gone: it is finished, unless somebody uses it now."""
    parent, _, name = intent.path.rpartition("/")
    if intent.count > 1:
        return "each member was whole or gone"
    try:
        fd = walk.open_dir(parent)
    except OSError:
        return "gone"
    try:
        pinned = take.pin(fd, name)
    except OSError:
        os.close(fd)
        return "gone"
    try:
        status = os.fstat(pinned)
        is_same = (status.st_dev, status.st_ino) == (intent.device, intent.inode)
        if not is_same or not isinstance(weigher.world.users_in(intent.path), Nobody):
            return "left alone"
        # an inode number alone is no identity (law 6): whatever is younger than the judged unit stops this
        done = purge_in_place(fd, name, pinned, newest_ns=intent.newest_ns, resuming=True)
        return "left alone" if done.left else _FINISHED
    finally:
        os.close(pinned)
        os.close(fd)


def _exists(fd: int, name: str) -> bool:
    try:
        os.lstat(name, dir_fd=fd)
    except OSError:
        return False
    return True
