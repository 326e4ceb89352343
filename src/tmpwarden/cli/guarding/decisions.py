"""`tmpwarden guard log` and `stats`: what agents asked for, what ran, and how often which rule spoke."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator

import click

from ...guard.log.history import Entry, Spoken, counted, entries, folded, is_wanted
from ...oskit.files import places
from ...text import shown
from .. import documents
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import age, at_least
from ..table import Row, draw

_LOG = ("TIME", "AGENT", "TOOL", "SAID", "RULE", "ASKED FOR", "RAN")
_STATS = ("SAID", ">TIMES", ">DONE", "RULE", "FOR EXAMPLE")
_LONGEST = 60


@click.command()
@click.option(
    "-n", "--number", type=at_least(1), metavar="COUNT", default=50, show_default=True, help="How many (the newest)."
)
@click.option("--session", metavar="GLOB", help="Only this session.")
@click.option("--agent", metavar="GLOB", help="Only this agent.")
@click.option("--tool", metavar="GLOB", help="Only this tool: shell, read, write, edit, notebook or patch.")
@click.option("--decision", metavar="GLOB", help="Only this decision: allow, ask, deny, pass or mismatch.")
@click.option("--rule", metavar="GLOB", help="Only decisions of this rule, such as 'sandbox:*'.")
@click.option("--grep", metavar="TEXT", default="", help="Only commands that contain TEXT.")
@click.option("--since", metavar="DURATION", type=age, default=None, help="Only the last DURATION, such as 1h30m.")
@pass_call
def log(call: Call, number: int, grep: str, since: int | None, **filters: str | None) -> Answer:
    """List what agents asked to run, what the guard decided, and what ran; newest last."""
    entries = list(deque(_wanted(filters, grep, since), number))
    return Answer({"entries": entries}, lambda: _table(call, entries))


def _wanted(filters: dict[str, str | None], grep: str, since: int | None) -> Iterator[Entry]:
    fields = {key: glob for key, glob in filters.items() if glob is not None}
    since_s = time.time() - since if since is not None else 0.0
    return (
        one for one in folded(entries(places.state_dir())) if is_wanted(one, fields=fields, words=grep, since_s=since_s)
    )


def _table(call: Call, entries: list[Entry]) -> Iterable[str]:
    if not entries:
        return ["The guard has logged nothing that matches."]
    keys = ("time", "agent", "tool", "decision", "rule")
    rows = [
        Row((*(shown(str(one.get(key) or "-")) for key in keys), shown(str(one.get("before") or "")), _ran(one)))
        for one in entries
    ]
    return draw(_LOG, rows, for_a_person=call.for_a_person)


def _ran(entry: Entry) -> str:
    """What ran, in a word where it is what was asked for."""
    ran = entry.get("ran")
    if ran is None:
        return "no" if entry.get("decision") == "deny" else "not seen"
    return "as asked" if ran == entry.get("before") else shown(str(ran))


@click.command()
@click.option("--agent", metavar="GLOB", help="Only this agent.")
@click.option("--rule", metavar="GLOB", help="Only these rules, such as 'git:*'.")
@click.option("--since", metavar="DURATION", type=age, default=None, help="Only the last DURATION, such as 7d.")
@pass_call
def stats(call: Call, since: int | None, **filters: str | None) -> Answer:
    """Count how often each rule applied, and how often you agreed when asked."""
    counts = counted(_wanted(filters, "", since))
    data = {
        "rules": [
            documents.of(one, "said", "times", "done", "last", "example") | {"rule": one.rule or None} for one in counts
        ],
        "decisions": {
            answer: sum(one.times for one in counts if one.said == answer) for answer in {one.said for one in counts}
        },
    }
    return Answer(data, lambda: _counts(call, counts))


def _counts(call: Call, counts: list[Spoken]) -> Iterator[str]:
    if not counts:
        yield "The guard has logged nothing that matches."
        return
    yield from draw(_STATS, [_row(one) for one in counts], for_a_person=call.for_a_person)
    habits = [one.rule for one in counts if one.is_habit and one.rule]
    if habits:
        yield ""
        yield f'You always agreed to this one. To stop the question: [guard] off = ["{habits[0]}"] in config.toml.'


def _row(one: Spoken) -> Row:
    done = str(one.done) if one.said == "ask" else "-"
    return Row((one.said, str(one.times), done, one.rule or "-", _short(one.example)))


def _short(text: str) -> str:
    line = shown(text)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
