"""`tmpwarden why PATH`: whose it is, who uses it, what would be lost, and may it go. Any path."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ...catalogue.words import fixed_note
from ...model.answers import Held, Nobody, NotMeasured
from ...model.sweep import Remove, Request, Thresholds, Verdict, Witness
from ...sweep.compose import why
from ...sweep.prepared import Explained
from ...text import duration, plural, shown
from .. import documents, render
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import UntouchedPath
from ..words import explained, owner_words, witness_words

_MOST_WITNESSES = 8


@click.command()
@click.argument("path", type=UntouchedPath())
@click.option("--all", "take_ask", is_flag=True, help="Judge as `clean --all` does.")
@pass_call
def command(call: Call, path: str, take_ask: bool) -> Answer:
    """Whose is PATH, who uses it, what would be lost, and may it go?

    Judged exactly as `clean` judges it; nothing is touched.
    """
    request = Request(roots=call.roots, thresholds=Thresholds(take_ask=take_ask), config_file=call.config_file)
    told = why(path, request, now_ns=call.now_ns)
    return Answer(_document(told), lambda: _lines(told, call.now_ns()))


def _document(told: Explained) -> documents.Document:
    verdict = told.verdict
    unit = {} if verdict is None else documents.identity(verdict.finding)
    if verdict is not None:
        unit["unit"] = unit["path"]
    return unit | {
        "path": told.path,
        "owner": documents.owner(told.owner),
        **documents.users(told.users),
        "verdict": "remove" if isinstance(verdict, Remove) else "keep",
        "reason": None if verdict is None else verdict.reason.value,
        "would_lose": list(told.would_lose),
    }


def _lines(told: Explained, now_ns: int) -> Iterator[str]:
    yield shown(told.path)
    verdict = told.verdict
    if verdict is None:
        yield from _stranger(told)
        return
    finding = verdict.finding
    yield _fact("what", f"{finding.litter.key}, {finding.litter.why}")
    if note := fixed_note(finding.litter):
        yield _fact("note", note)
    if finding.path != told.path:
        yield _fact("part of", render.place(finding) + ", which goes whole or stays whole")
    yield _fact("size", _measured(verdict, now_ns))
    yield _fact("owner", owner_words(told.owner))
    yield from _witnesses(told)
    for each in told.would_lose[1:]:
        yield _fact("would lose", shown(each))
    for each in verdict.evidence.git_entries:
        yield _fact("note", f"a worktree of {shown(each)}, whose list of worktrees a clean leaves alone")
    yield _fact("verdict", f"{'can go' if isinstance(verdict, Remove) else 'kept'}: {explained(verdict)}")
    if isinstance(verdict, Remove) and verdict.doubt:
        yield _fact("", "goes if the kernel confirms that nobody has it open, and waits in quarantine")


def _stranger(told: Explained) -> Iterator[str]:
    yield _fact("what", "no row of the catalogue knows it, so tmpwarden never touches it")
    yield from _witnesses(told)


def _witnesses(told: Explained) -> Iterator[str]:
    match told.users:
        case NotMeasured(why):
            yield _fact("used by", f"cannot tell: {shown(why)}")
        case Nobody():
            yield _fact("used by", "nobody")
        case Held(by):
            yield from _processes(by)


def _processes(by: tuple[Witness, ...]) -> Iterator[str]:
    by_process = {(each.kind, each.pid): each for each in reversed(by)}
    for each in list(by_process.values())[: -_MOST_WITNESSES - 1 : -1]:
        yield _fact("used by", witness_words(each))
    if len(by_process) > _MOST_WITNESSES:
        yield _fact("", f"and {len(by_process) - _MOST_WITNESSES} more; --json tells all")


def _measured(verdict: Verdict, now_ns: int) -> str:
    measure, seconds = verdict.evidence.measure, documents.age_s(verdict, now_ns)
    if measure is None or seconds is None:
        return "could not be measured"
    entries = plural(measure.entries, "entry", "entries")
    return f"{render.amount([verdict])} in {entries}, last changed {duration(seconds)} ago"


def _fact(name: str, words: str) -> str:
    return f"  {name:<10}  {words}"
