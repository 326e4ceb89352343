"""`tmpwarden why PATH`: whose it is, who uses it, what would be lost, and may it go. Any path."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

import click

from ...catalogue.wording import fixed_note
from ...errors import NotFound
from ...model.answers import Held, Nobody, NotMeasured
from ...model.request import Request, Thresholds
from ...model.sweep import Remove, Verdict, Witness
from ...sweep.compose import prepare
from ...sweep.explain import explain
from ...sweep.prepared import Explained, Prepared
from ...text import duration, plural, shown
from .. import advice, documents, render
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import UntouchedPath
from ..paint import Painter
from ..wording import explained, explained_all, owner_told, witness_told

_MOST_WITNESSES = 8
_AT_ONCE_NS = 60 * 10**9


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=UntouchedPath())
@click.option("--all", "take_ask", is_flag=True, help="Show what `clean --all` would remove.")
@pass_call
def command(call: Call, paths: tuple[str, ...], take_ask: bool) -> Answer:
    """Explain PATH: its owner, its current users, and whether it can be removed.

    Uses the same rules as `clean` and changes nothing. For a directory with several items, it gives a summary. For an
    item in quarantine, it prints the command that brings it back.
    """
    request = Request(roots=call.roots, thresholds=Thresholds(take_ask=take_ask), config_file=call.config_file)
    told, missing = _heard(paths, prepare(request, now_ns=call.now_ns))
    if missing is not None and not told:
        raise missing
    documents_of = [_document(each) for each in told]
    data = (documents_of[0] if len(paths) == 1 else {}) | {"paths": documents_of}
    return Answer(data, lambda: _all_lines(call, told), error=missing)


def _heard(paths: tuple[str, ...], prepared: Prepared) -> tuple[list[Explained], NotFound | None]:
    """Of those that are there; and that one is not."""
    told: list[Explained] = []
    missing: NotFound | None = None
    for path in paths:
        try:
            told.append(explain(path, prepared))
        except NotFound as error:
            missing = missing or error
    return told, missing


def _all_lines(call: Call, told: Sequence[Explained]) -> Iterator[str]:
    for number, each in enumerate(told):
        yield from [""] * (number > 0)
        yield from lines(call, each)


def _document(told: Explained) -> documents.Document:
    verdict = told.verdict
    unit = {} if verdict is None else documents.identity(verdict.finding)
    if verdict is not None:
        unit["unit"] = unit["path"]
    return (
        unit
        | {
            "path": told.path,
            "owner": documents.owner(told.owner),
            **documents.users(told.users),
            "verdict": "remove" if isinstance(verdict, Remove) else "keep",
            "reason": None if verdict is None else verdict.reason.value,
            "would_lose": list(told.would_lose),
        }
        | _of_no_unit(told)
    )


def _of_no_unit(told: Explained) -> documents.Document:
    """What is known of a path that is no unit itself."""
    found: documents.Document = {}
    if told.belongs_to is not None:
        found["belongs_to"] = told.belongs_to
    if told.undo is not None:
        found |= {"undo": told.undo, "was": told.was}
    if told.birth is not None:
        found["birth"] = birth = {
            "agent": told.birth.agent,
            "session": told.birth.session,
            "command": told.birth.command,
            "born": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(told.birth.born_ns / 1e9)),
            "owned": told.birth.is_claimed,
        }
        if told.birth.demoted:
            birth["demoted"] = told.birth.demoted
    if told.inside:
        found["inside"] = documents.totals(told.inside)
    if told.by_name is not None:
        by_name = "remove" if isinstance(told.by_name, Remove) else "keep"
        found["by_name"] = {"verdict": by_name, "reason": told.by_name.reason.value}
    return found


def lines(call: Call, told: Explained) -> Iterator[str]:
    paint = Painter()
    yield paint(shown(told.path), "command")
    verdict, now_ns = told.verdict, call.now_ns()
    if verdict is None:
        yield from _stranger(call, told)
        return
    finding = verdict.finding
    yield _fact("what", f"{finding.litter.key}, {finding.litter.why}")
    if note := fixed_note(finding.litter):
        yield _fact("note", note)
    if finding.path != told.path:
        yield _fact("part of", render.place(finding) + ", which is removed or kept as a whole")
    yield from _birth(told)
    yield _fact("size", _measured(verdict, now_ns))
    yield _fact("owner", owner_told(told.owner))
    yield from _witnesses(told)
    for each in told.would_lose[1:]:
        yield _fact("would lose", shown(each))
    for each in verdict.evidence.git_entries:
        yield _fact("note", f"a worktree of {shown(each)}; its repository is not changed")
    word = "removable" if isinstance(verdict, Remove) else "kept"
    yield _fact("verdict", f"{paint(word, word)}: {explained(verdict)}")
    if isinstance(verdict, Remove) and verdict.doubt:
        yield _fact("", "removable if the kernel confirms that no process has it open; moved to quarantine only")


def _stranger(call: Call, told: Explained) -> Iterator[str]:
    if told.undo is not None:
        yield _fact("what", f"in quarantine; it was {shown(told.was or '')}")
        yield _fact("undo", f"tmpwarden undo {told.undo[:8]}")
        return
    if told.belongs_to is not None:
        yield _fact("what", f"belongs to the user {shown(told.belongs_to)}, so tmpwarden never touches it")
    elif told.inside:
        yield _fact("what", f"not an item itself; {render.counted(told.inside)} in it")
    else:
        end = "kept unless you name it" if told.by_name is not None else "tmpwarden never touches it"
        yield _fact("what", f"not recognised: {end}")
    yield from _birth(told)
    for group in render.groups(told.inside):
        verb = "removable" if isinstance(group[0], Remove) else "kept"
        words = f"{render.counted(group)} of {group[0].finding.litter.key} {verb}: {explained_all(group)}"
        yield _fact("inside", words)
    yield from _witnesses(told)
    if told.by_name is not None:
        verb = "removable" if isinstance(told.by_name, Remove) else "kept"
        yield _fact("by name", f"{verb}: {explained(told.by_name)}")
        if isinstance(told.by_name, Remove):
            yield _fact("", advice.command(call, "clean", told.path))


def _birth(told: Explained) -> Iterator[str]:
    """`appeared while claude session 3f0e2c5a ran `python3 make.py`, 14:02 on 2026-11-15; it was not used since`."""
    birth = told.birth
    if birth is None:
        return
    when = time.strftime("%H:%M on %Y-%m-%d", time.localtime(birth.born_ns / 1e9))
    status = os.lstat(birth.path)
    is_untouched = max(status.st_mtime_ns, status.st_ctime_ns, status.st_atime_ns) - birth.born_ns < _AT_ONCE_NS
    since = "; it was not used since" if is_untouched and isinstance(told.users, Nobody) else ""
    words = f"while {shown(birth.agent)} session {shown(birth.session[:8])} ran `{shown(birth.command)}`, {when}{since}"
    yield _fact("appeared", words)
    if birth.demoted:
        yield _fact("", f"no longer attributed to that session: {shown(birth.demoted)}")


def _witnesses(told: Explained) -> Iterator[str]:
    match told.users:
        case NotMeasured(why):
            yield _fact("used by", f"could not be checked: {shown(why)}")
        case Nobody():
            yield _fact("used by", "no process")
        case Held(by):
            yield from _processes(by)


def _processes(by: tuple[Witness, ...]) -> Iterator[str]:
    by_process = {(each.kind, each.pid): each for each in reversed(by)}
    for each in list(by_process.values())[: -_MOST_WITNESSES - 1 : -1]:
        yield _fact("used by", witness_told(each))
    if len(by_process) > _MOST_WITNESSES:
        yield _fact("", f"and {len(by_process) - _MOST_WITNESSES} more; --json lists all")


def _measured(verdict: Verdict, now_ns: int) -> str:
    measure, seconds = verdict.evidence.measure, documents.age_s(verdict, now_ns)
    if measure is None or seconds is None:
        return "could not be checked"
    entries = plural(measure.entries, "entry", "entries")
    return f"{render.amount([verdict])} in {entries}, last changed {duration(seconds)} ago"


def _fact(name: str, words: str) -> str:
    return f"  {name:<10}  {words}"
