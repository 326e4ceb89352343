"""`tmpwarden metrics`: what a fleet's monitoring reads of this user or this host."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from ...metrics import families, series
from ...metrics.families import FAMILIES, PREFIX, Sample
from ...model.request import Request
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import AnsweringPath, all_users_option, write_output


@click.command()
@click.option("-o", "--output", metavar="FILE", type=AnsweringPath(), help="Write to FILE instead of stdout.")
@all_users_option
@pass_call
def command(call: Call, output: str | None, all_users: bool) -> Answer:
    """Print usage, leftovers, totals, sessions and doctor's checks in the Prometheus text format.

    No series has a path or a session in its labels. Nothing is changed. For a whole host, every hour, read by
    node_exporter's textfile collector: `tmpwarden install timer --system --metrics DIR`.
    """
    request = Request(roots=call.roots, config_file=call.config_file)
    look = series.of_all_users if all_users else series.of_this_user
    samples = look(request, now_ns=call.now_ns)
    text = families.text(samples)
    if output is not None:
        write_output(os.path.abspath(output), text, 0o644)
        return Answer({"file": os.path.abspath(output), "series": len(samples)})
    return Answer(lambda: _document(samples), text.splitlines)


def _document(samples: Sequence[Sample]) -> dict[str, object]:
    return {
        "series": [
            {
                "name": PREFIX + each.family,
                "labels": dict(zip(FAMILIES[each.family].labels, each.labels, strict=True)),
                "value": each.value,
            }
            for each in samples
        ]
    }
