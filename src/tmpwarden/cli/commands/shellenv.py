"""`tmpwarden shellenv`: shell functions that start agents with a scratch of their own."""

from __future__ import annotations

import os
import shutil
import sys

import click

from ..call import Answer, Call
from ..group import pass_call


@click.command()
@click.argument("shell", required=False, type=click.Choice(["bash", "zsh", "fish"]))
@pass_call
def command(call: Call, shell: str | None) -> Answer:
    """Print shell functions that start the agents found here under `tmpwarden run`.

    In ~/.bashrc or ~/.zshrc: eval "$(tmpwarden shellenv)"; in config.fish: tmpwarden shellenv fish | source
    """
    from ...setup.shells import functions, programs_here, shell_of

    chosen = shell or shell_of(os.environ.get("SHELL", ""))
    programs = programs_here()
    own = shutil.which("tmpwarden") or os.path.abspath(sys.argv[0])
    text = functions(chosen, own, programs)
    if not programs:
        call.warn("no agent was found on PATH, so no function is needed")
    data = {"shell": chosen, "programs": [program for program, _ in programs], "functions": text}
    return Answer(data, lambda: [text.rstrip("\n")] if text else [])
