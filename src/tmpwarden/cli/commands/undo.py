"""`tmpwarden undo`: bring back what lies in quarantine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import click

from ...errors import TmpwardenError
from ...oskit.files import places
from ...repos.worktrees.changes import undo_with_entries
from ...sweep.store.quarantine import squatted
from ...sweep.store.undo import Restored
from ...text import plural, shown, size
from .. import documents, kinds
from ..call import Answer, Call
from ..envelope import Spool
from ..group import pass_call


@click.command()
@click.argument("token", metavar="[ID]", required=False, shell_complete=kinds.undo_ids)
@click.option("--to", "directory", metavar="DIR", type=kinds.AnsweringDirectory(), help="Restore it in this directory.")
@pass_call
def command(call: Call, token: str | None, directory: str | None) -> Answer:
    """Bring back what the last clean removed, or the one item with this ID.

    `tmpwarden log` lists the IDs; the first few characters are enough. Deleted items cannot be brought back.
    """
    with contextlib.suppress(TmpwardenError):  # roots that may not be swept hold no quarantine of ours
        call.warn(*squatted(places.temp_roots(call.roots), places.state_dir()))
    restored, warnings = undo_with_entries(token, directory)
    call.warn(*warnings)
    names = ("id", "path", "bytes", "entries")
    return Answer(
        lambda: {"restored": Spool(documents.of(each, *names) for each in restored)}, lambda: _lines(restored)
    )


def _lines(restored: Sequence[Restored]) -> Iterator[str]:
    for each in restored:
        yield f"{size(each.bytes):>10}  {shown(each.path)}"
    total = sum(each.bytes for each in restored)
    yield f"Brought back {plural(len(restored), 'item')}, {size(total)}."
