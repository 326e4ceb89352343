"""What a shell offers behind a command: ids that can come back, kept paths, agents. Each answers in a moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ..text import shown

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_SHORT = 8  # characters of an id, as `log` shows them


def undo_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What lies in quarantine, the newest first, each with its path."""
    from ..oskit.files import places
    from ..sweep.store import journal

    waiting = journal.restorable(places.state_dir()).newest_first()
    return list(_items(((str(each["id"])[:_SHORT], str(each["path"])) for each in waiting), incomplete))


def rescue_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from ..repos.rescue import store

    return list(_items(((each.id, each.path) for each in reversed(store.everything())), incomplete))


def kept_paths(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """With --forget what is on the list; else any path."""
    from click.shell_completion import CompletionItem

    if not context.params.get("forget"):
        return [CompletionItem(incomplete, type="file")]
    from ..catalogue.settings import load_settings
    from ..leases import kept_processes

    listed = (*load_settings().keep_paths, *kept_processes.read().entries)
    return list(_items(((path, "") for path in listed), incomplete))


def agents(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from ..catalogue.load import load

    return list(_items(((agent.id, agent.name) for agent in load().agents), incomplete))


def commands(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Of `help orphans e`: the commands of the group that the words before name."""
    found: click.Command | None = context.find_root().command
    for word in context.params.get("words") or ():
        found = found.get_command(context, word) if isinstance(found, click.Group) else None
    names = found.list_commands(context) if isinstance(found, click.Group) else []
    return list(_items(((name, "") for name in names), incomplete))


def keys(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Of config.toml, with what each is for."""
    from ..catalogue.keys import KEYS

    return list(_items([(name, key.about) for name, key in KEYS.items()], incomplete))


def _items(offered: Iterator[tuple[str, str]] | list[tuple[str, str]], incomplete: str) -> Iterator[CompletionItem]:
    from click.shell_completion import CompletionItem

    for value, about in offered:
        if value.startswith(incomplete) and "\n" not in value:  # a shell reads one offer a line
            yield CompletionItem(value, help=shown(about) or None)
