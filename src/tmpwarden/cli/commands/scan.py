"""`tmpwarden scan`: what is there, whose it is, and what may go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import click

from ...model.sweep import Request, Space, Thresholds, Verdict
from ...sweep.compose import scan
from ...text import plural, shown
from .. import documents, render
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import age, agent_option, all_users_option
from ..progress import Progress


@click.command()
@click.option("--each", is_flag=True, help="Every unit with its owner, verdict and reason.")
@agent_option
@click.option("--min-age", type=age, help="Judge as if nothing younger than this could go.")
@click.option("--max-age", type=age, help="Judge with this age limit instead of the rows' own.")
@click.option("--all", "take_ask", is_flag=True, help="Judge as `clean --all` does.")
@all_users_option
@pass_call
def command(
    call: Call,
    each: bool,
    wanted: tuple[str, ...],
    min_age: int | None,
    max_age: int | None,
    take_ask: bool,
    all_users: bool,
) -> Answer:
    """What agents left behind, grouped by agent and litter, biggest first.

    Nothing is touched. Every row says why it can go or is kept.
    """
    limits = Thresholds(min_age_s=min_age, max_age_s=max_age, take_ask=take_ask)

    def answer() -> Answer:
        request = Request(roots=call.roots, agents=wanted, thresholds=limits, config_file=call.config_file)
        return _answer(call, request, each)

    if all_users:
        from ..all_users import for_each_user

        return for_each_user(call, answer)
    return answer()


def _answer(call: Call, request: Request, each: bool) -> Answer:
    survey = scan(request, now_ns=call.now_ns)
    with Progress(wanted=not call.json) as progress:
        verdicts = list(_told(survey, progress))
    now_ns = call.now_ns()
    for warning in survey.warnings:
        call.warn(warning)
    return Answer(
        lambda: _document(verdicts, survey.roots, now_ns), lambda: _lines(call, verdicts, survey.roots, now_ns, each)
    )


def _told(survey: Iterable[Verdict], progress: Progress) -> Iterator[Verdict]:
    for count, verdict in enumerate(survey, 1):
        progress.tell(f"Looking: {plural(count, 'unit')} found ...")
        yield verdict


def _document(verdicts: Sequence[Verdict], roots: Sequence[Space], now_ns: int) -> documents.Document:
    return {
        "findings": [documents.verdict(each, now_ns) for each in verdicts],
        "roots": [documents.space(root) for root in roots],
        "totals": documents.totals(verdicts),
    }


def _lines(call: Call, verdicts: Sequence[Verdict], roots: Sequence[Space], now_ns: int, each: bool) -> Iterable[str]:
    if not verdicts:
        yield "No agent left anything in " + ", ".join(shown(root.path) for root in roots) + "."
        return
    show = render.scan_units if each else render.scan_groups
    yield from show(verdicts, now_ns=now_ns, for_a_person=call.for_a_person)
    yield ""
    for root in roots:
        yield render.used(root)
    yield render.scan_end(verdicts)
