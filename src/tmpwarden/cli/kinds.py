"""What a user may write after an option: ages, budgets, agents. Each failure is one sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import click

from ..text import parse_duration, parse_size, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from click.shell_completion import CompletionItem

    from .call import Answer, Call


# What a shell offers behind a command: ids that can come back, kept paths, agents. Each answers in a moment.

_SHORT = 8  # characters of an id, as `log` shows them


def undo_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What lies in quarantine, the newest first, each with its path."""
    from tmpwarden.oskit.files import places
    from tmpwarden.sweep.store import journal

    restorable = journal.restorable(places.state_dir()).newest_first()
    return list(_items(((str(each["id"])[:_SHORT], str(each["path"])) for each in restorable), incomplete))


def rescue_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from tmpwarden.repos.rescue import store

    return list(_items(((each.id, each.path) for each in reversed(store.everything())), incomplete))


def kept_paths(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """With --forget what is on the list; else any path."""
    from click.shell_completion import CompletionItem

    if not context.params.get("forget"):
        return [CompletionItem(incomplete, type="file")]
    from tmpwarden.catalogue.settings import load_settings
    from tmpwarden.leases import kept_processes

    listed = (*load_settings().keep_paths, *kept_processes.read().entries)
    return list(_items(((path, "") for path in listed), incomplete))


def agents(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from tmpwarden.catalogue.load import load

    return list(_items(((agent.id, agent.name) for agent in load().agents), incomplete))


def commands(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Of `help orphans e`: the commands of the group that the words before name."""
    command: click.Command | None = context.find_root().command
    for word in context.params.get("words") or ():
        command = command.get_command(context, word) if isinstance(command, click.Group) else None
    names = command.list_commands(context) if isinstance(command, click.Group) else []
    return list(_items(((name, "") for name in names), incomplete))


def keys(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Of config.toml, with what each is for."""
    from tmpwarden.catalogue.keys import KEYS

    return list(_items([(name, key.about) for name, key in KEYS.items()], incomplete))


def _items(offered: Iterator[tuple[str, str]] | list[tuple[str, str]], incomplete: str) -> Iterator[CompletionItem]:
    from click.shell_completion import CompletionItem

    for value, about in offered:
        if value.startswith(incomplete) and "\n" not in value:  # a shell reads one offer a line
            yield CompletionItem(value, help=shown(about) or None)


def age(text: str) -> int:
    """`90s 30m 1h30m 24h 7d` as seconds."""
    try:
        return parse_duration(text)
    except ValueError as error:
        raise _bad(str(error)) from None


age.__name__ = "duration"  # what --help calls its value


def byte_size(text: str) -> int:
    """`800M`, `2G` as bytes."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise _bad(str(error)) from None


def budget(text: str) -> tuple[int | None, int | None]:
    """`800M`, `2G` as (bytes, None), `80%` as (None, percent)."""
    if text.endswith("%"):
        digits = text[:-1]
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 3 and int(digits) <= 100):
            raise _bad(f"{shown(text)} is not a percentage; write 0% to 100%")
        return None, int(digits)
    return byte_size(text), None


budget.__name__ = byte_size.__name__ = "size"


def pid(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise _bad(f"{shown(text)} is not a PID")
    return int(text)


def at_least(least: int) -> Callable[[object], int]:
    """A whole number that is no smaller."""

    def whole(value: object) -> int:
        text = str(value)
        if not (text.isascii() and text.isdigit() and int(text) >= least):
            raise _bad(f"{shown(text)} is not a whole number from {least} up")
        return int(text)

    return whole


def _bad(sentence: str) -> Exception:
    """What click tells beside the option's name."""
    return click.BadParameter(sentence)


def agent_ids(context: Any, parameter: Any, incomplete: str) -> Any:

    return agents(context, parameter, incomplete)


def for_whom(call: Call, all_users: bool, ask: Callable[[], Answer]) -> Answer:
    """`ask` once; with --all-users as each user in turn."""
    if not all_users:
        return ask()
    from .all_users import for_each_user

    return for_each_user(call, ask)


def project_rows(projects: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of the rows that look into projects; none where none is named, which means all rows."""
    if not projects:
        return ()
    from ..catalogue.load import load

    return tuple(row.key for row in load().rows if row.place.startswith("{project}"))


def agent_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--agent A`, repeatable, as `wanted`; shells complete it from the catalogue."""
    words = "Only this agent; may be repeated."
    add = click.option("--agent", "wanted", multiple=True, metavar="A", shell_complete=agent_ids, help=words)
    return add(function)


def older_than_option(words: str) -> Callable[..., Any]:
    """`--older-than DURATION` as `max_age`; `--max-age`, as it was called first, is still understood."""
    return click.option("--older-than", "--max-age", "max_age", type=age, cls=_Renamed, help=words)


class _Renamed(click.Option):
    """Told of by its first name alone."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        names, self.opts = self.opts, self.opts[:1]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = names


def all_users_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--all-users", is_flag=True, help="For each user, as that user (root only).")(function)


def project_option(function: Callable[..., Any]) -> Callable[..., Any]:
    words = "Only what agents left in this project directory; may be repeated."
    add = click.option("--project", "projects", multiple=True, metavar="DIR", type=UntouchedPath(), help=words)
    return add(function)


class UntouchedPath(click.Path):
    """A path as it was written: click's own looks at the file, and hangs where a mount does not respond."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return os.fsdecode(value)


class AnsweringPath(UntouchedPath):
    """The same, asked of its mount first: it is going to be opened."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from ..oskit.proc.reach import as_named

        path = super().convert(value, param, ctx)
        if path != "-":
            as_named(path)  # raises where it does not respond
        return path


class AnsweringDirectory(AnsweringPath):
    """One that is there."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        path = super().convert(value, param, ctx)
        if not os.path.isdir(path):
            self.fail(f"directory {shown(path)} does not exist", param, ctx)
        return path


def write_output(path: str, content: bytes | str, mode: int) -> None:
    """Replace a file or a link to one, or make it. Root's `-o /dev/stdout` would else put a file there."""
    from ..errors import BadArgument
    from ..oskit.files import atomic

    if os.path.isdir(path):
        raise BadArgument(f"{shown(path)} is a directory", hint="name a file in it")
    if not _may_be_replaced(path):
        raise BadArgument(f"{shown(path)} is not a file", hint="to write to stdout, use `-o -` or leave out -o")
    atomic.write(path, content, mode)


def _may_be_replaced(path: str) -> bool:
    """A file, a link to one, or nothing; not a device, and not /dev/stdout, whatever it leads to now."""
    from ..oskit import system

    if os.path.islink(path) and os.readlink(path).startswith(system.customs.PSEUDO_FILES):
        return False
    return os.path.isfile(path) or not os.path.exists(path)
