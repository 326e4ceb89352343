"""`tmpwarden completion SHELL`: the lines that teach a shell to complete our commands and options."""

from __future__ import annotations

import os

import click
from click.shell_completion import get_completion_class

from ...errors import BadArgument
from ..call import Answer
from ..group import COMPLETION_VARIABLE

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", required=False, type=click.Choice(_SHELLS))
@click.pass_context
def command(context: click.Context, shell: str | None) -> Answer:
    """Print completion for SHELL (bash, zsh or fish; default: the one $SHELL names). Safe to load twice.

    \b
    in ~/.bashrc: eval "$(tmpwarden completion bash)"
    in ~/.zshrc:  eval "$(tmpwarden completion zsh)"
    config.fish:  tmpwarden completion fish | source
    """
    chosen = shell or os.path.basename(os.environ.get("SHELL", ""))
    if chosen not in _SHELLS:
        raise BadArgument("could not find out which shell you use", hint="name it: bash, zsh or fish")
    source = source_of(context, chosen)
    return Answer({"shell": chosen, "source": source}, lambda: [source])


def source_of(context: click.Context, shell: str) -> str:
    maker = get_completion_class(shell)
    return maker(context.find_root().command, {}, "tmpwarden", COMPLETION_VARIABLE).source() if maker else ""
