"""`tmpwarden guard packs`: which packs of rules there are, and what each rule of one says."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import click

from ...errors import BadArgument, BadConfig
from ...guard.decide.proving import examples, unproven
from ...guard.rules.compiled import config_files
from ...guard.rules.config import NO_PRESET, Loaded, Source, load, preset_names, preset_sources
from ...guard.rules.verify import verify as verified
from ...oskit import system
from ...oskit.files import places
from ...text import plural, shown
from .. import documents
from ..call import Answer, Call
from ..group import pass_call
from ..table import Row, draw

_PACKS = ("PACK", ">RULES", "IN FORCE", "WHAT IT IS ABOUT")
_KINDS = ("commands", "arguments", "redirects", "files")
Document = dict[str, object]


@click.group(invoke_without_command=True)
@pass_call
def packs(call: Call) -> Answer:
    """List the packs of rules (`guard packs show git` explains one)."""
    in_force = {source.name for source in load(files(call)).sources}
    documents_ = [_document(name, name in in_force) for name in preset_names()]

    def text() -> Iterator[str]:
        rows = [
            Row((str(one["pack"]), str(one["rules"]), "yes" if one["in_force"] else "-", str(one["title"])))
            for one in documents_
        ]
        yield from draw(_PACKS, rows, for_a_person=call.for_a_person)
        yield ""
        yield 'To choose: [guard] presets = ["sandbox", "destructive"] in config.toml.'
        yield "`tmpwarden guard packs show git` explains one."

    return Answer({"packs": documents_}, text)


def _document(name: str, in_force: bool) -> Document:
    source = preset_sources((name,))[-1]
    included = [one.name for one in preset_sources((name,))[:-1]]
    title = source.document.get("pack")
    title_text = str(title.get("title", "")) if isinstance(title, dict) else ""
    count = sum(len(_rules(one)) for one in preset_sources((name,)))
    return {"pack": name, "title": title_text, "rules": count, "in_force": in_force, "includes": included}


def _rules(source: Source) -> list[Document]:
    guard = source.document.get("guard")
    lists = [guard.get(kind, []) for kind in _KINDS] if isinstance(guard, dict) else []
    return [rule for rules in lists for rule in rules]


@packs.command()
@click.argument("name", metavar="PACK")
@pass_call
def show(call: Call, name: str) -> Answer:
    """Show each rule of a pack: why it exists, what to do instead, and examples."""
    if name not in preset_names():
        raise BadArgument(f"unknown pack {shown(name)}", hint=f"there are {', '.join(preset_names())}")
    sources = [source for source in preset_sources((name,)) if _rules(source)]
    data = _document(name, in_force=name in {source.name for source in load(files(call)).sources})
    data["rules"] = [{"rule": _label(source, rule), **rule} for source in sources for rule in _rules(source)]
    return Answer(data, lambda: _explained(sources))


def _label(source: Source, rule: Document) -> str:
    return f"{source.name}:{rule.get('id', '')}"


def _explained(sources: list[Source]) -> Iterator[str]:
    for source in sources:
        for rule in _rules(source):
            if "id" not in rule:
                continue
            yield f"{_label(source, rule)} ({rule.get('decision', 'ask')})"
            yield f"  {rule.get('description', '')}"
            yield f"  instead: {rule.get('alternative', '')}"
            for key in ("matches", "spares"):
                lines = rule.get(key, [])
                for line in lines[:3] if isinstance(lines, list) else ():
                    yield f"  {key}: {shown(str(line))}"
            yield ""
    total = sum("id" in rule for source in sources for rule in _rules(source))
    yield f'{plural(total, "rule")}. To switch one off: [guard] off = ["NAME"] in config.toml.'


# Which files hold the guard's rules for this call, and what they say together.


def loaded(call: Call, preset: str | None) -> Loaded:
    for name in preset.split(",") if preset is not None else ():
        if name not in (*preset_names(), NO_PRESET):
            raise BadArgument(f"unknown preset {shown(name)}", hint=f"there are {', '.join(preset_names())}")
    rules = load(() if preset else files(call), preset=preset, temp_roots=temp_roots())
    call.warn(*map(str, rules.mistakes))
    return rules


def files(call: Call) -> tuple[str, ...]:
    if call.config_file is None:
        return config_files(places.config_dir())
    if not os.path.exists(call.config_file):
        raise BadConfig(shown(call.config_file), "there is no such file")
    return (call.config_file,)


def temp_roots() -> tuple[str, ...]:
    """/tmp, by both of its names where it has two (macOS)."""
    return system.customs.TMP_NAMES


# `tmpwarden guard verify`: every mistake in the rules, and rules that do not do what they say.

_REMEDY = "{0} does not call the guard for every tool that these rules name: `tmpwarden install {0} --guard` adds them."


@click.command()
@click.option("--preset", metavar="NAME", help="Check only this preset, without your config.")
@pass_call
def verify(call: Call, preset: str | None) -> Answer:
    """Check the guard's config: each mistake with file, line and key."""
    problems = verified(() if preset else files(call), preset=preset, temp_roots=temp_roots())
    loaded = Loaded(problems.rules, (*problems.mistakes, *unproven(problems)), problems.sources)
    fatal = [mistake for mistake in loaded.mistakes if mistake.fatal]
    unreached = _unreached(loaded) if preset is None and not fatal else ()
    shown_by = [] if fatal else list(examples(loaded.rules))
    data = {
        "files": [source.path for source in loaded.sources],
        "rules": _count(loaded),
        "mistakes": [documents.of(one, "file", "line", "key", "message", "fatal") for one in loaded.mistakes],
        "unreached": list(unreached),
        "examples": [dict(zip(("key", "command", "decision", "basis"), one, strict=True)) for one in shown_by],
    }
    if not fatal:
        return Answer(data, lambda: [*_lines(loaded), *map(_REMEDY.format, unreached), *_example_lines(shown_by)])
    error = BadConfig(fatal[0].file, f"{len(fatal)} mistake{'s' if len(fatal) > 1 else ''}", hint="it is not in force")
    return Answer(data, lambda: _lines(loaded), error=error)


def _example_lines(lines: list[tuple[str, str, str, str]]) -> Iterator[str]:
    """What the short keys do, for a project in which nothing else is said."""
    for key, line, verdict, basis in lines:
        yield f"{key}: {verdict}{f' ({basis})' if basis else ''}  {line}"


def _unreached(loaded: Loaded) -> tuple[str, ...]:
    """Agents with the guard that do not call it for a tool which a rule names, or that `never` is about."""
    if not loaded.rules.rules_about_tools() and not loaded.rules.never:
        return ()
    from tmpwarden.setup.health import of_hooks  # only who has such rules pays for a look into all settings

    return tuple(state.agent for state in of_hooks() if state.state == "unreached")


def _lines(loaded: Loaded) -> Iterable[str]:
    for mistake in loaded.mistakes:
        yield shown(f"{mistake}" if mistake.fatal else f"{mistake} (a remark)")
    if not loaded.mistakes:
        yield f"No mistake: {_count(loaded)} rules from {', '.join(source.path for source in loaded.sources)}."


def _count(loaded: Loaded) -> int:
    return len(loaded.rules.rules) + len(loaded.rules.rows)
