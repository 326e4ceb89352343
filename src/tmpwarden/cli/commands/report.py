"""`tmpwarden report`: one HTML page of where the space is, what may go, and where it is heading."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import click

from ... import __version__
from ...errors import BadArgument, NotFound
from ...model.request import Request
from ...model.terms import Reason
from ...oskit.files import atomic
from ...report import headline, sent
from ...report.page import page
from ...text import shown, size
from .. import advice, named_output
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import UntouchedPath
from ..seen import look
from ..wording import explained_in, sentence

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
    type=UntouchedPath(),
    help="Where to; - is stdout.",
)
@click.option("--open", "opens", is_flag=True, help="Show it in your browser.")
@click.option(
    "--from", "source", metavar="FILE", type=UntouchedPath(), help="Draw what `scan --json` wrote; - is stdin."
)
@click.option("--full", is_flag=True, help="Measure what is of no known kind too, however long that takes.")
@pass_call
def command(call: Call, output: str, opens: bool, source: str | None, full: bool) -> Answer:
    """One HTML page: where the space is, what may go, what stays and why, and when a root will be full.

    The page is whole in itself: it loads nothing, sends nothing, and only you can read the file. Its numbers are those
    of `scan --json` at that moment.
    """
    document, findings = _from(source) if source is not None else _from_here(call, full)
    for each in findings:
        each["why"] = explained_in(each)
    roots, command = document["roots"], advice.command(call, "clean")
    document["headline"] = headline.sentence(roots, document["totals"], command)
    made = page(document | _frame(call, document), findings)
    if output == "-":
        return Answer(_told(output, made, document), lambda: [made.decode()])
    path = os.path.abspath(output)
    named_output.write(path, made, 0o600)
    if opens and not _opened(path):
        call.warn("no browser could be started here; open the file yourself")
    return Answer(_told(path, made, document), lambda: [_sentence(document), f"{shown(path)} ({size(len(made))})"])


def _from_here(call: Call, full: bool) -> tuple[Document, list[Document]]:
    from ..report_data import besides

    seen = look(call, Request(roots=call.roots, config_file=call.config_file), in_full=full)
    document: Document = seen.document()
    findings: list[Document] = document.pop("findings")
    more = besides(call, seen)
    trends = more.pop("trends")
    document["roots"] = [root | {"trend": heading} for root, heading in zip(document["roots"], trends, strict=True)]
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
        raise BadArgument(f"{shown(source)} cannot be drawn: {problem}") from None
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
            | {"name": shown(root["path"]), "percent": headline.percent_of_bytes(root)}
            | {"percent_inodes": headline.percent_of_inodes(root)}
            for root in document["roots"]
        ],
        "accounts": [each | {"root": shown(each["root"])} for each in document["accounts"]],
        "unmatched": [
            {name: each[name] for name in ("count", "bytes", "entries", "newest_seconds")}
            | {"root": shown(each["root"]), "shape": shown(each["shape"]), "at_least": each.get("at_least", False)}
            for each in groups
        ],
        "reasons": {reason.value: sentence(reason, "a process") for reason in Reason},
        "fullest": shown(fullest["path"]) if (fullest := headline.fullest(document["roots"])) else "",
        "unmatched_left_out": len(document["unmatched"]) - len(groups),
        "warnings": [shown(each) for each in call.warnings],
    }


def _opened(path: str) -> bool:
    import webbrowser
    from urllib.request import pathname2url

    return webbrowser.open(f"file://{pathname2url(path)}")


def _sentence(document: Document) -> str:
    words, command = document["headline"]
    return f"{words} {command}".strip()


def _told(path: str, made: bytes, document: Document) -> Document:
    return {"path": path, "bytes": len(made), "headline": _sentence(document), "totals": document["totals"]}
