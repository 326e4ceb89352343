"""The command line as click reads it: a module per command, common options anywhere, examples in --help."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache, update_wrapper
from typing import Any

import click

from .. import __version__
from ..errors import BadArgument
from ..text import did_you_mean, nearest, shown
from .call import Answer, Call, Done
from .commands import HIDDEN, TABLE, WITH
from .kinds import AnsweringPath
from .paint import fold, width_of

Example = tuple[str, str]  # what to type after `tmpwarden`, what it does
_HYPHEN = "\u2011"  # where no line may be broken
_WIDEST = 80  # columns that click writes; less on a narrow terminal
_FILE = os.path.join(os.path.dirname(__file__), "examples.txt")
COMPLETION_VARIABLE = "_TMPWARDEN_COMPLETE"


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
        ("--json", _set_json, "Print one JSON object, also on failure.", {"is_flag": True, "is_eager": True}),
        ("--root", _add_roots, "Only look in DIR; may be repeated.", {"multiple": True, "metavar": "DIR"}),
        ("--config", _set_config, "Use FILE instead of config.toml.", {"metavar": "FILE", "type": AnsweringPath()}),
        ("-V --version", _tell_version, "Print the version.", {"is_flag": True}),
    )
    return [
        click.Option(names.split(), callback=do, help=words, expose_value=False, **more)
        for names, do, words, more in rows
    ]


def with_common_options(command: click.Command, path: str = "") -> click.Command:
    """Add what is not there yet, in every subcommand too: people put `--json` last. And the examples for --help."""
    command.context_class = _Context
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


@cache
def examples() -> dict[str, list[Example]]:
    """What people really type, by command (`worktrees proof`; "" is `tmpwarden` alone). A test runs each of them."""
    examples_of: dict[str, list[Example]] = {}
    path = ""
    with open(_FILE, encoding="utf-8") as lines:
        for line in lines:
            typed, _, does = line.rstrip("\n").partition("  # ")
            words = typed.strip().removeprefix("tmpwarden").strip()
            if does:
                examples_of[path].append((words, does))
            elif words.endswith(":"):
                path = words.removesuffix(":")
                examples_of[path] = []
    return examples_of


def attach(command: click.Command, path: str) -> None:
    """Put the examples of `tmpwarden PATH` below its options."""
    lines = examples().get(path)
    if lines and not command.epilog:
        command.epilog = "\b\nExamples:\n" + "\n".join(_aligned(lines))


class _Formatter(click.HelpFormatter):
    """click's, which breaks no word at its hyphen and leaves text room beside options on a narrow terminal."""

    def write_text(self, text: str) -> None:
        super().write_text(_whole(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        rows_of_text = [(name, _whole(text)) for name, text in rows]
        super().write_dl(rows_of_text, min(col_max, self.width * 2 // 5), col_spacing)

    def getvalue(self) -> str:
        return super().getvalue().replace(_HYPHEN, "-")


class _Context(click.Context):
    formatter_class = _Formatter


def _whole(text: str) -> str:
    return re.sub(r"(?<=\w)-(?=\w)", _HYPHEN, text)


def columns() -> int:
    return min(width_of(sys.stdout) or _WIDEST, _WIDEST)


def _aligned(lines: list[Example]) -> list[str]:
    """One line each where that fits, else what it does on the line below."""
    room = columns() - 4  # click indents by two, and keeps two free
    typed = [f"  tmpwarden {words}".rstrip() for words, _ in lines]
    column = max(map(len, typed)) + 2
    if all(column + len(does) <= room for _, does in lines):
        return [f"{words:<{column}}{does}" for words, (_, does) in zip(typed, lines, strict=True)]
    below = (list(fold(f"      {does}", room)) for _, does in lines)
    return [line for words, more in zip(typed, below, strict=True) for line in (words, *more)]


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for _, name, _ in TABLE]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands:
            if cmd_name not in (*self.list_commands(ctx), *HIDDEN):
                return None
            module = importlib.import_module(f"{__package__}.commands.{WITH.get(cmd_name, cmd_name)}")
            command = getattr(module, cmd_name if cmd_name in WITH else "command")
            self.commands[cmd_name] = with_common_options(command, cmd_name)
        return self.commands[cmd_name]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            near = did_you_mean(args[0], self.list_commands(ctx), "`tmpwarden {0}`")
            raise click.UsageError(f"unknown command {args[0]!r}{near}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section in dict.fromkeys(section for section, _, _ in TABLE):
            rows = [(name, summary) for of, name, summary in TABLE if of == section]
            with formatter.section(section):
                formatter.write_dl(rows)


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def tmpwarden(context: click.Context) -> object:
    """Removes what coding agents leave behind in temp directories, and never what a running session uses.

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
        with tmpwarden.make_context("tmpwarden", argv, obj=call, terminal_width=columns() - 2) as context:
            result = tmpwarden.invoke(context)
            return result if isinstance(result, Answer) else Answer()
    except click.exceptions.Exit as exit_:
        return Answer(exit_code=exit_.exit_code)
    except click.ClickException as error:
        raise BadArgument(_sentence(error), hint=_help_for(error)) from None
    except click.Abort:
        raise KeyboardInterrupt from None


def complete(instruction: str) -> int:
    """A shell asks what could come next (`tmpwarden completion` set that up)."""
    from click.shell_completion import shell_complete

    return shell_complete(tmpwarden, {"obj": Call()}, "tmpwarden", COMPLETION_VARIABLE, instruction)


def _sentence(error: click.ClickException) -> str:
    """What was typed is a name like any other: escaped before a terminal sees it."""
    return "".join(each if each.isprintable() else shown(each)[2:-1] for each in _words(error))


def _words(error: click.ClickException) -> str:
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
    return f"`{context.command_path if context else 'tmpwarden'} --help` shows its options"
