"""`tmpwarden bugreport`: what a maintainer would ask for first, with names hashed."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections import deque
from collections.abc import Callable, Iterator

import click

from ... import __version__
from ...catalogue.load import load
from ...catalogue.settings import load_settings
from ...errors import TmpwardenError
from ...oskit.files import places, space
from ...setup import apply, timer
from ...sweep.store import journal
from .. import documents
from ..call import Answer, Call
from ..discreet import Discreet
from ..group import pass_call
from ..kinds import at_least

_LINES = 20
_VARIABLES = ("TMPDIR", "TMPWARDEN_ROOTS", "TMPWARDEN_DISABLE", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "SHELL", "TERM")


@click.command()
@click.option("--names", is_flag=True, help="Tell paths, sessions, user and host as they are.")
@click.option(
    "-n", "count", type=at_least(0), metavar="COUNT", default=_LINES, show_default=True, help="Lines of the journal."
)
@pass_call
def command(call: Call, names: bool, count: int) -> Answer:
    """Versions, settings, what the doctor says and the last lines of the journal, to put into a bug report.

    Names of files, sessions, this user and this host are replaced by marks such as #3f9a1c, the same name by the same
    mark, with a key that nobody keeps. Nothing is sent anywhere: read it, then paste it.
    """
    discreet = Discreet(_agents(), is_open=names)
    sections: dict[str, Callable[[], object]] = {
        "versions": _versions,
        "environment": lambda: {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        "roots": lambda: [documents.space(space.space_of(root)) for root in places.temp_roots(call.roots)],
        "settings": lambda: _settings(call),
        "agents": lambda: {each.id: each.state for each in apply.table()} | {"timer": timer.state()},
        "doctor": lambda: _doctor(call),
        "journal": lambda: list(deque(journal.entries(places.state_dir()), maxlen=count)),
    }
    told = {title: discreet.data(_section(look)) for title, look in sections.items()}
    return Answer(told, lambda: _lines(told))


def _agents() -> tuple[str, ...]:
    try:
        return tuple(agent.id for agent in load(dirs=()).agents)
    except (TmpwardenError, OSError):
        return ()


def _section(look: Callable[[], object]) -> object:
    """What is broken may be what the report is about: the rest is told all the same."""
    try:
        return look()
    except Exception as error:
        return f"could not be told: {type(error).__name__}: {error}"


def _versions() -> dict[str, object]:
    from importlib import metadata

    found: dict[str, object] = {"tmpwarden": __version__, "python": platform.python_version()}
    for name in ("click", "rich", "textual", "psutil"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return found | {"system": system, "executable": sys.executable, "uid": places.uid()}


def _settings(call: Call) -> dict[str, object]:
    """What somebody set; the rest has its default."""
    settings = load_settings(call.config_file)
    said = {key: str(value) for key, value, origin in settings.effective() if origin != "default"}
    return {"set": said, "files": list(settings.files), "warnings": list(settings.warnings)}


def _doctor(call: Call) -> object:
    from . import doctor

    answer = doctor.answered(call, no_probe=True, verbose=True)
    return answer.data() if callable(answer.data) else answer.data


def _lines(told: dict[str, object]) -> Iterator[str]:
    """Markdown, as an issue wants it."""
    for title, content in told.items():
        yield f"### {title}"
        yield "```"
        rows = content.get("diagnoses") if isinstance(content, dict) and "diagnoses" in content else content
        if isinstance(rows, list):
            yield from (json.dumps(each, ensure_ascii=True) for each in rows)
        elif isinstance(rows, dict):
            yield from (f"{key}: {json.dumps(value, ensure_ascii=True)}" for key, value in rows.items())
        else:
            yield str(rows)
        yield "```"
