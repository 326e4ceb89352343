"""`tmpwarden brake`: files that grow while somebody writes them, and what to do about it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import click

from ...catalogue.settings import load_settings
from ...errors import BadArgument, NotFound, PermissionDenied, WouldAsk
from ...lifecycle import braking
from ...model.processes import Fate, GrowingFile
from ...oskit.files import places
from ...oskit.proc import proven
from ...processes import end, punching, runaway
from ...processes.find import look
from ...text import shown, size
from .. import ask
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import AnsweringPath, age, at_least

_FIRST_LOOK_S, _EVERY_S = 1.0, 1.0


@click.command()
@click.option(
    "--for", "for_s", type=age, help="How long to watch (default: until Ctrl-C; in a pipe, two measurements)."
)
@click.option("--stop", "stop_pid", type=at_least(2), metavar="PID", help="Pause this writer (SIGSTOP).")
@click.option("--resume", "resume_pid", type=at_least(2), metavar="PID", help="Resume a paused writer.")
@click.option(
    "--end", "end_pid", type=at_least(2), metavar="PID", help="End this writer: TERM, and KILL after five seconds."
)
@click.option(
    "--punch",
    metavar="FILE|PID:FD",
    type=AnsweringPath(),
    help="Free all but the last 64 MB of FILE while its writer continues.",
)
@click.option("-f", "--force", "-y", "--yes", "yes", is_flag=True, help="Do not ask.")
@pass_call
def command(
    call: Call,
    for_s: int | None,
    stop_pid: int | None,
    resume_pid: int | None,
    end_pid: int | None,
    punch: str | None,
    yes: bool,
) -> Answer:
    """Find files in temp roots that keep growing: how fast, which process writes them, and when the disk is full.

    While it runs, it applies the limits in [brake] of config.toml to commands of agent sessions; without limits it only
    reports. --punch frees the beginning of a file that one program appends to (`>> FILE`) and no other has open; that
    cannot be undone.
    """
    actions = [each for each in (stop_pid, resume_pid, end_pid, punch) if each is not None]
    if len(actions) > 1:
        raise BadArgument("--stop, --resume, --end and --punch cannot be combined")
    if stop_pid is not None:
        return _stop(call, stop_pid)
    if resume_pid is not None:
        return _resume(resume_pid)
    if end_pid is not None:
        return _end(call, end_pid)
    return _punch(call, punch, yes) if punch is not None else _watch(call, for_s)


def _watch(call: Call, for_s: int | None) -> Answer:
    if doubt := proven.doubt():
        line = f"Who writes into the temp roots could not be checked here: {doubt}."
        return Answer({"files": [], "checked": False}, lambda: [line])
    settings = load_settings(call.config_file)
    watch = braking.Watch(braking.limits_of(settings), call.roots, call.config_file)
    until = None if for_s is None and call.for_a_person else time.monotonic() + (for_s or _FIRST_LOOK_S)
    if until is None:
        print("Watching for files that grow ... Ctrl-C stops and prints a summary.", file=sys.stderr, flush=True)
    watch.look()
    already_reported: set[str] = set()
    try:
        while True:
            time.sleep(_EVERY_S)
            seen = watch.look()
            _tell(seen, watch, already_reported)
            if until is not None and time.monotonic() >= until:
                break
    except KeyboardInterrupt:
        if not call.for_a_person:
            raise
    data = {"files": [document(one) for one in seen.growing], "checked": True}
    return Answer(data, lambda: _lines(seen.growing))


def _tell(seen: braking.BrakeLook, watch: braking.Watch, already_reported: set[str]) -> None:
    """What is new goes to stderr at once: a disk fills in seconds."""
    braked = set()
    for breach in seen.breaches:
        words = f"{runaway.sentence(breach.growing)}; over {breach.limit}"
        if watch.limits.action == "warn" or not breach.writers:
            _once(f"warning: {words}", f"{breach.growing.file.identity} {breach.limit}", already_reported)
            continue
        braked.add(breach.growing.file.identity)
        for writer, outcome in braking.apply(breach, watch.limits.action):
            print(f"{outcome} {writer.pid}: {shown(words)}", file=sys.stderr, flush=True)
    for one in seen.growing:
        if runaway.is_runaway(one) and one.file.identity not in braked:
            _once(
                f"warning: {runaway.sentence(one)}", f"{one.file.identity} is growing without limit", already_reported
            )


def _once(sentence: str, about: str, already_reported: set[str]) -> None:
    if about not in already_reported:
        already_reported.add(about)
        print(shown(sentence), file=sys.stderr, flush=True)


def _writer_of_pid(call: Call, pid: int) -> tuple[int, str]:
    """(start, command) of a process that may be stopped or ended when told so."""
    if doubt := proven.doubt():
        raise PermissionDenied(f"whose process {pid} is could not be checked here: {doubt}", hint=f"`kill {pid}`")
    growing_file = next(
        (one for one in look(call.roots, pids=[pid], config_file=call.config_file) if one.pid == pid), None
    )
    if growing_file is None:
        raise NotFound(f"there is no process {pid}", hint="`tmpwarden brake` lists the writers")
    if growing_file.fate is Fate.NEVER and "session is alive" not in growing_file.reason:
        raise PermissionDenied(
            f"process {pid} is left alone: {growing_file.reason}", hint="signal it yourself if you are sure"
        )
    return growing_file.start, growing_file.command


def _stop(call: Call, pid: int) -> Answer:
    start, command_line = _writer_of_pid(call, pid)
    if not braking.stop(pid, start, command_line):
        raise NotFound(f"process {pid} has ended")
    line = f"Stopped {pid}: {shown(command_line)}. `tmpwarden brake --resume {pid}` lets it go on."
    return Answer({"pid": pid, "outcome": "stopped"}, lambda: [line])


def _resume(pid: int) -> Answer:
    if not braking.resume(pid):
        raise NotFound(f"there is no process {pid} that could be resumed")
    return Answer({"pid": pid, "outcome": "resumed"}, lambda: [f"{pid} was resumed."])


def _end(call: Call, pid: int) -> Answer:
    start, command_line = _writer_of_pid(call, pid)
    outcome = braking.end(pid, start, command_line)
    return Answer({"pid": pid, "outcome": outcome}, lambda: [f"{pid} {outcome}: {shown(command_line)}"])


def _punch(call: Call, word: str, yes: bool) -> Answer:
    writers = punching.target_of(word, tuple(places.temp_roots(call.roots)))
    amount = size(max(0, writers[0].allocated_bytes - punching.KEEP_LAST_BYTES))
    if not yes:
        if not call.can_ask:
            raise WouldAsk
        if not ask.yes(f"Free about {amount} of {shown(writers[0].path)}? This cannot be undone."):
            return Answer({"path": writers[0].path, "freed_bytes": 0}, lambda: ["Nothing was freed."])
    freed = punching.punch_file(writers)
    line = f"Freed {size(freed)} of {shown(writers[0].path)}; the last 64 MB are still there, and the writer continues."
    return Answer({"path": writers[0].path, "freed_bytes": freed}, lambda: [line])


def document(one: GrowingFile) -> dict[str, object]:
    return {
        "path": one.file.path,
        "deleted": one.file.is_deleted,
        "bytes": one.file.allocated_bytes,
        "bytes_per_second": round(one.bytes_per_s),
        "writers": [{"pid": writer.pid, "command": writer.command} for writer in one.file.writers],
        "seconds_to_full": None if one.seconds_to_full is None else round(one.seconds_to_full),
    }


def _lines(files: tuple[GrowingFile, ...]) -> Iterator[str]:
    for one in files:
        yield shown(runaway.sentence(one))
    for process in end.stopped():
        yield f"stopped: {process.pid} {shown(process.command)}; `tmpwarden brake --resume {process.pid}` lets it go on"
    if not files:
        yield f"No process writes a file of {size(runaway.WORTH_A_LOOK)} or more in the temp roots."
