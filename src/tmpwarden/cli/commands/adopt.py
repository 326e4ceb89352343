"""`tmpwarden adopt 'orch-*'`: take what no row knows into the catalogue, to be removed only when asked for."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable

import click

from ...catalogue import adoption
from ...catalogue.files import text_if_there
from ...catalogue.load import Catalogue, load
from ...catalogue.patterns import FLAGS
from ...errors import BadArgument, BadConfig, NotFound
from ...model.sweep import Litter
from ...model.terms import Kind
from ...oskit.files import atomic, own_dirs, places
from ...text import plural, quoted, shown
from .. import advice
from ..call import Answer, Call
from ..group import pass_call


@click.command()
@click.argument("pattern", required=False)
@click.option("--forget", is_flag=True, help="Forget PATTERN again.")
@click.option("-n", "--dry-run", is_flag=True, help="Show the entry and write nothing.")
@pass_call
def command(call: Call, pattern: str | None, forget: bool, dry_run: bool) -> Answer:
    """Teach tmpwarden a name pattern it does not know. Without PATTERN: list the patterns you added.

    PATTERN is a quoted glob such as 'orch-*'. It is compared with names directly in a temp root. `scan` then
    lists matching items, and `clean --all` removes them after 72 hours if they are unused and you confirm.
    """
    path = _file()
    text = _text(path)
    if pattern is None:
        return _listed(adoption.rows(text), path)
    glob = _in_a_root(pattern, tuple(places.temp_roots(call.roots)))
    if forget:
        return _forgotten(glob, text, path, dry_run)
    return _adopted(call, glob, text, path, dry_run)


def add(call: Call, pattern: str) -> None:
    """What `adopt PATTERN` does, for the full-screen view."""
    _adopted(call, _in_a_root(pattern, tuple(places.temp_roots(call.roots))), _text(_file()), _file(), dry_run=False)


def _adopted(call: Call, glob: str, text: str, path: str, dry_run: bool) -> Answer:
    row_name = adoption.pattern_of(glob)
    if any(row.name == row_name for row in adoption.rows(text)):
        return Answer({"path": path, "row": None}, lambda: [f"{shown(glob)} was added already."])
    roots = tuple(places.temp_roots(call.roots))
    names, kind = _matching(row_name, roots, load())
    seen = f"adopted {time.strftime('%Y-%m-%d')}: {plural(len(names), 'entry', 'entries')} in {', '.join(roots)}"
    changed = adoption.with_row(text, glob, kind, sorted(names), seen)
    row = adoption.rows(changed)[-1]
    if not dry_run:
        _write(path, changed)
    if not names:
        call.warn(f"nothing here matches {shown(glob)} now")
    data = {"path": path, "row": row.key, "name": row.name, "matches": len(names), "written": not dry_run}
    return Answer(
        data, lambda: _lines(call, glob, row=row, count=len(names), text=changed if dry_run else None, path=path)
    )


def _matching(pattern: str, roots: Iterable[str], catalogue: Catalogue) -> tuple[list[str], Kind]:
    """Names that the row would take now, and what they are. BadArgument where it would take what is not for it."""
    if inside := adoption.led_into(pattern, catalogue.rows, places.uid()):
        raise BadArgument(f"it also matches {inside}, which tmpwarden checks session by session")
    fits, names, kinds = re.compile(pattern, FLAGS), [], set()
    for place in catalogue.places(roots):
        for entry in os.scandir(place.path):
            if not fits.fullmatch(entry.name) or entry.stat(follow_symlinks=False).st_uid != places.uid():
                continue
            kind = Kind.DIR if entry.is_dir(follow_symlinks=False) else Kind.FILE
            match = place.classify(entry.name, kind)
            if match and match.is_never:
                raise BadArgument(f"it also matches {shown(entry.name)}, which is never removed: {match.litter.why}")
            names.append(entry.name)
            kinds.add(kind if not entry.is_symlink() else Kind.ANY)
    return names, kinds.pop() if len(kinds) == 1 else Kind.ANY


def _forgotten(glob: str, text: str, path: str, dry_run: bool) -> Answer:
    row = next((row for row in adoption.rows(text) if row.name == adoption.pattern_of(glob)), None)
    if row is None:
        raise NotFound(f"{shown(glob)} was not adopted", hint="`tmpwarden adopt` lists what was")
    if not dry_run:
        _write(path, adoption.without_row(text, row))
    verb = "Would forget" if dry_run else "Forgotten"
    return Answer({"path": path, "row": row.key, "written": not dry_run}, lambda: [f"{verb}: {shown(glob)}"])


def _listed(rows: tuple[Litter, ...], path: str) -> Answer:
    data = {"path": path, "rows": [{"row": row.key, "name": row.name, "why": row.why} for row in rows]}
    none = ["No pattern was added yet. `tmpwarden scan` lists unrecognised names; `tmpwarden adopt 'NAME-*'` adds one."]
    return Answer(data, lambda: [f"{row.key}  {shown(row.why)}" for row in rows] or none)


def _lines(call: Call, glob: str, row: Litter, count: int, text: str | None, path: str) -> Iterable[str]:
    if text is not None:
        yield from text.rpartition("[[litter]]")[1:]
        yield f"Would write this row to {shown(path)}."
        return
    yield f"Adopted: {shown(glob)} is {row.key} now ({plural(count, 'entry', 'entries')}), in {shown(path)}."
    yield f"Removable after 72 hours, on request: {advice.command(call, 'clean', '--all', '--agent', row.agent)}"
    yield f"To forget it again: tmpwarden adopt --forget {quoted(glob)}"


def _in_a_root(pattern: str, roots: tuple[str, ...]) -> str:
    """`/tmp/orch-*`, as scan shows it, means `orch-*`."""
    parent, _, name = pattern.rpartition("/")
    if parent and parent not in roots:
        hint = f"the temp roots are {', '.join(map(shown, roots))}"
        raise BadArgument(f"{shown(pattern)} is not a pattern for names directly in a temp root", hint=hint)
    return name


def _file() -> str:
    return os.path.join(places.config_dir(), "agents.d", adoption.FILE)


def _text(path: str) -> str:
    try:
        return text_if_there(path)
    except ValueError as wrong:
        raise BadConfig(path, str(wrong)) from None


def _write(path: str, text: str) -> None:
    own_dirs.make_private_dir(places.config_dir())
    own_dirs.make_private_dir(os.path.dirname(path))
    atomic.write(path, text)
