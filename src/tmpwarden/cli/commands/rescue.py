"""`tmpwarden rescue`: save what exists nowhere else, and bring it back."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import click

from ...catalogue.settings import Settings, load_settings
from ...errors import BadArgument, NotFound, NotRescued
from ...leases import scratch
from ...model.request import Request
from ...oskit.files import places, walk
from ...oskit.files.opening import closing
from ...oskit.proc.reach import as_named
from ...repos.rescue import store
from ...repos.rescue.restore import restore
from ...repos.rescue.save import Endangered, save
from ...repos.rescue.store import Refused, Rescued, SavedRepository
from ...sweep.compose import prepare
from ...text import duration, plural, shown, size
from .. import documents, kinds
from ..call import Answer, Call
from ..group import pass_call
from ..table import Row, draw

_COLUMNS = ("ID", ">AGE", ">SIZE", "HOLDS")
_MOST_NAMED = 5


class _SavesByDefault(click.Group):
    """`rescue PATH` is `rescue save PATH`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = next((arg for arg in args if not arg.startswith("-")), "")
        if first not in self.commands and not {"--help", "-h"} & set(args):
            args = ["save", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_SavesByDefault, subcommand_metavar="PATH... | --session ID | list | show ID | restore ID")
def command() -> None:
    """Save work that exists nowhere else: `rescue PATH` or `rescue --session ID`. Nothing is removed.

    Git work goes into a verified bundle (commits that no remote has, stashes, uncommitted and untracked files),
    documents, images, data and archives as they are, into $XDG_DATA_HOME/tmpwarden/rescue.
    """


@command.command("save", hidden=True)
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option("--session", metavar="ID", help="Everything this session left behind.")
@click.option("--no-files", is_flag=True, help="Git work only.")
@pass_call
def save_command(call: Call, paths: tuple[str, ...], session: str | None, no_files: bool) -> Answer:
    """Save work that exists nowhere else, in PATH or in what a session left behind."""
    if not paths and session is None:
        raise BadArgument("name what to save", hint="`tmpwarden rescue PATH` or `tmpwarden rescue --session ID`")
    settings = load_settings(call.config_file)
    places_to_save = [(path, session) for path in (*map(_resolved, paths), *_of_session(call, session))]
    results = [(path, _save(path, of, settings, call, not no_files)) for path, of in places_to_save]
    rescued = [result for _, result in results if isinstance(result, Rescued)]
    refused = [(path, result) for path, result in results if isinstance(result, Refused)]
    error = NotRescued("; ".join(f"{shown(path)}: {each.why}" for path, each in refused)) if refused else None
    return Answer(
        {"rescued": [document(each) for each in rescued], "refused": [{"path": p, "why": r.why} for p, r in refused]},
        lambda: _saved_lines(rescued, refused),
        error=error,
    )


@command.command("list")
@pass_call
def list_command(call: Call) -> Answer:
    """List what was saved, newest first."""
    rescues = store.everything()[::-1]
    return Answer({"rescued": [document(each) for each in rescues]}, lambda: _table(rescues, call))


@command.command("show")
@click.argument("word", metavar="ID", shell_complete=kinds.rescue_ids)
def show_command(word: str) -> Answer:
    """Show what one rescue contains, and how to restore it."""
    rescued = store.find(word)
    return Answer(document(rescued), lambda: _shown(rescued))


@command.command("restore")
@click.argument("word", metavar="ID", shell_complete=kinds.rescue_ids)
@click.option(
    "--to", "directory", metavar="DIR", type=kinds.AnsweringPath(), help="A new directory (default: where it was)."
)
@pass_call
def restore_command(call: Call, word: str, directory: str | None) -> Answer:
    """Restore it: repositories with branches, stashes and uncommitted work, and files."""
    rescued, path, warnings = restore(word, directory)
    call.warn(*warnings)
    return Answer({"restored": {"id": rescued.id, "path": path}}, lambda: [f"Restored {shown(path)}."])


def _resolved(path: str) -> str:
    full = as_named(os.path.expanduser(path))
    if not os.path.lexists(full):
        raise NotFound(f"there is nothing at {shown(path)}")
    return full


def _of_session(call: Call, session: str | None) -> Iterator[str]:
    """Units that name the session, and scratches that were leased to it."""
    if session is None:
        return
    prepared = prepare(Request(roots=call.roots, config_file=call.config_file), now_ns=call.now_ns)
    leased = {lease.path for lease in scratch.read_all(prepared.roots) if lease.session == session}
    paths = [each.path for each in prepared.finder.find() if each.session == session or each.path in leased]
    if not paths:
        raise NotFound(f"nothing was found of session {shown(session)}")
    yield from paths


def _save(path: str, session: str | None, settings: Settings, call: Call, files: bool) -> Rescued | Refused | None:
    parent, name = os.path.split(path)
    with closing(walk.open_dir(parent)) as fd:
        status = os.lstat(name, dir_fd=fd)
        if status.st_uid != places.uid():
            return Refused("it belongs to another user")
        place = Endangered(fd, name, path, session)
        return save(place, settings, now_s=call.now_ns() / 1e9, files=files)


def document(rescued: Rescued) -> documents.Document:
    return documents.of(rescued, "id", "path", "session", "bytes") | {
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(rescued.created_s)),
        "directory": f"{store.directory()}/{rescued.id}",
        "bundle": next((each.bundle for each in rescued.repositories if each.bundle), None),
        "repositories": [_repository(each) for each in rescued.repositories],
        "files": [documents.of(file, "path", "bytes", "sha256") for file in rescued.files],
        "left_out": list(rescued.left_out),
    }


def _repository(saved: SavedRepository) -> documents.Document:
    return documents.of(saved, "inside", "bundle", "bytes") | {
        "branch": saved.branch or None,
        "head": saved.head or None,
        "refs": list(saved.refs),
        "uncommitted": bool(saved.snapshot),
        "stashes": len(saved.stashes),
        "needs": list(saved.needs),
    }


def _saved_lines(rescued: list[Rescued], refused: list[tuple[str, Refused]]) -> Iterator[str]:
    for each in rescued:
        yield f"Saved {_contents(each)}, {size(each.bytes)}: tmpwarden rescue show {each.id}"
        yield from (f"  left out: {sentence}" for sentence in each.left_out)
    if not rescued and not refused:
        yield "Everything there also exists elsewhere; nothing had to be saved."


def _contents(rescued: Rescued) -> str:
    parts = []
    if rescued.repositories:
        parts.append(f"git work of {plural(len(rescued.repositories), 'repository', 'repositories')}")
    if rescued.files:
        names = ", ".join(shown(os.path.basename(file.path or rescued.path)) for file in rescued.files[:_MOST_NAMED])
        more = ", ..." if len(rescued.files) > _MOST_NAMED else ""
        parts.append(f"{plural(len(rescued.files), 'file')} ({names}{more})")
    return " and ".join(parts)


def _table(rescues: list[Rescued], call: Call) -> Iterator[str]:
    if not rescues:
        yield "Nothing was saved yet."
        return
    now_s = call.now_ns() // 10**9
    rows = [
        Row((each.id, duration(now_s - each.created_s), size(each.bytes), _contents(each)), shown(each.path))
        for each in rescues
    ]
    yield from draw(_COLUMNS, rows, for_a_person=call.for_a_person)


def _shown(rescued: Rescued) -> Iterator[str]:
    yield f"{rescued.id}, saved from {shown(rescued.path)}"
    for saved in rescued.repositories:
        facts = (shown(saved.inside or "."), shown(saved.branch) or "detached", plural(len(saved.refs), "ref"))
        yield f"  {saved.bundle or '(no bundle)'}: {', '.join(facts)}"
        if saved.snapshot:
            yield "    with uncommitted work"
        if saved.stashes:
            yield f"    with {plural(len(saved.stashes), 'stash', 'stashes')}"
        if saved.needs:
            yield f"    builds on history of {shown(saved.source or ', '.join(url for _, url in saved.remotes))}"
    for file in rescued.files:
        yield f"  {size(file.bytes):>10}  {shown(file.path or os.path.basename(rescued.path))}"
    yield from (f"  left out: {sentence}" for sentence in rescued.left_out)
    yield f"In {shown(store.directory())}/{rescued.id}. Bring it back: tmpwarden rescue restore {rescued.id} --to DIR"
