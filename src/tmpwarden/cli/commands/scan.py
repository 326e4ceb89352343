"""`tmpwarden scan`: what is there, whose it is, and what may go."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ...model.request import Request, Thresholds
from ...sweep.store import ahead
from ...text import shown
from .. import advice
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import age, agent_option, all_users_option, for_whom, older_than_option, project_option, project_rows
from ..seen import MOST_GROUPS, Seen, accounts, groups, look, naming, spooled


@click.command()
@click.option("--each", is_flag=True, help="List every item with its owner, verdict and reason.")
@agent_option
@click.option("--min-age", type=age, help="Keep everything younger than this.")
@older_than_option("Use this age limit instead of each kind's own.")
@click.option("--all", "take_ask", is_flag=True, help="Show what `clean --all` would remove.")
@click.option("--full", is_flag=True, help="Also measure everything that is not recognised, however long it takes.")
@click.option("--state", is_flag=True, help="Show what agents keep in your home instead: sizes, and who prunes it.")
@project_option
@all_users_option
@pass_call
def command(
    call: Call,
    each: bool,
    wanted: tuple[str, ...],
    min_age: int | None,
    max_age: int | None,
    take_ask: bool,
    full: bool,
    state: bool,
    projects: tuple[str, ...],
    all_users: bool,
) -> Answer:
    """Show what agents left behind and what can be removed, the largest first.

    Removes nothing. Each line says why an item is removable or kept. Your other files in a temp root (a directory such
    as /tmp) are listed as not recognised: they are kept unless you name them (`clean PATH...`, `adopt`).
    """
    if state:
        from ..state import answer as state_answer

        return for_whom(call, all_users, lambda: state_answer(call, wanted))
    limits = Thresholds(min_age_s=min_age, max_age_s=max_age, take_ask=take_ask)

    def answer() -> Answer:
        request = Request(
            roots=call.roots,
            projects=projects,
            agents=wanted,
            rows=project_rows(projects),
            thresholds=limits,
            config_file=call.config_file,
        )
        return _answer(call, request, each, full, is_alone=not all_users)

    return for_whom(call, all_users, answer)


def _answer(call: Call, request: Request, each: bool, full: bool, *, is_alone: bool) -> Answer:
    if is_alone:
        ahead.make_for(call.roots)
    if is_alone and call.json and request.thresholds.min_age_s is None:
        return Answer(lambda: spooled(call, request, in_full=full))
    seen = look(call, request, in_full=full)
    if warning := advice.lower_limit(call, request, seen.verdicts):
        call.warn(warning)
    return Answer(seen.document, lambda: _lines(call, request, seen, each))


def _lines(call: Call, request: Request, seen: Seen, each: bool) -> Iterable[str]:
    from .. import render  # it is for people

    if seen.verdicts:
        show = render.scan_units if each else render.scan_groups
        yield from show(seen.verdicts, now_ns=seen.now_ns, for_a_person=call.for_a_person)
    else:
        where = request.projects or [root.path for root in seen.roots]
        yield "No agent left anything behind in " + ", ".join(shown(path) for path in where) + "."
    most = None if each else MOST_GROUPS
    yield from groups(seen.unmatched, now_ns=seen.now_ns, for_a_person=call.for_a_person, most=most)
    if not seen.verdicts and not seen.unmatched:
        return
    yield ""
    for root in seen.roots:
        yield render.used(root)
    yield from accounts(seen.accounts)
    if seen.verdicts:
        older = advice.older_than(call, request, seen.verdicts)
        yield render.scan_end(seen.verdicts, advice.clean(call, request), older)
    if seen.unmatched:
        yield f"Not recognised. To remove the largest group if unused: {naming(call, seen.unmatched)}"
