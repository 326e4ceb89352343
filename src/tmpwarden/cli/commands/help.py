"""`tmpwarden help [COMMAND]`: what `--help` says, for who asks that way."""

from __future__ import annotations

import click

from ... import __version__
from ...text import did_you_mean
from .. import kinds
from ..call import Answer


@click.command()
@click.argument("words", metavar="[COMMAND]...", nargs=-1, shell_complete=kinds.commands)
@click.pass_context
def command(context: click.Context, words: tuple[str, ...]) -> Answer:
    """Show what a command does, its options and examples. Same as `tmpwarden COMMAND --help`."""
    root = context.find_root()
    text = _context_of(root, words).get_help()
    return Answer({"command": " ".join(("tmpwarden", *words)), "help": text}, lambda: [text])


@click.command()
def version() -> Answer:
    """Print the version. Same as `tmpwarden --version`."""
    return Answer({"version": __version__}, lambda: [f"tmpwarden {__version__}"])


def _context_of(root: click.Context, words: tuple[str, ...]) -> click.Context:
    context = root
    for word in words:
        group = context.command
        below = group.get_command(context, word) if isinstance(group, click.Group) else None
        if below is None:
            known = group.list_commands(context) if isinstance(group, click.Group) else []
            sentence = f"{context.command_path!r} has no command {word!r}{did_you_mean(word, known)}"
            raise click.UsageError(sentence, context)
        context = below.context_class(below, info_name=word, parent=context, **below.context_settings)
    return context
