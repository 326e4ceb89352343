"""`clean --all-users`: root forks one child for each user with litter; the child becomes that user before it looks."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator

from ..errors import NeedsRoot, Partial, WouldAsk
from ..lifecycle.users import User, become, users_of
from ..oskit.files import places
from ..text import shown, size
from .call import Answer, Call
from .envelope import describe


def for_each_user(call: Call, clean: Callable[[], Answer], *, yes: bool) -> Answer:
    """Run `clean` as each user in turn. Root itself never sweeps what belongs to another uid."""
    if os.geteuid() != 0:
        raise NeedsRoot("--all-users")
    if not yes:
        raise WouldAsk(hint="--all-users cannot ask each user: pass --yes, or --dry-run to look first")
    told = [(user, _as_user(user, clean)) for user in users_of(places.temp_roots(call.roots))]
    failed = [user.name for user, report in told if report["exit_code"]]
    error = Partial(f"it did not work out for {', '.join(failed)}") if failed else None
    data = {"users": [{"user": user.name, "uid": user.uid, **report} for user, report in told]}
    return Answer(data, lambda: _lines(told), error.exit_code if error else 0, error)


def _as_user(user: User, clean: Callable[[], Answer]) -> dict[str, object]:
    """What a child that has become `user` reports. A child that dies reports a failure."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reading)
            become(user)
            answer = clean()
            with os.fdopen(writing, "w") as pipe:
                json.dump(_report(answer), pipe)
            status = 0
        except BaseException as error:
            print(f"tmpwarden: as {user.name}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    report: dict[str, object] = json.loads(text) if text else {"exit_code": 1, "data": None, "error": None}
    return report


def _report(answer: Answer) -> dict[str, object]:
    return {
        "exit_code": answer.exit_code,
        "data": answer.data() if callable(answer.data) else answer.data,
        "error": describe(answer.error) if answer.error else None,
    }


def _lines(told: list[tuple[User, dict[str, object]]]) -> Iterator[str]:
    for user, report in told:
        data = report["data"]
        if not isinstance(data, dict):
            yield f"{user.name}: failed"
            continue
        verb = "would remove" if data["effect"] == "would_delete" else "removed"
        units = data["removed"]
        amount = sum(unit["bytes"] or 0 for unit in units)
        yield f"{shown(user.name)}: {verb} {len(units)} units, {size(amount)}; kept {len(data['kept'])}"
