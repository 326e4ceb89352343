"""`tmpwarden clean`: remove what is left by owners that are gone. Shows the list and asks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import click

from ...catalogue.settings import load_settings
from ...errors import BadArgument, LockHeld, WouldAsk
from ...lazy_dataclass import dataclass
from ...model.request import Request, Thresholds
from ...model.sweep import Receipt
from ...oskit.files import places
from ...sweep.compose import cleaned, scan
from ...sweep.prepared import CleanResult, Plan
from ...sweep.store import books
from ...sweep.store.labels import restorable, still_there
from ...sweep.weigh import consent
from ...text import duration, plural, size
from .. import advice, ask, removal, render, unrecognised
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import (
    UntouchedPath,
    age,
    agent_option,
    all_users_option,
    budget,
    older_than_option,
    project_option,
    project_rows,
)
from ..progress import COUNTING_S, Progress, Stop, stopping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_FOR_ONE_S = 600  # of all users: the others wait
_MOST_LISTED = 40  # lines a person reads before a question


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=UntouchedPath())
@click.option("-n", "--dry-run", is_flag=True, help="Show what would be removed, and change nothing.")
@click.option("-f", "--force", "-y", "--yes", "yes", is_flag=True, help="Do not ask. Items in use are still kept.")
@click.option("--min-age", type=age, help="Keep everything younger than this.")
@older_than_option("Age limit for items without a known owner, for this run (default: 72h).")
@agent_option
@click.option(
    "--tier",
    type=click.Choice(["auto", "ask"]),
    default="auto",
    help="`ask` also removes items that are not removed by default.",
)
@click.option("--all", "take_ask", is_flag=True, help="Same as --tier ask.")
@click.option("--budget", "limit", type=budget, help="Remove the oldest first, until at most this much is left.")
@click.option("--no-quarantine", is_flag=True, help="Delete at once, without quarantine. Cannot be undone.")
@click.option("--purge", is_flag=True, help="Also empty the quarantine. Cannot be undone.")
@click.option("--pick", is_flag=True, help="Choose what to remove in the full-screen view (tmpwarden ui).")
@click.option("--if-due", type=age, help="Do nothing if the last clean was less than DURATION ago (for cron).")
@click.option("--time-limit", type=age, help="Stop after this time, between two items (exit 10).")
@project_option
@all_users_option
@click.option("-q", "--quiet", is_flag=True, help="Print only errors and warnings.")
@pass_call
def command(call: Call, **typed: Any) -> Answer:
    """Remove what ended sessions left behind.

    Shows the list, says what cannot be undone, and asks. Items in use, too new, of another user, or with git work
    that exists nowhere else are kept, whatever options you give.

    With PATH (files, directories, quoted globs such as '/tmp/orch-*'): only these, by the same rules. Naming an item
    overrides its age limit and nothing else: if it is in use, it is kept. It goes into quarantine, and can be
    undone, whether tmpwarden recognises it or not.
    """
    options = _Options(**typed)
    options.refuse_contradictions()
    limit_s = options.time_limit if options.time_limit is not None else _MOST_FOR_ONE_S if options.all_users else None
    request = _request(call, options, limit_s)
    if options.pick:
        from .ui import picked

        return picked(call, request, any((options.yes, options.dry_run, options.all_users, options.if_due is not None)))
    clean_of_one = _CleanOfOneUser(call, request, options)
    if options.all_users:
        from ..all_users import for_each_user

        is_sure = options.yes or options.dry_run
        return for_each_user(call, clean_of_one.answer, yes=is_sure, limit_s=limit_s or _MOST_FOR_ONE_S)
    return clean_of_one.answer()


@dataclass(frozen=True, slots=True)
class _Options:
    """What was typed: one field for each option, under click's name for it."""

    paths: tuple[str, ...]
    dry_run: bool
    yes: bool
    min_age: int | None
    max_age: int | None
    wanted: tuple[str, ...]
    tier: str
    take_ask: bool
    limit: tuple[int | None, int | None] | None
    no_quarantine: bool
    purge: bool
    pick: bool
    if_due: int | None
    time_limit: int | None
    projects: tuple[str, ...]
    all_users: bool
    quiet: bool

    def refuse_contradictions(self) -> None:
        """Raises BadArgument. Beside PATH, nothing may choose items by something else than their name."""
        choosing = {"--older-than": self.max_age, "--agent": self.wanted, "--budget": self.limit}
        choosing |= {"--if-due": self.if_due, "--all-users": self.all_users, "--project": self.projects}
        for option, value in choosing.items():
            if self.paths and value:
                hint = "leave out that option, or the path"
                raise BadArgument(f"{option} cannot be combined with PATH", hint=hint)
        if self.min_age is not None and self.max_age is not None and self.max_age < self.min_age:
            raise BadArgument(
                "--older-than is below --min-age", hint="--min-age keeps everything younger; make it smaller"
            )


def _request(call: Call, options: _Options, limit_s: int | None) -> Request:
    take_ask = options.take_ask or options.tier == "ask"
    limits = Thresholds(min_age_s=options.min_age, max_age_s=options.max_age, take_ask=take_ask)
    return Request(
        roots=call.roots,
        projects=options.projects,
        agents=options.wanted,
        rows=project_rows(options.projects),
        thresholds=limits,
        config_file=call.config_file,
        unattended=options.if_due is not None,
        quarantine=not (options.no_quarantine or options.purge),
        budget_bytes=options.limit[0] if options.limit else None,
        budget_percent=options.limit[1] if options.limit else None,
        empty_quarantine=options.purge,
        time_limit_s=limit_s,
        words=options.paths,
    )


class _CleanOfOneUser:
    """One clean of one user, from the question to the summary."""

    def __init__(self, call: Call, request: Request, options: _Options) -> None:
        self.call, self.request, self.if_due_s = call, request, options.if_due
        self.dry_run, self.yes, self.quiet = options.dry_run, options.yes, options.quiet

    def answer(self) -> Answer:
        if self.if_due_s is not None and not load_settings(self.call.config_file).periodic_enabled:
            return self.skipped("disabled", "Not cleaned: `[periodic] enabled = false` is set in config.toml.")
        if self.if_due_s is not None and not consent.is_due(places.state_dir(), self.if_due_s, self.call.now_ns()):
            return self.skipped("not-due", f"The last clean was less than {duration(self.if_due_s)} ago.")
        if self.request.empty_quarantine and not self.yes and not self.dry_run and not self._may_purge():
            return Answer(text=lambda: ["Nothing was removed."])
        if not self.yes and not self.dry_run and not self.call.can_ask:
            seen = self._clean(Stop(), dry_run=True)
            if seen.planned:
                raise WouldAsk()
            return self._answer_for(CleanResult(refused=seen.refused), None)
        with stopping(is_removing=self.yes and not self.dry_run) as stop:
            try:
                result = self._clean(stop, dry_run=self.dry_run)
            except LockHeld as held:
                if not self.request.unattended:
                    raise
                return self.skipped("lock-held", f"{str(held).capitalize()}.")
        must_ask = not (self.yes or self.dry_run or self.quiet)
        more = unrecognised.ask_about(self.call, self.request, result.unmatched) if must_ask else None
        answer = self._answer_for(result, stop.signal_number)
        return answer if more is None else self._both(answer, self._answer_for(more, None))

    def _both(self, first: Answer, second: Answer) -> Answer:
        """What was asked about in the end, told after the rest."""
        texts = [answer.text for answer in (first, second) if answer.text]
        return Answer(
            first.data, lambda: [line for text in texts for line in text()], error=first.error or second.error
        )

    def _may_purge(self) -> bool:
        """What waits in quarantine is asked about by itself: the list that follows does not show it."""
        state = places.state_dir()
        quarantined_sizes = [int(each.get("bytes", 0)) for each in still_there(restorable(state).values(), state)]
        if not quarantined_sizes:
            return True
        if not self.call.can_ask:
            raise WouldAsk()
        amount = size(sum(quarantined_sizes))
        return ask.yes(f"Empty the quarantine, {plural(len(quarantined_sizes), 'item')}, {amount} (cannot be undone)?")

    def skipped(self, why: str, sentence: str) -> Answer:
        """An unattended run that has nothing to do is done."""
        data = removal.document(CleanResult(), dry_run=False, quarantine=True) | {"skipped": why}
        return Answer(data, None if self.quiet else lambda: [sentence])

    def _clean(self, stop: Stop, *, dry_run: bool) -> CleanResult:
        with Progress(wanted=not (self.call.json or self.quiet)) as progress:
            counter = _Counter(progress)
            progress.tell("Checking ...")
            if self.yes and progress.is_shown:  # nobody is asked, so that no plan says how much there is
                counter.total_items = scan(self.request, now_ns=self.call.now_ns).expected(within_s=COUNTING_S) or 0

            def confirm(plan: Plan) -> bool:
                progress.clear()
                counter.total_items, counter.total_bytes = plan.count, plan.bytes
                stop.is_removing = self._is_confirmed(plan)
                return stop.is_removing

            result = cleaned(
                self.request,
                confirm=None if self.yes else confirm,
                dry_run=dry_run,
                on_receipt=counter,
                should_stop=stop.wanted,
                now_ns=self.call.now_ns,
            )
        lower = advice.lower_limit(self.call, self.request, result.kept)
        self.call.warn(*filter(None, (*result.warnings, lower)))
        return result

    def _is_confirmed(self, plan: Plan) -> bool:
        """A list that nobody would read is grouped first; `l` shows all of it."""
        question, other = removal.question(plan.removals, quarantine=self.request.quarantine), ""
        if plan.frees_nothing:
            question, other = removal.question_for_good(plan.removals), "q"
        now_ns = self.call.now_ns()
        if len(render.units(plan.removals)) <= _MOST_LISTED:
            ask.say(render.removable_lines(plan.removals, now_ns=now_ns, for_a_person=True))
            answer = ask.yes_or(question, other) if other else "y" if ask.yes(question) else ""
        else:
            ask.say(render.scan_groups(plan.removals, now_ns=now_ns, for_a_person=True))
            listed = partial(render.removable_lines, plan.removals, now_ns=now_ns, for_a_person=True)
            answer = ask.yes_or_list(question, listed, other=other)
        plan.is_for_good = plan.frees_nothing and answer == "y"
        return bool(answer)

    def _answer_for(self, result: CleanResult, signal_number: int | None) -> Answer:
        error = removal.problem(result, signal_number, self.request.time_limit_s)
        return Answer(
            lambda: removal.document(result, dry_run=self.dry_run, quarantine=self.request.quarantine),
            None if self.quiet else lambda: self._lines(result),
            error=error,
        )

    def _lines(self, result: CleanResult) -> Iterator[str]:
        person = self.call.for_a_person
        most = _MOST_LISTED if person else None
        if self.dry_run:
            yield from self._preview(result, person, most)
            return
        if result.removed and self.yes:
            yield from removal.removal_lines(result.removed, for_a_person=person, most=most)
            yield ""
        quarantine_s = load_settings(self.call.config_file).quarantine_s
        yield from removal.outcome(
            result, quarantine_s=quarantine_s, purge=advice.command(self.call, "clean", "--purge")
        )
        yield from removal.saved_so_far(result, books.saved_so_far(places.state_dir()))

    def _preview(self, result: CleanResult, person: bool, most: int | None) -> Iterator[str]:
        if result.planned:
            yield from render.removable_lines(result.planned, now_ns=self.call.now_ns(), for_a_person=person, most=most)
            yield ""
        yield from render.kept(result.kept)
        would = removal.question(result.planned, quarantine=self.request.quarantine).removesuffix("?")
        yield f"Would {would[:1].lower()}{would[1:]}. Nothing was removed." if result.planned else "Nothing to remove."


class _Counter:
    """Tells how far it is, after every unit; of how much, where that was known before."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.items, self.bytes = progress, 0, 0
        self.total_items = self.total_bytes = 0

    def __call__(self, receipt: Receipt) -> None:
        self.items += render.items_in(receipt.finding)
        self.bytes += receipt.bytes
        if self.total_items and not self.total_bytes:
            words = f"{self.items:,} of at most {plural(self.total_items, 'item')}, {size(self.bytes)}"
        elif self.total_items:
            words = (
                f"{self.items:,} of {plural(self.total_items, 'item')}, {size(self.bytes)} of {size(self.total_bytes)}"
            )
        else:
            words = f"{plural(self.items, 'item')}, {size(self.bytes)}"
        self.progress.tell(f"Removing: {words} ...")
