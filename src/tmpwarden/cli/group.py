"""The command group: loads one module per command when it is called, and takes the common options anywhere."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import click

from .. import __version__
from ..text import did_you_mean
from .call import Answer, Call, Done
from .commands import TABLE
from .examples import attach

COMPLETION_VARIABLE = "_TMPWARDEN_COMPLETE"
_COMMANDS_DIR = os.path.join(os.path.dirname(__file__), "commands")


def pass_call(function: Callable[..., Any]) -> Callable[..., Any]:
    """Hand the `Call` to a command as its first argument. A group answers only where none of its commands was named."""

    def with_call(*args: Any, **options: Any) -> Any:
        context = click.get_current_context()
        return None if context.invoked_subcommand else function(call_of(context), *args, **options)

    return update_wrapper(with_call, function)


def call_of(context: click.Context) -> Call:
    call = context.find_root().obj
    assert isinstance(call, Call)
    return call


def _set_json(context: click.Context, _: click.Parameter, value: bool) -> None:
    call_of(context).json |= value


def _add_roots(context: click.Context, _: click.Parameter, value: tuple[str, ...]) -> None:
    call_of(context).roots += value


def _set_config(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        call_of(context).config_file = value


def _tell_version(_: click.Context, __: click.Parameter, value: bool) -> None:
    if value:
        raise Done(Answer({"version": __version__}, lambda: [f"tmpwarden {__version__}"]))


def common_options() -> list[click.Parameter]:
    rows: tuple[tuple[str, Any, str, dict[str, Any]], ...] = (
        ("--json", _set_json, "One JSON object on stdout, on failure too.", {"is_flag": True, "is_eager": True}),
        ("--root", _add_roots, "Look only below DIR; may be repeated.", {"multiple": True, "metavar": "DIR"}),
        ("--config", _set_config, "Read FILE as config.toml.", {"metavar": "FILE"}),
        ("--version", _tell_version, "Show the version and exit.", {"is_flag": True}),
    )
    return [click.Option([name], callback=do, help=words, expose_value=False, **more) for name, do, words, more in rows]


def with_common_options(command: click.Command, path: str = "") -> click.Command:
    """Add what is not there yet, in every subcommand too: people put `--json` last. And the examples for --help."""
    taken = {name for parameter in command.params for name in parameter.opts}
    command.params += [option for option in common_options() if not taken & set(option.opts)]
    if isinstance(command, click.Group):
        command.no_args_is_help = False  # "missing command" is a sentence; a page of help is none
        for name, below in command.commands.items():
            below.short_help = below.short_help or " ".join(
                (below.help or "").partition("\n\n")[0].split()
            )  # all of it
            with_common_options(below, f"{path} {name}".strip())
    attach(command, path)
    return command


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        there = set(os.listdir(_COMMANDS_DIR))
        return [name for _, name, _ in TABLE if f"{name}.py" in there]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands:
            if cmd_name not in self.list_commands(ctx):
                return None
            module = importlib.import_module(f"{__package__}.commands.{cmd_name}")
            self.commands[cmd_name] = with_common_options(module.command, cmd_name)
        return self.commands[cmd_name]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            near = did_you_mean(args[0], self.list_commands(ctx), "`tmpwarden {0}`")
            raise click.UsageError(f"there is no command {args[0]!r}{near}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        there = set(self.list_commands(ctx))
        for section in dict.fromkeys(section for section, _, _ in TABLE):
            rows = [(name, summary) for of, name, summary in TABLE if of == section and name in there]
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)
