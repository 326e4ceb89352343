"""`tmpwarden guard packs`: which packs of rules there are, and what each rule of one says."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ...errors import BadArgument
from ...guard.rules.config import Source, load, preset_names, preset_sources
from ...text import plural, shown
from ..call import Answer, Call
from ..group import pass_call
from ..table import Row, draw
from .files import files

_PACKS = ("PACK", ">RULES", "IN FORCE", "WHAT IT IS ABOUT")
_KINDS = ("commands", "arguments", "redirects", "files")
Document = dict[str, object]


@click.group(invoke_without_command=True)
@pass_call
def packs(call: Call) -> Answer:
    """Packs of rules: which there are, and what they say (`guard packs show git`)."""
    in_force = {source.name for source in load(files(call)).sources}
    found = [_document(name, name in in_force) for name in preset_names()]

    def text() -> Iterator[str]:
        rows = [
            Row((str(one["pack"]), str(one["rules"]), "yes" if one["in_force"] else "-", str(one["title"])))
            for one in found
        ]
        yield from draw(_PACKS, rows, for_a_person=call.for_a_person)
        yield ""
        yield 'To choose: [guard] presets = ["sandbox", "destructive"] in config.toml.'
        yield "`tmpwarden guard packs show git` explains one."

    return Answer({"packs": found}, text)


def _document(name: str, in_force: bool) -> Document:
    source = preset_sources((name,))[-1]
    included = [one.name for one in preset_sources((name,))[:-1]]
    title = source.document.get("pack")
    said = str(title.get("title", "")) if isinstance(title, dict) else ""
    count = sum(len(_rules(one)) for one in preset_sources((name,)))
    return {"pack": name, "title": said, "rules": count, "in_force": in_force, "includes": included}


def _rules(source: Source) -> list[Document]:
    guard = source.document.get("guard")
    lists = [guard.get(kind, []) for kind in _KINDS] if isinstance(guard, dict) else []
    return [rule for rules in lists for rule in rules]


@packs.command()
@click.argument("name", metavar="PACK")
@pass_call
def show(call: Call, name: str) -> Answer:
    """Every rule of a pack: why it speaks, what to do instead, lines that it means and lines that it spares."""
    if name not in preset_names():
        raise BadArgument(f"there is no pack {shown(name)}", hint=f"there are {', '.join(preset_names())}")
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
    yield f'{plural(total, "rule")}. One that you do not want: [guard] off = ["NAME"] in config.toml.'
