"""`--all-users`: root forks one child for each user; the child becomes that user before it looks, and answers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from ..errors import Interrupted, NeedsRoot, Partial, TmpwardenError, WouldAsk
from ..lazy_dataclass import dataclass
from ..lifecycle.per_user import as_user
from ..lifecycle.users import User, has_agents, has_own_home, preload, users_of
from ..oskit.files import places
from ..text import shown
from .call import Answer, Call
from .envelope import plain
from .progress import Progress, Stop, stopping

LIMIT_S = 600.0  # for one user; clean stops by itself before, between two units
_LAST_WORDS_S = 30.0
_NO_HOME = "has no home directory to record removals in"
Ask = Callable[[], Answer]


@dataclass(frozen=True, slots=True)
class UserReport:
    """What the child of one user reported: the envelope's fields, and the lines a person would have read."""

    user: User
    exit_code: int
    data: object = None
    error: dict[str, str] | None = None
    warnings: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    skipped: str = ""

    @property
    def document(self) -> dict[str, object]:
        document = {"user": self.user.name, "uid": self.user.uid, "exit_code": self.exit_code, "data": self.data}
        skipped = {"skipped": self.skipped} if self.skipped else {}
        return document | {"error": self.error, "warnings": list(self.warnings)} | skipped


def for_each_user(call: Call, ask: Ask, *, yes: bool = True, limit_s: float = LIMIT_S) -> Answer:
    """Let `ask` answer as each user in turn. Root itself never sweeps what belongs to another uid."""
    if os.geteuid() != 0:
        raise NeedsRoot("--all-users")
    if not yes:
        raise WouldAsk(hint="--all-users cannot ask each user: pass --yes, or --dry-run to look first")
    call.roots = tuple(map(os.path.abspath, call.roots))
    users = users_of(places.temp_roots(call.roots))
    preload()
    with stopping(is_removing=True) as stop, Progress(wanted=not call.json) as progress:
        reports = list(_reports(call, ask, users=users, limit_s=limit_s + _LAST_WORDS_S, stop=stop, progress=progress))
    _warn(call, reports)
    status, error = max((each.exit_code for each in reports), default=0), _problem(reports, stop)
    return Answer({"users": [each.document for each in reports]}, lambda: _lines(reports), status, error)


def _reports(
    call: Call, ask: Ask, users: Sequence[User], limit_s: float, stop: Stop, progress: Progress
) -> Iterator[UserReport]:
    for number, user in enumerate(users, 1):
        if stop.wanted():
            return
        progress.tell(f"{shown(user.name)}, {number} of {len(users)} users ...")
        answer_of_child = as_user(user, partial(_report, call, ask, user), limit_s=limit_s, wanted=stop.number)
        if answer_of_child.why:
            error = {"code": "child-failed", "message": answer_of_child.why, "suggestion": ""}
            yield UserReport(user, 1, error=error)
            continue
        report = json.loads(answer_of_child.answer)
        talk = tuple(answer_of_child.talk.splitlines())
        if report is not None:
            yield UserReport(
                user, **report | {"warnings": (*report["warnings"], *talk), "lines": tuple(report["lines"])}
            )


def _report(call: Call, ask: Ask, user: User) -> str:
    """In the child. `null` for a user whom nothing here concerns."""
    from ..catalogue.load import load

    if not user.has_temp and not has_agents(user, (row.place for row in load().rows)):
        return "null"
    if not has_own_home(user):
        return json.dumps(_fields(Answer(), []) | {"skipped": "no-home"})
    try:
        answer = ask()
    except TmpwardenError as error:
        answer = Answer(error=error)
    return json.dumps(_fields(answer, call.warnings), default=plain)


def _fields(answer: Answer, warnings: Iterable[str]) -> dict[str, object]:
    return {
        "exit_code": answer.status,
        "data": answer.data() if callable(answer.data) else answer.data,
        "error": answer.error.described() if answer.error else None,
        "warnings": list(warnings),
        "lines": list(answer.text()) if answer.text else [],
    }


def _warn(call: Call, reports: Sequence[UserReport]) -> None:
    """What children complain of is shown with their names; what all of them say, once."""
    sentences: dict[str, list[str]] = {}
    for each in reports:
        for sentence in each.warnings:
            sentences.setdefault(sentence, []).append(shown(each.user.name))
        if each.skipped:
            call.warn(f"{shown(each.user.name)} was skipped: it {_NO_HOME}")
    for sentence, names in sentences.items():
        call.warn(sentence if len(names) == len(reports) else f"{', '.join(names)}: {sentence}")


def _problem(reports: Sequence[UserReport], stop: Stop) -> TmpwardenError | None:
    if stop.signal_number is not None:
        return Interrupted(stop.signal_number)
    failed = [each for each in reports if each.error]
    if not failed:
        return None  # an exit status without an error, as doctor's 2, is passed on as it is
    reasons = "; ".join(f"{shown(each.user.name)}: {each.error['message']}" for each in failed if each.error)
    hints = dict.fromkeys(each.error["suggestion"] for each in failed if each.error and each.error["suggestion"])
    return Partial(f"it failed for {reasons}", hint="; ".join(hints))


def _lines(reports: Sequence[UserReport]) -> Iterator[str]:
    for number, each in enumerate(reports):
        if each.skipped:
            continue
        if number:
            yield ""
        yield f"{shown(each.user.name)} (uid {each.user.uid})"
        for line in each.lines:
            yield f"  {line}".rstrip()
        if each.error:
            yield f"  failed: {each.error['message']}"
