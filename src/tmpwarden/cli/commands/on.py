"""`tmpwarden on`: hooks do their work again."""

from __future__ import annotations

import click

from ...oskit.files import own_files
from ..call import Answer, Call
from ..group import pass_call
from .off import path


@click.command()
@pass_call
def command(call: Call) -> Answer:
    """Switch the hooks on again that `tmpwarden off` has switched off."""
    own_files.remove_file(path())
    return Answer({"off": False}, lambda: ["Hooks are on."])
