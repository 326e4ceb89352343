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
from ..wording import explained, explained_all, owner_text, witness_text

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
    explanations, missing = _explain_all(paths, prepare(request, now_ns=call.now_ns))
    if missing is not None and not explanations:
        raise missing
    documents_of = [_document(each) for each in explanations]
    data = (documents_of[0] if len(paths) == 1 else {}) | {"paths": documents_of}
    return Answer(data, lambda: _all_lines(call, explanations), error=missing)


def _explain_all(paths: tuple[str, ...], prepared: Prepared) -> tuple[list[Explained], NotFound | None]:
    """Of those that are there; and that one is not."""
    explanations: list[Explained] = []
    missing: NotFound | None = None
    for path in paths:
        try:
            explanations.append(explain(path, prepared))
        except NotFound as error:
            missing = missing or error
    return explanations, missing


def _all_lines(call: Call, explanations: Sequence[Explained]) -> Iterator[str]:
    for number, each in enumerate(explanations):
        yield from [""] * (number > 0)
        yield from lines(call, each)


def _document(explanation: Explained) -> documents.Document:
    verdict = explanation.verdict
    unit = {} if verdict is None else documents.identity(verdict.finding)
    if verdict is not None:
        unit["unit"] = unit["path"]
    return (
        unit
        | {
            "path": explanation.path,
            "owner": documents.owner(explanation.owner),
            **documents.users(explanation.users),
            "verdict": "remove" if isinstance(verdict, Remove) else "keep",
            "reason": None if verdict is None else verdict.reason.value,
            "would_lose": list(explanation.would_lose),
        }
        | _of_no_unit(explanation)
    )


def _of_no_unit(explanation: Explained) -> documents.Document:
    """What is known of a path that is no unit itself."""
    document: documents.Document = {}
    if explanation.belongs_to is not None:
        document["belongs_to"] = explanation.belongs_to
    if explanation.undo is not None:
        document |= {"undo": explanation.undo, "was": explanation.was}
    if explanation.birth is not None:
        document["birth"] = birth = {
            "agent": explanation.birth.agent,
            "session": explanation.birth.session,
            "command": explanation.birth.command,
            "born": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(explanation.birth.born_ns / 1e9)),
            "owned": explanation.birth.is_claimed,
        }
        if explanation.birth.demoted:
            birth["demoted"] = explanation.birth.demoted
    if explanation.inside:
        document["inside"] = documents.totals(explanation.inside)
    if explanation.by_name is not None:
        by_name = "remove" if isinstance(explanation.by_name, Remove) else "keep"
        document["by_name"] = {"verdict": by_name, "reason": explanation.by_name.reason.value}
    return document


def lines(call: Call, explanation: Explained) -> Iterator[str]:
    paint = Painter()
    yield paint(shown(explanation.path), "command")
    verdict, now_ns = explanation.verdict, call.now_ns()
    if verdict is None:
        yield from _stranger(call, explanation)
        return
    finding = verdict.finding
    yield _fact("what", f"{finding.litter.key}, {finding.litter.why}")
    if note := fixed_note(finding.litter):
        yield _fact("note", note)
    if finding.path != explanation.path:
        yield _fact("part of", render.place(finding) + ", which is removed or kept as a whole")
    yield from _birth(explanation)
    yield _fact("size", _measured(verdict, now_ns))
    yield _fact("owner", owner_text(explanation.owner))
    yield from _witnesses(explanation)
    for each in explanation.would_lose[1:]:
        yield _fact("would lose", shown(each))
    for each in verdict.evidence.git_entries:
        yield _fact("note", f"a worktree of {shown(each)}; its repository is not changed")
    word = "removable" if isinstance(verdict, Remove) else "kept"
    yield _fact("verdict", f"{paint(word, word)}: {explained(verdict)}")
    if isinstance(verdict, Remove) and verdict.doubt:
        yield _fact("", "removable if the kernel confirms that no process has it open; moved to quarantine only")


def _stranger(call: Call, explanation: Explained) -> Iterator[str]:
    if explanation.undo is not None:
        yield _fact("what", f"in quarantine; it was {shown(explanation.was or '')}")
        yield _fact("undo", f"tmpwarden undo {explanation.undo[:8]}")
        return
    if explanation.belongs_to is not None:
        yield _fact("what", f"belongs to the user {shown(explanation.belongs_to)}, so tmpwarden never touches it")
    elif explanation.inside:
        yield _fact("what", f"not an item itself; {render.counted(explanation.inside)} in it")
    else:
        end = "kept unless you name it" if explanation.by_name is not None else "tmpwarden never touches it"
        yield _fact("what", f"not recognised: {end}")
    yield from _birth(explanation)
    for group in render.groups(explanation.inside):
        verb = "removable" if isinstance(group[0], Remove) else "kept"
        words = f"{render.counted(group)} of {group[0].finding.litter.key} {verb}: {explained_all(group)}"
        yield _fact("inside", words)
    yield from _witnesses(explanation)
    if explanation.by_name is not None:
        verb = "removable" if isinstance(explanation.by_name, Remove) else "kept"
        yield _fact("by name", f"{verb}: {explained(explanation.by_name)}")
        if isinstance(explanation.by_name, Remove):
            yield _fact("", advice.command(call, "clean", explanation.path))


def _birth(explanation: Explained) -> Iterator[str]:
    """`appeared while claude session 3f0e2c5a ran `python3 make.py`, 14:02 on 2026-11-15; it was not used since`."""
    birth = explanation.birth
    if birth is None:
        return
    when = time.strftime("%H:%M on %Y-%m-%d", time.localtime(birth.born_ns / 1e9))
    status = os.lstat(birth.path)
    is_untouched = max(status.st_mtime_ns, status.st_ctime_ns, status.st_atime_ns) - birth.born_ns < _AT_ONCE_NS
    since = "; it was not used since" if is_untouched and isinstance(explanation.users, Nobody) else ""
    words = f"while {shown(birth.agent)} session {shown(birth.session[:8])} ran `{shown(birth.command)}`, {when}{since}"
    yield _fact("appeared", words)
    if birth.demoted:
        yield _fact("", f"no longer attributed to that session: {shown(birth.demoted)}")


def _witnesses(explanation: Explained) -> Iterator[str]:
    match explanation.users:
        case NotMeasured(why):
            yield _fact("used by", f"could not be checked: {shown(why)}")
        case Nobody():
            yield _fact("used by", "no process")
        case Held(by):
            yield from _processes(by)


def _processes(by: tuple[Witness, ...]) -> Iterator[str]:
    by_process = {(each.kind, each.pid): each for each in reversed(by)}
    for each in list(by_process.values())[: -_MOST_WITNESSES - 1 : -1]:
        yield _fact("used by", witness_text(each))
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
