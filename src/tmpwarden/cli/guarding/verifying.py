"""`tmpwarden guard verify`: every mistake in the rules, and rules that do not do what they say."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ...errors import BadConfig
from ...guard.decide.proving import unproven
from ...guard.rules.config import Loaded
from ...guard.rules.verify import verify as verified
from ...text import shown
from .. import documents
from ..call import Answer, Call
from ..group import pass_call
from .files import files, temp_roots

_REMEDY = "{0} does not call the guard for every tool that these rules name: `tmpwarden install {0} --guard` adds them."


@click.command()
@click.option("--preset", metavar="NAME", help="Verify this preset alone, without your config.")
@pass_call
def verify(call: Call, preset: str | None) -> Answer:
    """Every mistake in the guard's config, with file, line and key, and rules that cannot be meant so."""
    found = verified(() if preset else files(call), preset=preset, temp_roots=temp_roots())
    loaded = Loaded(found.rules, (*found.mistakes, *unproven(found)), found.sources)
    fatal = [mistake for mistake in loaded.mistakes if mistake.fatal]
    unreached = _unreached(loaded) if preset is None and not fatal else ()
    data = {
        "files": [source.path for source in loaded.sources],
        "rules": _count(loaded),
        "mistakes": [documents.of(one, "file", "line", "key", "message", "fatal") for one in loaded.mistakes],
        "unreached": list(unreached),
    }
    if not fatal:
        return Answer(data, lambda: [*_told(loaded), *map(_REMEDY.format, unreached)])
    error = BadConfig(fatal[0].file, f"{len(fatal)} mistake{'s' if len(fatal) > 1 else ''}", hint="it is not in force")
    return Answer(data, lambda: _told(loaded), error=error)


def _unreached(loaded: Loaded) -> tuple[str, ...]:
    """Agents with the guard that do not call it for a tool which a rule names."""
    if not loaded.rules.rules_about_tools():
        return ()
    from ...setup.health import of_hooks  # only who has such rules pays for a look into all settings

    return tuple(state.agent for state in of_hooks() if state.state == "unreached")


def _told(loaded: Loaded) -> Iterable[str]:
    for mistake in loaded.mistakes:
        yield shown(f"{mistake}" if mistake.fatal else f"{mistake} (a remark)")
    if not loaded.mistakes:
        yield f"No mistake: {_count(loaded)} rules from {', '.join(source.path for source in loaded.sources)}."


def _count(loaded: Loaded) -> int:
    return len(loaded.rules.rules) + len(loaded.rules.rows)
