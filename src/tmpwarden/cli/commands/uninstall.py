"""`tmpwarden uninstall`: take the hooks out of an agent's settings again."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ...text import shown
from .. import ask
from ..call import Answer, Call
from ..group import pass_call
from .install import _NAMES, _diffs


@click.command()
@click.argument("what", metavar="AGENT|timer", type=_NAMES)
@click.option("-n", "--dry-run", is_flag=True, help="Show the change and make none.")
@pass_call
def command(call: Call, what: str, dry_run: bool) -> Answer:
    """Take tmpwarden out of an agent's settings; a file nobody else changed gets its old bytes back."""
    from ...setup import apply, timer

    if not dry_run:
        ask.refuse_agents()
    done = timer.uninstall(dry_run=dry_run) if what == "timer" else apply.uninstall(what, dry_run=dry_run)
    paths = [edit.path for edit in done.changed]
    data = {"agent": what, "changed": paths, "dry_run": dry_run}
    if dry_run:
        return Answer(data | {"diff": [edit.diff() for edit in done.changed]}, lambda: _diffs(done.changed))

    def text() -> Iterator[str]:
        for edit in done.changed:
            yield f"{'restored' if edit.is_former else 'took tmpwarden out of'} {shown(edit.path)}"
        if not paths:
            yield f"There was nothing of tmpwarden in the settings of {what}."

    return Answer(data, text)
