"""`tmpwarden keep PATH`: never remove this."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

import click

from ...catalogue.settings import load_settings
from ...errors import NotFound
from ...leases import kept_processes
from ...oskit.files import atomic, own_dirs, places
from ...oskit.proc.reach import as_named
from ...text import shown
from .. import ask, kinds
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import UntouchedPath

_MOST_LINKS = 40  # as many as the kernel follows


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, type=UntouchedPath(), shell_complete=kinds.kept_paths)
@click.option("--forget", is_flag=True, help="Remove PATH from the list.")
@pass_call
def command(call: Call, paths: tuple[str, ...], forget: bool) -> Answer:
    """Never remove PATH, what is in it, the directories above it, or what it links to. Without PATH: show the list.

    The list is the file `keep` beside config.toml; `paths` in [keep] of config.toml counts too. `pid:1234`
    keeps `tmpwarden orphans` from ending that process, `process:GLOB` from ending any whose command line matches.
    """
    if forget:
        ask.refuse_agents()
    programs = [path for path in paths if path.startswith(kept_processes.PREFIXES)]
    _keep_processes(programs, forget)
    wanted = [as_named(os.path.expanduser(path)) for path in paths if path not in programs]
    wanted += [there for path in wanted for there in _led_to(path) if there not in wanted]
    if forget:
        _forget(wanted)
    elif wanted:
        add(wanted)
        for path in wanted:
            if not os.path.lexists(path):
                call.warn(f"there is nothing at {shown(path)} yet; it is kept once it appears")
    listed = load_settings(call.config_file).keep_paths
    kept = kept_processes.read().entries
    data = {"paths": list(listed), "processes": list(kept)}
    return Answer(data, lambda: _lines([*wanted, *programs], (*listed, *kept), forget))


def _keep_processes(words: Iterable[str], forget: bool) -> None:
    for word in words:
        if forget:
            if not kept_processes.forget(word):
                raise NotFound(f"{shown(word)} is not on the keep list", hint="`tmpwarden keep` shows the list")
        elif (entry := kept_processes.entry_for(word)) is None:
            raise NotFound(f"{shown(word)}: there is no such process", hint="`tmpwarden orphans` lists them")
        else:
            kept_processes.add(entry)


def _led_to(path: str) -> Iterable[str]:
    """Where a link leads: who names it means that, too."""
    for _ in range(_MOST_LINKS):
        if not os.path.islink(path):
            return
        path = as_named(os.path.join(os.path.dirname(path), os.readlink(path)))
        yield path


def _file() -> str:
    return os.path.join(places.config_dir(), "keep")


def _own_lines() -> list[str]:
    try:
        with open(_file(), encoding="utf-8") as lines:
            return [line.rstrip("\n") for line in lines]
    except FileNotFoundError:
        return []


def add(wanted: Iterable[str]) -> None:
    own_dirs.make_private_dir(places.config_dir())
    known = _own_lines()
    for path in wanted:
        line = json.dumps(path)
        if line not in known:
            atomic.append_line(_file(), line)


def _forget(wanted: Iterable[str]) -> None:
    wanted = list(wanted)
    unwanted = {json.dumps(path) for path in wanted}
    known = _own_lines()
    missing = unwanted - set(known) - {json.dumps(there) for path in wanted for there in _led_to(path)}
    if missing:
        path = shown(json.loads(min(missing)))
        raise NotFound(f"{path} is not on the keep list", hint="`tmpwarden keep` shows the list")
    atomic.write(_file(), "".join(f"{line}\n" for line in known if line not in unwanted))


def _lines(wanted: list[str], listed: tuple[str, ...], forget: bool) -> Iterable[str]:
    if wanted:
        return [f"{'No longer kept' if forget else 'Kept'}: {shown(path)}" for path in wanted]
    return [shown(path) for path in listed] or ["The keep list is empty: `tmpwarden keep PATH` adds to it."]
