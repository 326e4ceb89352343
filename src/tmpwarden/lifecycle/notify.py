"""`[notify] command`: tell a person, by the desktop or a program of theirs, that a root is full though we have cleaned.

Called by unattended runs at their end, in the background; once for each time that a root gets there, and again a day
later while it lasts. The program runs detached, without a shell, and is ended at its deadline.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from ..catalogue.keys import DESKTOP
from ..catalogue.settings import Settings
from ..model.sweep import Space
from ..oskit import system
from ..oskit.files import places, space, state_file
from ..oskit.proc.reach import Reach
from ..text import shown, size

_NAME = "notified"
_AGAIN_NS = 24 * 3600 * 10**9
_CALM_PERCENT = 5  # this much below the threshold it counts as over
_LIMIT_S = 30.0

Start = Callable[[Callable[[], object]], object]


def tell_if_full(settings: Settings, *, start: Start, now_ns: int | None = None) -> tuple[str, ...]:
    """The roots that were told of; `start` runs the program so that nobody waits for it."""
    if not settings.notify_command:
        return ()
    at_percent, when_ns = settings.notify_at_percent, now_ns or time.time_ns()
    last_notes = _read()
    due = []
    for room in _rooms():
        percent = space.percent_used(room)
        if percent < at_percent - _CALM_PERCENT:
            last_notes.pop(room.path, None)
        elif percent >= at_percent and when_ns - last_notes.get(room.path, 0) >= _AGAIN_NS:
            last_notes[room.path] = when_ns
            due.append((room, percent))
    if not state_file.write(state_file.path(_NAME), last_notes):
        return ()  # it could not be remembered, and would be told every hour
    for room, percent in due:
        start(partial(_call, settings.notify_command, _facts(room, percent)))
    return tuple(room.path for room, _ in due)


def _rooms() -> Iterable[Space]:
    reach = Reach.now()
    for root in places.temp_roots():
        if reach.frozen(root) is None:
            try:
                yield space.space_of(root)
            except OSError:
                continue


def _facts(room: Space, percent: int) -> dict[str, str]:
    root = shown(room.path)
    message = f"{root} is {percent}% full ({size(room.bytes_free)} free); `tmpwarden doctor` says what to do"
    return {"root": room.path, "percent": str(percent), "message": message}


def _call(command: tuple[str, ...], facts: dict[str, str]) -> None:
    """{root}, {percent} and {message} in the arguments, and TMPWARDEN_ROOT ... in the environment."""
    words = system.customs.NOTIFIER if command == (DESKTOP,) else command
    argv = [_filled(word, facts) for word in words]
    env = _with_the_desktop(os.environ) | {f"TMPWARDEN_{name.upper()}": value for name, value in facts.items()}
    child = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        child.wait(_LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        child.wait()


def _with_the_desktop(environ: Mapping[str, str]) -> dict[str, str]:
    """cron and a system's timer name no session bus; it is where systemd puts each user's."""
    bus = f"{environ.get('XDG_RUNTIME_DIR') or f'/run/user/{places.uid()}'}/bus"
    known = {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={bus}"} if os.path.exists(bus) else {}
    return known | dict(environ)


def _filled(word: str, facts: dict[str, str]) -> str:
    for name, value in facts.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def _read() -> dict[str, int]:
    try:
        return {str(root): int(when) for root, when in state_file.read(state_file.path(_NAME)).items()}
    except (ValueError, TypeError, AttributeError):
        return {}
