"""The command line as click reads it: --help, completion, mistakes, and every command that need not start fast."""

from __future__ import annotations

import re

import click

from ..errors import BadArgument
from ..text import did_you_mean, nearest
from .call import Answer, Call
from .group import COMPLETION_VARIABLE, LazyGroup, with_common_options


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def tmpwarden(context: click.Context) -> object:
    """Clears what coding agents leave in temp directories, and says why each thing stays or goes.

    Without a command: `tmpwarden status`.
    """
    if context.invoked_subcommand is not None:
        return None
    status = tmpwarden.get_command(context, "status")
    assert status is not None
    return context.invoke(status)


with_common_options(tmpwarden)


def called(call: Call, argv: list[str]) -> Answer:
    """The command's answer; what click has to say about the line becomes an error of ours."""
    try:
        with tmpwarden.make_context("tmpwarden", argv, obj=call) as context:
            result = tmpwarden.invoke(context)
            return result if isinstance(result, Answer) else Answer()
    except click.exceptions.Exit as done:
        return Answer(exit_code=done.exit_code)
    except click.ClickException as error:
        raise BadArgument(_sentence(error), hint=_help_for(error)) from None
    except click.Abort:
        raise KeyboardInterrupt from None


def complete(instruction: str) -> int:
    """A shell asks what could come next (`tmpwarden completion` set that up)."""
    from click.shell_completion import shell_complete

    return shell_complete(tmpwarden, {"obj": Call()}, "tmpwarden", COMPLETION_VARIABLE, instruction)


def _sentence(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption):  # click takes the dashes for likeness: --nope, did you mean --force?
        words = [name.lstrip("-") for name in _options(error.ctx)]
        return f"no such option: {error.option_name}{did_you_mean(error.option_name.lstrip('-'), words, '--{0}')}"
    text = error.format_message().rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _options(context: click.Context | None) -> list[str]:
    known = context.command.get_params(context) if context else []
    return [name for each in known if isinstance(each, click.Option) for name in each.opts if name.startswith("--")]


def _help_for(error: click.ClickException) -> str:
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    if isinstance(parameter, click.Parameter) and isinstance(parameter.type, click.Choice):
        written = re.search(r"'([^']*)' is not one of", error.format_message())
        if written and (near := nearest(written[1], map(str, parameter.type.choices))):
            return f"did you mean {near}?"
    return f"`{context.command_path if context else 'tmpwarden'} --help` shows how it is called"
