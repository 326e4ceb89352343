"""`tmpwarden`: how full, who lives, what was done last, what to do next."""

from __future__ import annotations

import click

from ..call import Answer, Call
from ..group import pass_call


@click.command()
@pass_call
def command(call: Call) -> Answer:
    """How full, live sessions and their scratch, hooks, last clean, next step."""
    return Answer({}, lambda: ["not built yet"])
