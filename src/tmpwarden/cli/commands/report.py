"""`tmpwarden report`: one HTML page of where the space is, what may go, and where it is heading."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import click

from ... import __version__
from ...catalogue.load import load
from ...catalogue.settings import load_settings
from ...errors import BadArgument, NotFound, TmpwardenError
from ...lifecycle.living import living_sessions
from ...model.request import Request
from ...model.terms import Reason
from ...oskit import system
from ...oskit.files import atomic, places
from ...processes.find import look as look_at_processes
from ...report import page, sent
from ...repos.rescue import store
from ...repos.worktrees.compose import TreesWanted, surveyors
from ...setup import apply, timer
from ...sweep.store import books, history, journal
from ...sweep.store.history import Moment
from ...sweep.store.labels import still_there
from ...text import plural, shown, size
from .. import advice, documents
from .. import state as kept_in_home
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import AnsweringPath, write_output
from ..progress import Progress
from ..seen import Seen, look
from ..wording import explained_in, sentence
from .orphans import document as orphan_document
from .rescue import document as rescue_document
from .worktrees import document as tree_document

DEFAULT = "tmpwarden-report.html"
_LARGEST = 512 << 20
_MOST_GROUPS = 2_000
Document = dict[str, Any]


@click.command()
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default=DEFAULT,
    show_default=True,
    type=AnsweringPath(),
    help="The file to write (- is stdout).",
)
@click.option("--open", "opens", is_flag=True, help="Open it in your browser.")
@click.option(
    "--from", "source", metavar="FILE", type=AnsweringPath(), help="Use the output of `scan --json` (- is stdin)."
)
@click.option("--full", is_flag=True, help="Also measure everything that is not recognised, however long it takes.")
@pass_call
def command(call: Call, output: str, opens: bool, source: str | None, full: bool) -> Answer:
    """Write an HTML report: what uses the space, what can be removed, what is kept and why, and a forecast.

    The page loads nothing and sends nothing, and only you can read the file. Its numbers are those
    of `scan --json` at that moment.
    """
    document, findings = _from(source) if source is not None else _from_here(call, full)
    for each in findings:
        each["why"] = explained_in(each)
    roots, command = document["roots"], advice.command(call, "clean")
    document["headline"] = page.sentence(roots, document["totals"], command)
    html = page.written(document | _frame(call, document), findings)
    if output == "-":
        return Answer(_summary(output, html, document), lambda: [html.decode()])
    path = os.path.abspath(output)
    write_output(path, html, 0o600)
    if opens and not _opened(path):
        call.warn("no browser could be started; open the file yourself")
    return Answer(_summary(path, html, document), lambda: [_sentence(document), f"{shown(path)} ({size(len(html))})"])


def _from_here(call: Call, full: bool) -> tuple[Document, list[Document]]:
    seen = look(call, Request(roots=call.roots, config_file=call.config_file), in_full=full)
    document: Document = seen.document()
    findings: list[Document] = document.pop("findings")
    more = besides(call, seen)
    trends = more.pop("trends")
    document["roots"] = [root | {"trend": trend} for root, trend in zip(document["roots"], trends, strict=True)]
    return document | more, findings


def _from(source: str) -> tuple[Document, list[Document]]:
    try:
        if source == "-":
            text = sys.stdin.read(_LARGEST)
        else:
            with open(source, encoding="utf-8", errors="replace", opener=atomic.at_once) as file:
                text = file.read(_LARGEST)
    except FileNotFoundError:
        raise NotFound(f"there is no file {shown(source)}") from None
    try:
        document, findings = sent.read(text)
    except ValueError as problem:
        raise BadArgument(f"{shown(source)} is not the output of `scan --json`: {problem}") from None
    return document | {"source": shown(os.path.basename(source)) if source != "-" else "stdin"}, findings


def _frame(call: Call, document: Document) -> Document:
    """What the page needs beside what was measured, and its texts as a person may see them."""
    groups = document["unmatched"][:_MOST_GROUPS]
    return {
        "schema": 1,
        "version": __version__,
        "made_s": call.now_ns() // 10**9,
        "made": time.strftime("%Y-%m-%d %H:%M", time.localtime(call.now_ns() / 1e9)),
        "roots": [
            root
            | {"name": shown(root["path"]), "percent": page.percent_of_bytes(root)}
            | {"percent_inodes": page.percent_of_inodes(root)}
            for root in document["roots"]
        ],
        "accounts": [each | {"root": shown(each["root"])} for each in document["accounts"]],
        "unmatched": [
            {name: each[name] for name in ("count", "bytes", "entries", "newest_seconds")}
            | {"root": shown(each["root"]), "shape": shown(each["shape"]), "at_least": each.get("at_least", False)}
            for each in groups
        ],
        "reasons": {reason.value: sentence(reason, "a process") for reason in Reason},
        "fullest": shown(fullest["path"]) if (fullest := page.fullest(document["roots"])) else "",
        "unmatched_left_out": len(document["unmatched"]) - len(groups),
        "warnings": [shown(each) for each in call.warnings],
    }


def _opened(path: str) -> bool:
    if system.customs.OPENER:
        return subprocess.run([system.customs.OPENER, path], capture_output=True, check=False).returncode == 0
    import webbrowser
    from urllib.request import pathname2url

    return webbrowser.open(f"file://{pathname2url(path)}")


def _sentence(document: Document) -> str:
    words, command = document["headline"]
    return f"{words} {command}".strip()


def _summary(path: str, html: bytes, document: Document) -> Document:
    return {"path": path, "bytes": len(html), "headline": _sentence(document), "totals": document["totals"]}


_MOST_ROWS = 500
_MOST_POINTS = 1500
_WORKTREES_S = 20.0  # git is asked about each; who wants all of them asks `tmpwarden worktrees`


def besides(call: Call, seen: Seen) -> Document:
    """Each part by itself: what cannot be looked at is told, and the rest is drawn."""
    moments = history.read(places.state_dir())
    with Progress(wanted=not call.json) as progress:
        progress.tell("Looking at processes and worktrees ...")
        return {
            "host": shown(socket.gethostname()),
            "user": shown(places.own_name()),
            "trends": [documents.trend(each) for each in history.trends(moments, seen.roots, seen.now_ns)],
            "history": history_document(moments, [root.path for root in seen.roots]),
            "saved": _saved(),
            "sessions": _or_none(call, "sessions", lambda: _sessions(seen)),
            "quarantine": _or_none(call, "the quarantine", lambda: list(_quarantine(call))),
            "orphans": _or_none(call, "processes", lambda: _orphans(call)),
            "worktrees": _or_none(call, "worktrees", lambda: _worktrees(call)),
            "rescued": _or_none(call, "what was rescued", _rescued),
            "keeps": _or_none(call, "what agents keep in the home", lambda: _keeps(call)),
            "state": _or_none(call, "the agents' settings", lambda: list(_state(call))),
            "timer": _or_none(call, "the timer", timer.state),
        }


def _or_none(call: Call, what: str, look: Any) -> Any:
    try:
        return look()
    except (TmpwardenError, OSError) as error:
        call.warn(f"{what} could not be read: {error}")
        return None


def history_document(moments: Sequence[Moment], roots: Sequence[str]) -> Document:
    """Each root's line as [seconds, used, free] of bytes and of inodes; and what was freed in all, up to then."""
    return {
        "roots": {
            shown(root): [
                [each.at_ns // 10**9, *_levels(each, root)]
                for each in _thin_out([m for m in moments if root in m.roots])
            ]
            for root in roots
        },
        "freed": [[each.at_ns // 10**9, each.freed_bytes] for each in _thin_out(moments)],
    }


def _levels(moment: Moment, root: str) -> tuple[int, int, int, int]:
    seen = moment.roots[root]
    return seen.bytes.used, seen.bytes.free, seen.inodes.used, seen.inodes.free


def _thin_out(moments: Sequence[Moment]) -> Sequence[Moment]:
    """The newest always; of a long history every n-th."""
    step = -(-len(moments) // _MOST_POINTS) or 1
    return list(reversed(moments[::-1][::step]))


def _saved() -> Document:
    return documents.of(books.saved_so_far(places.state_dir()), "bytes", "entries", "runs")


def _sessions(seen: Seen) -> list[Document]:
    sessions = living_sessions(load(), tuple(root.path for root in seen.roots))
    return [_shown(documents.session(each)) for each in sessions[:_MOST_ROWS]]


def _quarantine(call: Call) -> Iterator[Document]:
    """What `undo` can bring back, newest first, and until when."""
    keep_s = load_settings(call.config_file).quarantine_s
    state = places.state_dir()
    for entry in islice(still_there(journal.restorable(state).newest_first(), state), _MOST_ROWS):
        fields = {name: entry.get(name) for name in ("id", "path", "row", "bytes", "entries", "reason", "time")}
        yield _shown(fields) | {"keep_seconds": keep_s}


def _orphans(call: Call) -> list[Document]:
    orphans = look_at_processes(call.roots, config_file=call.config_file)
    return [_shown(orphan_document(each)) for each in orphans[:_MOST_ROWS]]


def _worktrees(call: Call) -> list[Document]:
    documents_, until = [], time.monotonic() + _WORKTREES_S
    with surveyors(TreesWanted((), call.roots, call.config_file), now_ns=call.now_ns) as (surveyor, candidates, _):
        for tree in surveyor.look(candidates):
            document = tree_document(tree)
            documents_.append(
                _shown({name: value for name, value in document.items() if name not in ("items", "held_by")})
            )
            if time.monotonic() > until or len(documents_) == _MOST_ROWS:
                call.warn("not every worktree was checked; `tmpwarden worktrees` checks them all")
                break
    return sorted(documents_, key=lambda each: -(each["bytes"] or 0))


def _rescued() -> list[Document]:
    """As `rescue list --json` has it, newest first, in numbers."""
    rows = [(each, rescue_document(each)) for each in store.everything()[::-1][:_MOST_ROWS]]
    return [
        _shown({name: document[name] for name in ("id", "path", "created", "bytes")})
        | {"repositories": len(each.repositories), "files": len(each.files)}
        for each, document in rows
    ]


def _keeps(call: Call) -> list[Document]:
    """As `scan --state` tells it."""
    now_ns = call.now_ns()
    return [_shown(kept_in_home.document(each, now_ns)) for each in kept_in_home.look(now_ns)]


def _state(call: Call) -> Iterator[Document]:
    """How each agent found here is set up, as `install --json` has it, and what people said must stay."""
    for seen in apply.table():
        state = f"{seen.state}, guard" if seen.guard else seen.state
        yield _shown({"what": seen.name, "state": state, "where": seen.settings})
    yield _shown({"what": "timer", "state": timer.state(), "where": ""})
    kept = load_settings(call.config_file).keep_paths
    yield _shown({"what": "kept by name", "state": plural(len(kept), "path"), "where": ", ".join(kept[:3])})


def _shown(document: Document) -> Document:
    return {name: shown(value) if isinstance(value, str) else value for name, value in document.items()}
