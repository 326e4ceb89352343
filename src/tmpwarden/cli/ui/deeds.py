"""What the keys of the view do: clean in a process of its own; why, keep, undo, orphans as their commands do them."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence

from ...errors import NotFound
from ...lazy_dataclass import replace
from ...model.request import Request, Thresholds
from ...model.terms import Reason
from ...repos.worktrees.changes import undo_with_entries
from ...sweep.compose import prepare
from ...sweep.explain import explain
from ...sweep.store.undo import of_the_last_run
from ...text import plural, shown, size
from .. import wording
from ..call import Call
from ..commands import adopt as adopt_command
from ..commands import keep as keep_command
from ..commands import orphans as orphans_command
from ..commands import why as why_command
from .pins import Pin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...model.sweep import Verdict

Say = Callable[[str], object]
_LONGEST_LINE = 1 << 24


async def clean(call: Call, pins: Sequence[Pin], say: Say, stop: asyncio.Event) -> list[str]:
    """What came of it: a sentence, and one line for each item that was kept. `stop` ends it between two units."""
    order = {
        "roots": call.roots,
        "config_file": call.config_file,
        "pins": [pin.document() for pin in pins],
        "ahead_ns": call.now_ns() - time.time_ns(),
    }
    say(f"Removing {plural(len(pins), 'item')} ...")
    argv = [sys.executable, "-P", "-m", "tmpwarden.cli.ui.deed"]  # -P: nothing from the directory we stand in
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe, stderr=pipe, limit=_LONGEST_LINE)
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    child.stdin.write(json.dumps(order).encode() + b"\n")
    await child.stdin.drain()
    closing = asyncio.create_task(_close_when(stop, child.stdin))  # it takes the end of its input for our end
    results: list[dict[str, Any]] = []
    errors: list[str] = []
    async for line in child.stdout:
        message = json.loads(line)
        if "result" in message:
            results.append(message["result"])
        elif "error" in message:
            errors.append(f"{message['error']['message']}. {message['error']['hint'] or ''}".strip())
        else:
            say(f"Removing: {plural(message['items'], 'item')}, {size(message['bytes'])} ...")
    complaint = (await child.stderr.read()).decode(errors="replace").strip()
    closing.cancel()
    child.stdin.close()
    await child.wait()
    if not results:
        interrupted = "The clean-up was interrupted; the next run of any command finishes it."
        return errors or [interrupted, *complaint.splitlines()[-1:]]
    return [*_outcome(results, pins), *errors]


async def _close_when(stop: asyncio.Event, stdin: asyncio.StreamWriter) -> None:
    await stop.wait()
    stdin.close()


def _outcome(results: Sequence[dict[str, Any]], pins: Sequence[Pin]) -> list[str]:
    removals, kept, failures = (
        [each for result in results for each in result[of]] for of in ("removed", "kept", "failed")
    )
    removed_paths = {each["path"] for each in removals}
    removed = sum(each.get("count", 1) for each in removals)
    total = size(sum(each["bytes"] for each in removals))
    undos = sum(any(each["undoable"] for each in result["removed"]) for result in results)
    first = f"Removed {plural(removed, 'item')}, {total}." if removed else "Nothing was removed."
    first += f" u{', twice,' * (undos > 1)} brings {'it' if removed == 1 else 'them'} back." if undos else ""
    first += " It was stopped early." if any(result["stopped"] for result in results) else ""
    why = {each["path"]: each for each in kept}
    failed = {each["path"]: each["error"] for each in failures}
    kept_paths = [pin.path for pin in pins if pin.path not in removed_paths]
    if kept_paths:
        first += f" Kept {plural(len(kept_paths), 'item')}."
    return [first, *(f"{shown(path)}: {failed.get(path) or _reason(why.get(path))}" for path in kept_paths)]


def _reason(kept: dict[str, Any] | None) -> str:
    """Judged again, it stays; or what has its name now is not what was marked."""
    if kept is None:
        return wording.sentence(Reason.CHANGED)
    reason = Reason(kept["reason"])
    return wording.with_detail(wording.sentence(reason), reason, kept.get("detail", ""))


def judged(request: Request, glob: str, now_ns: Callable[[], int]) -> tuple[Verdict, ...]:
    """What `clean 'GLOB'` would say of each item that is not recognised; nothing where none of them is left."""
    named = replace(request, words=(glob,), only_unknown=True)
    try:
        return tuple(prepare(named, now_ns=now_ns).verdicts())
    except NotFound:
        return ()


def adopt(call: Call, glob: str) -> list[str]:
    adopt_command.add(call, glob)
    return [f"Adopted {shown(glob)}. `tmpwarden adopt --forget` undoes it."]


def why(call: Call, path: str) -> list[str]:
    request = Request(roots=call.roots, thresholds=Thresholds(), config_file=call.config_file)
    return list(why_command.lines(call, explain(path, prepare(request, now_ns=call.now_ns))))


def keep(path: str) -> list[str]:
    keep_command.add([path])
    return [f"Kept: {shown(path)}. `tmpwarden keep --forget` undoes it."]


def undoable() -> list[str]:
    """What `undo` without an id would bring back, as lines."""
    entries = of_the_last_run()
    return [f"{size(int(each.get('bytes', 0))):>10}  {shown(str(each.get('path', '?')))}" for each in entries]


def undo() -> list[str]:
    restored, warnings = undo_with_entries(None, None)
    total = size(sum(each.bytes for each in restored))
    return [*warnings, f"Brought back {plural(len(restored), 'item')}, {total}."]


def orphans(call: Call) -> list[str]:
    """A question first ("" where there is none to ask), then the list."""
    orphans_ = orphans_command.look_with_progress(call)
    doomed = orphans_command.chosen(call, ())
    question = orphans_command.question(doomed) if doomed else ""
    return [question, *orphans_command.lines(orphans_, for_a_person=False)]


def end_orphans(call: Call) -> list[str]:
    """Judged again: only what may still end."""
    doomed = orphans_command.chosen(call, ())
    return list(orphans_command.ended_lines(orphans_command.end_judged_again(call, doomed, ())))
