"""Join the catalogue, the leases and the operating system into one run. The only module that knows them all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ..catalogue.load import Catalogue, load
from ..catalogue.settings import Settings, load_settings
from ..errors import LockHeld, TmpwardenError, UnsafeRoot
from ..lazy_dataclass import replace
from ..leases import births, claims, made_names, scratch, static_temp
from ..model.belongings import Birth
from ..model.request import Request, Thresholds
from ..model.sweep import Evidence, Finding, Litter, Measure, Owner, Receipt, Witness
from ..model.terms import Kind, OwnerState, Reason, Tier
from ..oskit.files import places
from ..oskit.proc import proven
from ..oskit.proc.namespaces import MountTable
from ..oskit.proc.reach import Reach
from ..text import shown
from .find import known_roots
from .find.scan import ID as BIRTH
from .find.scan import Finder
from .find.unknown import Unknown
from .packed import Packed
from .prepared import CleanResult, Plan, Prepared
from .survey import LEAST_BUDGET, Survey
from .weigh.consent import Consent, note_first_run
from .weigh.evidence import OwnerOf, World
from .weigh.judge import Standing, keeping
from .weigh.pressure import Pressure
from .weigh.unattended import refusal
from .weigh.weigher import Weigher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..leases.book import OwnerBook
    from ..oskit.proc.holders import Holders

_A_PERSON_WAITS_S = 5.0
Clock = Callable[[], int]


def scan(request: Request | None = None, *, now_ns: Clock = time.time_ns) -> Survey:
    """Look at everything that agents left, and tell for each item whether it may be removed. Changes nothing.

    Gives a Survey: iterate it once, for a Remove or a Keep for each item. Without a request, it looks at the whole
    machine, as `tmpwarden scan` does.

    Example:

        import tmpwarden

        for verdict in tmpwarden.scan():
            size = verdict.evidence.measure.bytes if verdict.evidence.measure else None
            print(verdict.finding.path, size, verdict.reason.value, isinstance(verdict, tmpwarden.Remove))
    """
    return Survey(prepare(request or Request(), now_ns=now_ns))


def clean(
    request: Request | None = None,
    *,
    confirm: Callable[[Plan], bool] | None = None,
    dry_run: bool = False,
    on_receipt: Callable[[Receipt], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    now_ns: Clock = time.time_ns,
) -> CleanResult:
    """Remove what may be removed, as `tmpwarden clean --yes` does. `tmpwarden undo` brings most of it back for a day.

    request      what to look at and how old items must be; without it, everything on this machine
    confirm      asked once, with the whole plan; it removes nothing if the answer is False
    dry_run      remove nothing; CleanResult.planned tells what would be removed
    on_receipt   called for each item, when it has been removed or could not be
    should_stop  asked between two items; it stops if the answer is True
    now_ns       the clock, for tests

    Like `teardown` and `Periodic` it raises no error of tmpwarden into your program: `CleanResult.error` says why
    nothing was removed. A root that is missing or not safe, an unknown agent, a broken configuration, and another
    clean-up of yours that does not end within 5 seconds (an unattended one does not wait) are told there.

    Example:

        import tmpwarden

        request = tmpwarden.Request(agents=("claude",), unattended=True)
        result = tmpwarden.clean(request, dry_run=True)
        print(f"{len(result.planned)} items would be removed, {len(result.kept)} stay")
    """
    try:
        return cleaned(
            request, confirm=confirm, dry_run=dry_run, on_receipt=on_receipt, should_stop=should_stop, now_ns=now_ns
        )
    except TmpwardenError as error:
        stopped = "lock-held" if isinstance(error, LockHeld) else None
        return CleanResult(error=f"{type(error).__name__}: {error}", stopped=stopped)


def cleaned(
    request: Request | None = None,
    *,
    confirm: Callable[[Plan], bool] | None = None,
    dry_run: bool = False,
    on_receipt: Callable[[Receipt], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    now_ns: Clock = time.time_ns,
) -> CleanResult:
    """The same for callers that answer each error in their own way: raises TmpwardenError."""
    from ..oskit.files.opening import make_room
    from .cleaning import Cleaning  # a scan starts without what removes

    make_room()
    from .find.strangers import Strangers
    from .lock import clean_lock
    from .prepared import make_plan
    from .store import books

    request = request or Request()
    with _noting_failure(request.unattended and not dry_run):
        prepared = prepare(request, now_ns=now_ns)
        if dry_run:
            plan = make_plan(prepared)
            return CleanResult(
                planned=plan.removals,
                kept=Packed(plan.kept),
                warnings=[*Survey(prepared).warnings],
                refused=prepared.refused,
            )
        note_first_run(prepared.state)
        known_roots.remember(prepared.roots, prepared.home_roots)
        for root in prepared.leased_roots:
            known_roots.note_quarantine(root)
        strangers = None
        if confirm is not None and not request.is_of_a_part:  # a person is asked about these last of all
            strangers = Strangers(prepared.roots, places.uid())
            prepared.finder.stranger = strangers.see
        began_s = time.monotonic()
        with clean_lock(prepared.state, 0.0 if request.unattended else _A_PERSON_WAITS_S):
            result = Cleaning(prepared, on_receipt, should_stop).clean(confirm)
            books.note_clean(prepared.state, result, time.monotonic() - began_s, is_of_all=not request.is_of_a_part)
            for path in result.receipts.sums.leased:
                scratch.forget(path)  # its lease goes with it, not an hour later
        result.warnings[:0] = Survey(prepared).warnings
        result.refused = prepared.refused
        if strangers is not None and result.confirmed and not result.stopped:
            strangers.measure(LEAST_BUDGET)
            result.unmatched = strangers.unmatched()
        return result


@contextmanager
def _noting_failure(is_unattended: bool) -> Iterator[None]:
    """A person has read it; a timer's words are read by nobody."""
    try:
        yield
    except TmpwardenError as error:
        if is_unattended:
            from .store import books

            books.note_failure(places.state_dir(), error.code)
        raise


def prepare(request: Request, *, now_ns: Clock = time.time_ns, by_name: bool = False) -> Prepared:
    """`by_name`: a session or process is named, whose lease is found wherever it lies (see `leased_elsewhere`)."""
    settings = load_settings(request.config_file)
    catalogue = load(overrides=settings.rows).sharing(static_temp.shared(places.state_dir()))
    if catalogue.misspelt:
        unread = (*settings.unread, *catalogue.misspelt)
        settings = replace(settings, unread=unread, unread_limits=(*settings.unread_limits, *catalogue.misspelt))
    for agent in request.agents:
        catalogue.agent(agent)
    only_looks = proven.tested() if settings.macos_remove or not request.unattended else ""
    roots = places.temp_roots(request.roots, extra=known_roots.remembered())
    home = request.home if roots.confined else places.home()
    leased = leased_elsewhere(roots) if not roots.confined or (by_name and not request.roots) else ()
    projects = tuple(places.project(path) for path in request.projects)
    starts = (*catalogue.places(roots, home), *catalogue.of_leases(leased), *catalogue.of_projects(projects))
    state = places.state_dir()
    made_names.note_all_made(state)
    finder = Finder(starts, _wanted(request), birth=_births(state), takes_births=settings.births_auto)
    if request.unattended and settings.unknown_max_age_s is not None and not request.is_of_a_part:
        unknown = Unknown(settings.unknown_max_age_s, births.read(state).keys(), MountTable.of())
        finder.unknown = None if settings.unread_limits else unknown.finding
    consent = Consent.read(state, now_ns())
    world = _world(catalogue, (*roots, *leased), finder)
    pressure = Pressure.of(roots, request, settings)
    findings, about_words, refused = _findings_named(request, finder, tuple(roots))
    limits = _limits(request.thresholds, settings)
    if findings:
        limits = replace(limits, named=frozenset(each.path for each in findings), named_reason=Reason.NAMED)
    kept_paths = tuple(dict.fromkeys(name for path in settings.keep_paths for name in _names_of(path)))
    standing_of = _standing(request, settings, consent, now_ns, kept_paths)
    weigher = Weigher(world, limits, standing_of, now_ns, pressure.roots)
    warnings = [*settings.warnings, *catalogue.warnings, *roots.warnings, *about_words]
    warnings += [f"tmpwarden only looks here and removes nothing: {only_looks}"] * bool(only_looks)
    home_roots = frozenset(start.root for start in starts if start.is_home)
    return Prepared(
        request=request,
        settings=settings,
        roots=tuple(roots),
        home_roots=home_roots,
        finder=finder,
        weigher=weigher,
        state=state,
        now_ns=now_ns,
        consent=consent,
        pressure=pressure,
        warnings=warnings,
        named=findings,
        refused=refused,
        leased_roots=leased,
        kept_paths=kept_paths,
    )


def _limits(thresholds: Thresholds, settings: Settings) -> Thresholds:
    """The ages of a run, for every caller: hook, timer, server, cron and person judge a row alike."""
    return (
        thresholds if thresholds.general_s is not None else replace(thresholds, general_s=settings.periodic_max_age_s)
    )


def _findings_named(
    request: Request, finder: Finder, roots: tuple[str, ...]
) -> tuple[tuple[Finding, ...], list[str], tuple[str, ...]]:
    """What a person's words mean, what has to be said about them, and why some of them mean nothing."""
    if not request.words:
        return (), [], ()
    from .find.named import Named  # most runs are given none

    names = Named(finder, roots, only_unknown=request.only_unknown)
    return names.findings(request.words), names.warnings, tuple(map(str, names.refused))


def leased_elsewhere(roots: places.Roots) -> tuple[str, ...]:
    """Other roots of ours, below which only what was leased is looked for: nobody called them temp roots.

    TMPWARDEN_ROOTS says where to search, so a search leaves these alone. Whoever leased below one of them has named it,
    and gives that one session back by its name: only a `--root` of the call itself forbids that."""
    roots_of_leases: list[str] = []
    reach = Reach.now()
    for path in scratch.leased_roots():
        with suppress(UnsafeRoot):
            roots_of_leases += [] if reach.frozen(path) else places.temp_roots((path,))
    return tuple(path for path in dict.fromkeys(roots_of_leases) if path not in roots)


def _wanted(request: Request) -> Callable[[Litter], bool]:
    agents, rows = frozenset(request.agents), frozenset(request.rows)
    return lambda litter: (not agents or litter.agent in agents) and (not rows or litter.key in rows)


def _births(state: str) -> Callable[[str], Birth | None]:
    """By path: of the very entry that has this name now, and whether it is still its session's."""
    known = births.read(state)

    def birth_of(path: str) -> Birth | None:
        birth = known.get(path)
        if birth is None or not births.is_there(birth):
            return None
        birth.demoted = birth.demoted or (claims.doubt(state, birth) if birth.owned else "")
        return birth

    return birth_of


def _world(catalogue: Catalogue, roots: tuple[str, ...], finder: Finder) -> World:
    def look(workers: frozenset[int], closely: bool) -> tuple[Holders, OwnerOf]:
        from ..leases.book import OwnerBook, variables_of  # where nothing was found nobody is asked whose it is
        from ..oskit.proc.holders import Holders

        holders = Holders.look(variables_of(catalogue.agents), exclude=workers, closely=closely)
        born_to = births.owners(places.state_dir())
        book = OwnerBook(catalogue.agents, holders, roots=roots, home=places.home(), owners=born_to)
        return holders, _owners(book)

    return World(uid=places.uid(), mounts=MountTable.of(), marks=finder.marks, look=look)


def _owners(book: OwnerBook) -> OwnerOf:
    def owner_of(finding: Finding, measure: Measure | None) -> tuple[Owner, tuple[Witness, ...]]:
        return book.owner_of(finding, measure.newest_ns if measure else None), book.witnesses_of(finding)

    return owner_of


def _standing(
    request: Request, settings: Settings, consent: Consent, now_ns: Clock, listed: tuple[str, ...]
) -> Callable[[Finding, Evidence], Standing]:
    protected = places.protected()  # once: asking for homes costs as much as all the rest of a small unit
    not_understood = settings.unread_limits if request.unattended else settings.unread
    unread = shown(not_understood[0]) if not_understood else None
    not_unattended = refusal(settings) if request.unattended else ""
    ordinary = Standing(unread=unread, not_unattended=not_unattended, may_rescue=settings.rescue_git)  # most units

    def standing_of(finding: Finding, evidence: Evidence) -> Standing:
        is_protected = finding.kind is Kind.DIR and finding.path in protected
        is_waiting = finding.litter.id == BIRTH and finding.litter.tier is Tier.AUTO and not request.thresholds.take_ask
        if not (is_protected or listed or request.unattended or is_waiting):
            return ordinary
        return replace(
            ordinary,
            gone_since_ns=_gone_since_ns(finding, evidence, now_ns()) if is_waiting else None,
            is_protected=is_protected,
            keep_listed=keeping(finding.path, listed),
            is_backlog=request.unattended and consent.is_backlog(finding, evidence),
        )

    return standing_of


def _names_of(path: str) -> Iterator[str]:
    """A kept path as it was written, and as the kernel calls what it leads to: so are units called. Below a mount that
    does not respond nothing is touched."""
    full = os.path.abspath(os.path.expanduser(path))
    yield full
    if not Reach.now().frozen(full):
        yield os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
        yield os.path.realpath(full)


def _gone_since_ns(finding: Finding, evidence: Evidence, now_ns: int) -> int:
    """A birth that goes by itself waits from the end of its session on, which only a look can date."""
    is_gone = evidence.owner.state in (OwnerState.DEAD, OwnerState.ABSENT)
    return claims.gone_since_ns(places.state_dir(), finding.session or "", is_gone, now_ns)
