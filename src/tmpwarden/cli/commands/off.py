"""`tmpwarden off` and `on`: every hook passes at once, until `on`. For people: an agent cannot do this for itself."""

from __future__ import annotations

import os
import time

import click

from ...hooks.notebook import OFF
from ...oskit.files import atomic, own_dirs, own_files, places
from ...text import duration, shown
from .. import ask
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import age


@click.command()
@click.option("--for", "for_s", type=age, metavar="DURATION", help="Switch on again automatically after this time.")
@pass_call
def command(call: Call, for_s: int | None) -> Answer:
    """Switch all hooks off: no guard, no clean-up, no temp directories.

    Each new session says so. Commands and timers work as before. `tmpwarden on` switches the hooks on again.
    """
    ask.refuse_agents()
    own_dirs.make_private_dir(places.config_dir())
    atomic.write(path(), "" if for_s is None else "until the date of this file\n")
    until = None if for_s is None else int(call.now_ns() / 10**9) + for_s
    if until is not None:
        os.utime(path(), (until, until))
    when = "" if for_s is None else f" for {duration(for_s)}, until {time.strftime('%H:%M', time.localtime(until))}"
    data = {"off": True, "until": until, "file": path()}
    return Answer(data, lambda: [f"Hooks are off{when} ({shown(path())}). To switch them on again: tmpwarden on"])


def path() -> str:
    return os.path.join(places.config_dir(), OFF)


def off_until() -> float | None:
    """When the hooks are on again by themselves: 0 for never, None where they are on."""
    try:
        status = os.stat(path())
    except OSError:
        return None
    if status.st_size == 0:
        return 0
    return status.st_mtime if status.st_mtime > time.time() else None


@click.command()
@pass_call
def on(call: Call) -> Answer:
    """Switch the hooks on again after `tmpwarden off`."""
    own_files.remove_file(path())
    return Answer({"off": False}, lambda: ["Hooks are on."])
