"""The series of this user, or of every user of this host: root asks a child of each, and believes its numbers alone.

A child belongs to its user. What it says is held against the table of families and the words that a label may have, so
that no user can tell a series of another user's, nor more than a few.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from .. import __version__
from ..catalogue.files import SYSTEM
from ..catalogue.load import load
from ..doctor import checks
from ..doctor.patient import Patient
from ..errors import NeedsRoot, TmpwardenError
from ..lazy_dataclass import dataclass, replace
from ..lifecycle import last_tick
from ..lifecycle.per_user import as_user
from ..lifecycle.users import User, has_agents, has_own_home, preload, users_of
from ..model.request import Request
from ..oskit.files import places
from ..setup import health
from ..sweep.store import books
from . import collectors
from .collectors import HOME, OTHER, Observed
from .families import FAMILIES, Sample

USER_LIMIT_S, HOST_LIMIT_S = 120.0, 900.0
MOST_USERS, MOST_SAMPLES = 200, 600  # of one user
_NAMES = {
    "/tmp": "tmp", "/private/tmp": "tmp", "/var/tmp": "var-tmp", "/private/var/tmp": "var-tmp", "/dev/shm": "dev-shm",
}  # fmt: skip
_MOST_OTHER_ROOTS = 8
Clock = Callable[[], int]


@dataclass(frozen=True, slots=True)
class _Of:
    """What one user told. `samples` is None where nobody could be asked."""

    user: str
    samples: tuple[Sample, ...] | None


def of_this_user(request: Request, *, now_ns: Clock = time.time_ns) -> list[Sample]:
    samples_of_user = _Of(places.user_name(os.geteuid()), tuple(_gathered(request, now_ns, _known_agents())))
    return list(_of_host([samples_of_user], omitted=0, is_of_all=False))


def of_all_users(request: Request, *, now_ns: Clock = time.time_ns) -> list[Sample]:
    """For root: a child for each user, with that user's rights; no more users and no longer than is good for a host."""
    if os.geteuid() != 0:
        raise NeedsRoot("--all-users")
    request = replace(request, roots=tuple(map(os.path.abspath, request.roots)))
    users = users_of(places.temp_roots(request.roots))
    # before the first child: once it is another user, it may not be able to read our modules
    preload()
    known, until_s = _known_agents(), time.monotonic() + HOST_LIMIT_S
    samples_of_users: list[_Of] = []
    user_count = 0
    for user in users[:MOST_USERS]:
        # a monitoring agent gives up on a slow scrape; the users left over are counted as omitted
        if time.monotonic() > until_s:
            break
        user_count += 1
        answer = as_user(user, partial(_report, user, request, now_ns, known), limit_s=USER_LIMIT_S)
        if answer.why or answer.answer != "null":
            samples_of_users.append(_Of(user.name, None if answer.why else accepted(answer.answer, known)))
    return list(_of_host(samples_of_users, omitted=len(users) - user_count, is_of_all=True))


def _report(user: User, request: Request, now_ns: Clock, known: frozenset[str]) -> str:
    """In the child. `null` for a user whom nothing here concerns."""
    if not has_own_home(user) or not (user.has_temp or has_agents(user, (row.place for row in load().rows))):
        return "null"
    return json.dumps([[each.family, each.value, each.labels] for each in _gathered(request, now_ns, known)])


def _gathered(request: Request, now_ns: Clock, known: frozenset[str]) -> Iterator[Sample]:
    patient = Patient(request, os.environ, hooks=health.of_hooks(), timer=health.of_timer(), now_ns=now_ns)
    return collectors.gather(Observed(patient, known))


def _known_agents() -> frozenset[str]:
    """Built in, or made known to the whole host."""
    return frozenset(agent.id for agent in load(dirs=(SYSTEM,)).agents)


def accepted(answer: str, known: frozenset[str]) -> tuple[Sample, ...] | None:
    """What a child may have said; None if that is no answer at all."""
    try:
        rows = json.loads(answer)
    except ValueError:
        return None
    if not isinstance(rows, list):
        return None
    words = _label_values(known)
    return tuple(sample for row in rows[:MOST_SAMPLES] if (sample := _sample(row, words)) is not None)


def _sample(row: object, words: dict[str, frozenset[str]]) -> Sample | None:
    match row:
        case [str(name), int() | float() as value, [*labels]] if name in FAMILIES and math.isfinite(value):
            wanted = [label for label in FAMILIES[name].labels if label != "user"]
            if len(labels) == len(wanted) and all(map(_may_be, wanted, labels, [words] * len(wanted))):
                return Sample(name, value, tuple(map(str, labels)))
    return None


def _may_be(label: str, value: object, words: dict[str, frozenset[str]]) -> bool:
    if not isinstance(value, str):
        return False
    is_root = label == "root" and (value == HOME or (value.startswith("/") and len(value) < 4096))
    return is_root or value in words.get(label, ())


def _label_values(known: frozenset[str]) -> dict[str, frozenset[str]]:
    """What a label may say."""
    return {
        "agent": known | {OTHER},
        "verdict": frozenset((*collectors.VERDICTS, *collectors.FATES)),
        "result": frozenset(books.RESULTS),
        "code": frozenset(_codes(TmpwardenError)),
        "kind": frozenset(collectors.STATE_KINDS),
        "check": frozenset(name for name, _ in checks.ALL),
        "collector": frozenset(collectors.COLLECTORS),
    }


def _codes(error: type[TmpwardenError]) -> Iterator[str]:
    yield error.code
    for below in error.__subclasses__():
        yield from _codes(below)


def _of_host(samples_of_users: list[_Of], *, omitted: int, is_of_all: bool) -> Iterator[Sample]:
    """All of it, each series once: what is the host's is told by the first user who sees it, and root comes first."""
    yield Sample("build_info", 1, (__version__,))
    names = root_names(root for each in samples_of_users for root in _roots_of(each.samples or ()))
    for each in samples_of_users:
        for sample in each.samples or ():
            yield from _labelled(sample, each.user, names)
        yield Sample("user_success", each.samples is not None, (each.user,))
    tick = last_tick.read()
    if tick is not None:
        yield Sample("timer_last_run_timestamp_seconds", round(tick.at_ns / 1e9, 3))
        for each in samples_of_users:
            yield Sample("timer_success", each.user not in tick.failed, (each.user,))
    if is_of_all:
        yield Sample("users", len(samples_of_users))
        yield Sample("users_omitted", omitted)


def _roots_of(samples: Iterable[Sample]) -> Iterator[str]:
    for sample in samples:
        if "root" in FAMILIES[sample.family].labels:
            yield sample.labels[-1]


def root_names(paths: Iterable[str]) -> dict[str, str]:
    """A name for each root that says nothing of where it is: `tmp`, `var-tmp`, `dev-shm`, `other-1` to `other-8`."""
    distinct = sorted(set(paths))
    names = {path: _NAMES.get(path, path) for path in distinct if path in _NAMES or path == HOME}
    others = [path for path in distinct if path not in names][:_MOST_OTHER_ROOTS]
    return names | {path: f"other-{number}" for number, path in enumerate(others, 1)}


def _labelled(sample: Sample, user: str, names: dict[str, str]) -> Iterator[Sample]:
    family, labels = FAMILIES[sample.family], sample.labels
    if "root" in family.labels:
        if labels[-1] not in names:
            return
        labels = (*labels[:-1], names[labels[-1]])
    yield Sample(sample.family, sample.value, (user, *labels) if "user" in family.labels else labels)
