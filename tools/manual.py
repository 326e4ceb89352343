"""Man pages, from what click knows of each command. docs/generate.py writes them, the wheel installs them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from tmpwarden import __version__
from tmpwarden.cli.call import Call
from tmpwarden.cli.commands import TABLE
from tmpwarden.cli.group import common_options, examples, tmpwarden

_COMMON = {word for option in common_options() for word in option.opts} | {"--help"}
_EXITS = (
    ("0", "Done. What is kept because somebody may need it is done, too."),
    ("1", "It failed."),
    ("2", "Partly done: something that was to go did not. Of doctor: something is wrong."),
    ("3", "Wrong arguments, or a mistake in a configuration file."),
    ("4", "It would have to ask, and there is no terminal. Nothing was touched; --yes answers."),
    ("5", "There is no such thing."),
    ("6", "Another run holds the lock, or a name is taken."),
    ("7", "Permission denied."),
    ("10", "The time limit was reached."),
    ("130, 143", "Stopped by SIGINT or SIGTERM."),
)
_FILES = (
    ("~/.config/tmpwarden/config.toml", "Settings; /etc/tmpwarden/config.toml is read before it."),
    ("~/.config/tmpwarden/keep", "The keep list."),
    ("~/.config/tmpwarden/agents.d/", "Agents of your own for the catalogue; also /etc/tmpwarden/agents.d."),
    ("~/.local/state/tmpwarden/", "The journal of what was removed, the last clean, what the guard said."),
)
_ENVIRONMENT = (
    ("TMPWARDEN_ROOTS", "The temp directories to look at, separated by colons, instead of the usual ones."),
    ("TMPWARDEN_DISABLE", "1 makes every hook without a guard pass at once; for all of them: tmpwarden off."),
    ("NO_COLOR", "No colour."),
)
_ROFF = str.maketrans({"\\": "\\e", "-": "\\-", "`": "\\(ga", "'": "\\(aq", "~": "\\(ti"})


def pages() -> dict[str, str]:
    """Path of a command -> name of its page."""
    there = tmpwarden.list_commands(click.Context(tmpwarden))
    return {"": "tmpwarden"} | {name: f"tmpwarden-{name}" for _, name, _ in TABLE if name in there}


def page(path: str) -> str:
    root = click.Context(tmpwarden, info_name="tmpwarden", obj=Call(), **tmpwarden.context_settings)
    command = tmpwarden.get_command(root, path) if path else tmpwarden
    assert command is not None
    context = click.Context(command, info_name=path, parent=root) if path else root
    return "\n".join(_whole(context, path)) + "\n"


def _whole(context: click.Context, path: str) -> Iterator[str]:
    name = pages()[path]
    yield '.\\" written by `make docs`; do not edit'
    yield f'.TH {name.upper()} 1 "" "tmpwarden {__version__}" "User Commands"'
    about = _paragraphs(context.command)[0] if not path else next(text for _, word, text in TABLE if word == path)
    yield from (".SH NAME", f"{_plain(name)} \\- {_plain(about[:1].lower() + about[1:].rstrip('.'))}")
    yield from (".SH SYNOPSIS", _usage(context), ".SH DESCRIPTION", *_description(context.command))
    if path:
        yield from (".SH OPTIONS", *_options(context, is_common=False))
        yield from _parts(context)
        yield from (".SH COMMON OPTIONS", *_options(context, is_common=True))
    else:
        yield from (".SH COMMANDS", *_commands())
        yield from (".SH OPTIONS", *_options(context, is_common=True))
        for title, rows in (("EXIT STATUS", _EXITS), ("FILES", _FILES), ("ENVIRONMENT", _ENVIRONMENT)):
            yield from (f".SH {title}", *_table(rows))
    yield from (".SH EXAMPLES", *_examples(path))
    others = [f".BR {_plain(other)} (1)" for other in pages().values() if other != name]
    yield from (".SH SEE ALSO", *(others if not path else [".BR tmpwarden (1)"]))


def _commands() -> Iterator[str]:
    there = pages()
    for section in dict.fromkeys(section for section, _, _ in TABLE):
        yield f".SS {section}"
        yield from _table((there[name], text) for of, name, text in TABLE if of == section and name in there)


def _parts(context: click.Context) -> Iterator[str]:
    """The commands of a group, in the page of their group."""
    group = context.command
    if not isinstance(group, click.Group):
        return
    shown = [(name, part) for name, part in group.commands.items() if not part.hidden]
    yield ".SH COMMANDS"
    for name, part in shown:
        below = click.Context(part, info_name=name, parent=context)
        yield from (f".SS {_plain(name)}", _usage(below), ".PP", *_description(part))
        yield from _options(below, is_common=False)
        yield from _examples(f"{context.info_name} {name}")


def _usage(context: click.Context) -> str:
    words = context.command.collect_usage_pieces(context)
    return f".B {_plain(context.command_path)}\n{_plain(' '.join(words))}"


def _description(command: click.Command) -> Iterator[str]:
    for number, text in enumerate(_paragraphs(command)):
        yield from [".PP"] * (number > 0)
        if text.startswith("\b"):
            yield from (".nf", *(_line(line) for line in text.splitlines()[1:]), ".fi")
        else:
            yield _line(" ".join(text.split()))


def _paragraphs(command: click.Command) -> list[str]:
    return inspect.cleandoc(command.help or "").split("\n\n")


def _options(context: click.Context, *, is_common: bool) -> Iterator[str]:
    records = []
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record and bool(_COMMON & set(parameter.opts)) is is_common:
            records.append(record)
    yield from _table(records) if records else ["None but the common ones."]


def _examples(path: str) -> Iterator[str]:
    for words, does in examples().get(path, ()):
        yield from (".TP", f".B {_plain(f'tmpwarden {words}'.strip())}", _line(does[:1].upper() + does[1:] + "."))


def _table(rows: object) -> Iterator[str]:
    for word, text in rows:  # type: ignore[attr-defined]
        yield from (".TP", f".B {_plain(word)}", _line(text))


def _line(text: str) -> str:
    """A line of text: none that roff would take for a request."""
    plain = _plain(text)
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def _plain(text: str) -> str:
    return text.translate(_ROFF)
