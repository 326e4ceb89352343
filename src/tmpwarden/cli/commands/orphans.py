"""`tmpwarden orphans`: processes of agent sessions that are gone; `orphans end` ends them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import click

from ...catalogue.process_rows import KINDS
from ...errors import BadArgument, NotFound, Partial, PermissionDenied, TmpwardenError, WouldAsk
from ...lifecycle import orphans
from ...model.processes import Ended, Fate, Orphan
from ...oskit.proc import proven
from ...processes.find import look
from ...text import duration, plural, shown, size
from .. import ask, documents
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import at_least
from ..table import Row, draw

_COLUMNS = (">PID", "AGENT", "SESSION", ">AGE", ">CPU", ">MEMORY", ">TEMP", "PORTS", "VERDICT", "WHY")
_LONGEST_COMMAND = 100
_SHORT_SESSION = 8


@click.group(invoke_without_command=True)
@pass_call
def command(call: Call) -> Answer:
    """List processes that outlived their agent (tool servers, browsers, dev servers) and what they hold.

    A process is listed if it belongs to a session that has ended, or if it is a tool server (MCP) whose standard input
    has no other end any more. It is marked `end` if that is certain and the program is a known kind of leftover; such
    a tool server, if it was seen twice, ten minutes apart. The rest is kept; name a PID to end one of them. An agent
    whose terminal or pipe is closed is listed too, and never ended. So is the oldest of ten or more of the same tool
    server that one running parent has.
    """
    orphans, doubt = look_with_progress(call), proven.doubt()
    data = {"processes": [document(one) for one in orphans], "checked": not doubt}
    return Answer(data, lambda: [not_checked(doubt)] if doubt else lines(orphans, call.for_a_person))


def not_checked(why: str) -> str:
    return f"Which processes have outlived their agent could not be checked here: {why}."


def look_with_progress(call: Call) -> Sequence[Orphan]:
    return look(call.roots, config_file=call.config_file, now_ns=call.now_ns())


@command.command("end")
@click.argument("pids", metavar="[PID]...", nargs=-1, type=at_least(2))
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind of program.")
@click.option("-n", "--dry-run", is_flag=True, help="Show what would be ended, and end nothing.")
@click.option("-f", "--force", "-y", "--yes", "yes", is_flag=True, help="Do not ask.")
@pass_call
def end(call: Call, pids: tuple[int, ...], kind: str | None, dry_run: bool, yes: bool) -> Answer:
    """End the processes marked `end`, or those named by PID: TERM, then KILL after five seconds.

    Processes that may still be needed are refused even by PID: another user's, one at a terminal or in tmux, a
    service, a database, an agent, or one that belongs to a running session or to no session. Each refusal says why.
    """
    if doubt := proven.doubt():
        raise PermissionDenied(not_checked(doubt).rstrip("."), hint="`ps` lists processes, `kill PID` ends one")
    doomed = chosen(call, pids, kind)
    if dry_run or not doomed:
        data = {"effect": "would_end", "ended": [document(one) for one in doomed]}
        return Answer(data, lambda: lines(doomed, call.for_a_person))
    if not yes and not _is_confirmed(call, doomed):
        return Answer({"effect": "ended", "ended": []}, lambda: ["Nothing was ended."])
    ended = end_judged_again(call, doomed, pids, kind)
    survivors = [one for one in ended if one.outcome == "stayed"]
    error = Partial(f"{plural(len(survivors), 'process', 'processes')} did not end") if survivors else None
    data = {"effect": "ended", "ended": [documents.of(one, "pid", "command", "outcome") for one in ended]}
    return Answer(data, lambda: ended_lines(ended), error=error)


def end_judged_again(
    call: Call, doomed: Sequence[Orphan], pids: tuple[int, ...], kind: str | None = None
) -> list[Ended]:
    """Between the list and the yes a number may have become another process."""
    judged_again = {one.pid: one for one in chosen(call, pids, kind)}
    return list(
        orphans.end([one for one in doomed if (again := judged_again.get(one.pid)) and again.start == one.start])
    )


def chosen(call: Call, pids: tuple[int, ...], kind: str | None = None) -> list[Orphan]:
    """Without numbers all that may end, of this kind; with them just those, or an error that says why not."""
    looked_at = look(call.roots, pids=pids, config_file=call.config_file, now_ns=call.now_ns())
    orphan_by_pid = {one.pid: one for one in looked_at}
    if pids and kind:
        raise BadArgument("--kind and process numbers cannot be combined", hint="name the numbers, or the kind")
    if not pids:
        return [
            one for one in orphan_by_pid.values() if one.fate is Fate.END and (kind is None or _is_of_kind(one, kind))
        ]
    for pid in pids:
        if pid not in orphan_by_pid:
            raise NotFound(f"there is no process {pid}", hint="`tmpwarden orphans` lists them")
        if not _can_be_named(orphan_by_pid[pid]):
            raise _refusal(orphan_by_pid[pid])
    return [orphan_by_pid[pid] for pid in dict.fromkeys(pids)]


def _is_of_kind(one: Orphan, kind: str) -> bool:
    return one.row is not None and one.row.kind == kind


def _refusal(one: Orphan) -> TmpwardenError:
    words = f"process {one.pid} ({_short(one.command)}) is not ended: {one.reason}"
    return PermissionDenied(words, hint=f"end it yourself if you are sure: `kill {one.pid}`")


def _can_be_named(one: Orphan) -> bool:
    """What nothing binds to a session has outlived none: it is the user's own, unless nobody can speak to it."""
    return one.fate is not Fate.NEVER and (one.binding is not None or one.is_unheard)


def _is_confirmed(call: Call, doomed: Sequence[Orphan]) -> bool:
    if not call.can_ask:
        raise WouldAsk
    ask.say(lines(doomed, for_a_person=call.for_a_person))
    return ask.yes(question(doomed))


def question(doomed: Sequence[Orphan]) -> str:
    memory = size(sum(one.memory_bytes for one in doomed))
    return f"End {plural(len(doomed), 'process', 'processes')}, {memory} of memory?"


def document(one: Orphan) -> documents.Document:
    return documents.of(one, "pid", "start", "command", "memory_bytes", "held_bytes", "reason") | {
        "agent": one.binding.agent if one.binding else None,
        "session": one.binding.session if one.binding else None,
        "kind": one.row.kind if one.row else None,
        "age_seconds": round(one.age_s),
        "cpu_seconds": round(one.cpu_s, 2),
        "ports": list(one.ports),
        "verdict": "end" if one.fate is Fate.END else "keep",
        "can_be_named": _can_be_named(one),
    }


def lines(orphans: Sequence[Orphan], for_a_person: bool) -> Iterable[str]:
    if not orphans:
        return ["No process outlived its agent."]
    return draw(_COLUMNS, [_row(one) for one in orphans], for_a_person=for_a_person, path_title="COMMAND")


def _row(one: Orphan) -> Row:
    cells = (
        str(one.pid),
        one.binding.agent if one.binding else "?",
        shown((one.binding.session or "")[:_SHORT_SESSION]) if one.binding else "",
        duration(one.age_s),
        duration(one.cpu_s),
        size(one.memory_bytes),
        size(one.held_bytes) if one.held_bytes else "",
        ",".join(map(str, one.ports)),
        "end" if one.fate is Fate.END else "keep",
        shown(one.reason),
    )
    return Row(cells, _short(one.command), "" if one.fate is Fate.END else "dim")


def _short(command: str) -> str:
    return shown(command if len(command) <= _LONGEST_COMMAND else command[: _LONGEST_COMMAND - 1] + "…")


def ended_lines(ended: Sequence[Ended]) -> Iterator[str]:
    words = {"ended": "ended", "killed": "ended, by KILL", "gone": "had already ended", "stayed": "DID NOT END"}
    for one in ended:
        yield f"{one.pid}  {words[one.outcome]}: {_short(one.command)}"
