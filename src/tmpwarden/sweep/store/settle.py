"""Settle what an interrupted run left open: every intent ends as taken, put back, gone or never begun."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import suppress

from ...errors import UnsafeScratch
from ...model.answers import Nobody
from ...model.sweep import Evidence, Finding, Measure, Remove
from ...model.terms import Outcome, OwnerState, Reason
from ...oskit.files import kernel_word, own_files, purge, take
from ...oskit.files.doomed import resumed
from ...oskit.files.inplace import purge_in_place
from ...oskit.files.opening import closing
from ...text import shown
from ..find import scan
from ..prepared import Prepared
from ..take import recheck
from ..take.doubt import may_only_wait
from ..take.recheck import users_of
from ..weigh.evidence import inspect_git
from . import labels, quarantine, way_back
from .expiry import directories
from .journal import Intent, Journal, ended_well, entries, good_end, open_intents
from .way_back import remove_left

_TAKEN, _FINISHED, _UNDER_WAY = "taken", "finished", "under way"
_GONE = ("not begun or gone", "gone")
_JUDGING_NS = 120 * 10**9  # how long a teardown may take to judge what it took, before it counts as killed


def settle(journal: Journal, prepared: Prepared) -> Iterator[str]:
    """Finish the work of a run that was killed; yields a sentence for each thing a person should know."""
    yield from _settle_labels(journal, prepared)
    open_intents_ = list(_open_intents(journal, prepared))
    if ended_well(journal.state) and not open_intents_:
        return
    way_back.mend(journal)
    yield from remove_left(journal)
    intents = (*open_intents(journal.state), *open_intents_)
    receipts = {receipt["id"]: receipt for receipt in labels.receipts_of_gone(journal.state, intents, prepared.roots)}
    for intent in intents:
        measure = None
        if intent.quarantine:
            ending, measure = _in_quarantine(intent, prepared)
        else:
            ending = _in_place(intent, prepared)
        if ending == _UNDER_WAY:
            continue
        if ending in (_TAKEN, _FINISHED):
            _write_receipt(journal, intent, measure)
        elif ending in _GONE and (receipt := receipts.get(intent.id)):
            journal.note(str(receipt.pop("t")), **receipt)
        else:
            journal.note("settled", id=intent.id, path=intent.path, ending=ending)
        if ending == "stuck":
            yield f"{intent.path} could not be moved back; it is safe in {intent.quarantine}"


def _settle_labels(journal: Journal, prepared: Prepared) -> Iterator[str]:
    """What a run without room had taken, and its name tells: it goes back, or what was begun is finished."""
    for directory in labels.carriers(journal.state, prepared.roots):
        with closing(labels.opened(directory)) as fd:
            for name in filter(labels.is_carried, os.listdir(fd)):
                label, place = labels.read_carried(fd, name, directory), f"{shown(directory)}/{shown(name)}"
                if label is None:
                    yield f"{place} does not match its name, and is left alone"
                elif label.intent.id.endswith(quarantine.DOOMED):
                    with suppress(OSError):  # the next run tries again
                        _finish(journal, fd, name, label)
                elif way_back.put_back(fd, name, label.intent.root, label.intent.path):
                    journal.note("settled", id=label.intent.id, path=label.intent.path, ending="put back")
                else:
                    yield f"{shown(label.intent.path)} could not be moved back; it is safe in {place}"


def _finish(journal: Journal, fd: int, name: str, label: labels.Label) -> None:
    """Emptied first, then told, and only then without its name, as the run before would have done."""
    identity = label.intent.device, label.intent.inode, None
    with resumed(fd, name, identity=identity) as doomed:
        purge.empty(doomed)
        if journal.open() and _is_recorded(journal, label):
            purge.purge(doomed)


def _is_recorded(journal: Journal, label: labels.Label) -> bool:
    """The journal has a receipt of it, now at the latest."""
    if any(entry.get("id") == label.intent.id for entry in entries(journal.state, "receipt")):
        return True
    receipt = label.as_receipt()
    return journal.note(str(receipt.pop("t")), **receipt)


def _open_intents(journal: Journal, prepared: Prepared) -> Iterator[Intent]:
    """By the labels in quarantine: what was begun and no journal tells of. What has ended is told, and unlabelled."""
    end = good_end(journal.state)
    for fd, directory, labelled in labels.listings(directory for directory, _ in directories(prepared)):
        still_open = [
            one
            for one in labelled
            if not (_is_before(end, one.parts) and one.name.endswith((quarantine.KEPT, quarantine.PINNED)))
        ]
        wanted = {one.digits for one in still_open}
        ended = _in_journal(journal, wanted, labels.ENDINGS)
        settled = ended | _in_journal(journal, wanted, ("intent",))
        for one in still_open:
            is_recorded = one.digits in (settled if one.name else ended)
            yield from _by_label(
                journal, prepared, fd, directory, parts=one.parts, token=one.name, is_recorded=is_recorded
            )


def _is_before(end: tuple[str, str] | None, parts: tuple[str, ...]) -> bool:
    """Whether it was taken before the run that ended well ended, and so stands in the journal: a later run may have
    found no room for a line."""
    birth = labels.made(parts)
    return end is not None and birth is not None and (birth[0] == end[0] or birth[1] < end[1])


def _in_journal(journal: Journal, wanted: set[str], kinds: tuple[str, ...]) -> frozenset[str]:
    """Those of which the journal has such a line. An intent tells enough of what lies there: it is settled by that; of
    what is gone only how it ended."""
    if not wanted:
        return frozenset()
    return frozenset(each for entry in entries(journal.state, *kinds) if (each := str(entry.get("id"))[:16]) in wanted)


def _by_label(
    journal: Journal,
    prepared: Prepared,
    fd: int,
    directory: str,
    *,
    parts: tuple[str, ...],
    token: str,
    is_recorded: bool,
) -> Iterator[Intent]:
    if is_recorded and token:
        return
    id_ = parts[0][:16] + (quarantine.DOOMED if not token or token.endswith(quarantine.DOOMED) else quarantine.KEPT)
    label = labels.read(fd, directory, journal.state, parts, id_)
    if label is None:
        return
    if token.endswith(quarantine.UNDECIDED):
        yield label.intent
        return
    if not token and prepared.now_ns() - label.time_s * 10**9 < _JUDGING_NS:
        return  # somebody may be about to take it
    if not token and (is_recorded or labels.is_back(label.intent)):
        labels.remove(fd, parts)
    elif token or journal.open():
        receipt = label.as_receipt()
        is_recorded = journal.note(str(receipt.pop("t")), **receipt)
        labels.remove(fd, parts if is_recorded and not token else ())


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
        detail="finished after an interrupted run",
    )


def _in_quarantine(intent: Intent, prepared: Prepared) -> tuple[str, Measure | None]:
    """The unit lies in quarantine under one of two names, or it was never taken, or it is gone."""
    if not (quarantine.is_quarantine(intent.quarantine, prepared.state) and quarantine.is_token(intent.id)):
        return "not ours", None  # somebody edited the line
    try:
        fd = quarantine.opened(intent.quarantine)
    except (OSError, UnsafeScratch):
        fd = -1
    try:
        names = (intent.id, quarantine.first_name(intent.id))
        token = next((name for name in names if own_files.exists(name, fd)), "") if fd >= 0 else ""
        if not token:
            _restore_mode_in_place(intent)
            return _GONE[0], None
        _restore_mode(fd, token, intent)
        ending, measure = _settled(fd, token, intent, prepared)
        if ending == "put back":
            labels.remove(fd, labels.by_token(os.listdir(fd)).get(intent.id[:16], ()))
        return ending, measure
    finally:
        if fd >= 0:
            os.close(fd)


def _settled(fd: int, token: str, intent: Intent, prepared: Prepared) -> tuple[str, Measure | None]:
    if token.endswith(quarantine.DOOMED):
        return _TAKEN, None  # decided: part of it may be gone already
    measure = recheck.measured_inside(prepared.weigher.world, fd, token)
    if token.endswith(quarantine.UNDECIDED) and not intent.newest_ns:  # a teardown's, which takes before it judges
        taken_ns = os.lstat(token, dir_fd=fd).st_ctime_ns
        if prepared.now_ns() - taken_ns < _JUDGING_NS:
            return _UNDER_WAY, None
        may_stay = False  # no law has spoken about it: it goes back, to be heard like any other
    else:
        may_stay = measure is not None and not _is_wanted(fd, token, intent, prepared, measure)
    if not may_stay:
        return ("put back" if way_back.put_back(fd, token, intent.root, intent.path) else "stuck"), None
    if token != intent.id:
        take.rename_within(fd, token, intent.id)
    return _TAKEN, measure


def _is_wanted(fd: int, token: str, intent: Intent, prepared: Prepared, measure: Measure) -> bool:
    """What the killed run would have asked: who uses it now, here or by its old name, and is it as it was judged."""
    finding = prepared.finder.unit_that_was(intent.path, os.lstat(token, dir_fd=fd))
    if finding is None:  # no row speaks of it any more, so nobody can say whose it is
        return token.endswith(quarantine.UNDECIDED) or _is_held(intent, prepared, token)
    world = prepared.weigher.world
    judged = Evidence(world.owner_of(finding, measure)[0], Nobody(), measure)
    if _is_spared(finding, judged, prepared):
        return True
    verdict = Remove(finding, judged, Reason.CHANGED)
    for_good = intent.id.endswith(quarantine.DOOMED)
    users = users_of(
        verdict, world, quarantine_fd=fd, directory=intent.quarantine, token=token, inside=measure, for_good=for_good
    )
    is_in_doubt = world.is_in_doubt(f"{intent.quarantine}/{token}", measure)
    if not isinstance(users, Nobody) or (token != intent.id and is_in_doubt and may_only_wait(finding)):
        return True
    return _has_changed(intent, measure) or _has_git_work(finding, judged, fd, token)


def _is_spared(finding: Finding, evidence: Evidence, prepared: Prepared) -> bool:
    """Whether the user has since put it on the keep list (or may have), or resumed its session."""
    standing = prepared.weigher.standing_of(finding, evidence)
    is_kept = standing.is_protected or standing.keep_listed is not None or standing.unread is not None
    return is_kept or evidence.owner.state is OwnerState.ALIVE


def _has_git_work(finding: Finding, evidence: Evidence, fd: int, token: str) -> bool:
    """The run may have died before it saved that (`[rescue] git`): back with it, to be heard and saved again."""
    return not finding.litter.git_disposable and inspect_git(finding, evidence, fd, token).git_losses != ()


def _is_held(intent: Intent, prepared: Prepared, token: str) -> bool:
    return not isinstance(prepared.weigher.world.users_in(f"{intent.quarantine}/{token}"), Nobody)


def _has_changed(intent: Intent, now: Measure) -> bool:
    """Journals of older versions do not say how many entries it had."""
    judged = Measure(intent.newest_ns, 0, 0, intent.entries or now.entries)
    return bool(intent.newest_ns) and recheck.change(judged, now) is not None


def _restore_mode(fd: int, name: str, intent: Intent) -> None:
    """The run may have died between making a read-only directory movable and giving its mode back."""
    if intent.count == 1:
        way_back.restore_mode(fd, name, intent.mode, (intent.device, intent.inode))


def _restore_mode_in_place(intent: Intent) -> None:
    """The same for a unit that was not taken, or went back. Its inode number alone is no identity (law 6): it must have
    the mode that we gave it, and no entry may have come or gone since it was judged."""
    parent, name = os.path.split(intent.path)
    try:
        with closing(scan.open_below(intent.root, parent)) as fd:
            if os.lstat(name, dir_fd=fd).st_mtime_ns <= intent.newest_ns or not intent.newest_ns:
                _restore_mode(fd, name, intent)
    except OSError:
        return  # it is gone


def _in_place(intent: Intent, prepared: Prepared) -> str:
    """A tree that was being removed where it lay is half gone: it is finished, unless somebody uses it now."""
    parent, name = os.path.split(intent.path)
    if intent.count > 1:
        return "each member was whole or gone"
    try:
        fd = scan.open_below(intent.root, parent)
    except OSError:
        return _GONE[1]
    with closing(fd):
        try:
            doomed = resumed(fd, name, identity=(intent.device, intent.inode, intent.born_ns or None))
        except OSError as error:
            return "left alone" if error.errno == errno.ESTALE else _GONE[1]
        with doomed:
            world = prepared.weigher.world
            finding = prepared.finder.unit_that_was(intent.path, os.lstat(name, dir_fd=fd))
            if finding is not None:
                owner, claims = world.owner_of(finding, None)
                if claims or _is_spared(finding, Evidence(owner, Nobody(), None), prepared):
                    return "left alone"
            users = kernel_word.confirmed(world.users_in(intent.path), fd, name)
            if not isinstance(users, Nobody):
                return "left alone"
            # where no birth was noted an inode number is no identity (law 6): whatever is younger stops this
            outcome = purge_in_place(doomed, newest_ns=intent.newest_ns, links=intent.links)
            return "left alone" if outcome.left else _FINISHED
