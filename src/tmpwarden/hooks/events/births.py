"""After a tool call during which a temp root changed: have it noted, in the background, what appeared there."""

import time

from ...lifecycle import background
from .. import notebook
from ..payload import word
from .hook_call import HookCall

_SLACK_NS = 2 * 10**9  # between the end of the command and this hook
_FARTHEST_NS = 3600 * 10**9
_LONGEST_OUTPUT = 1 << 20


def note_births(call: HookCall) -> None:
    """`births.seen` carries the root's date that was seen last, and the time at which that was."""
    root = notebook.temp_root(call.environ)
    until_ns = time.time_ns()
    before_ns = notebook.saw_root(call.notes, root)
    took_ms = call.payload.get("duration_ms")
    since_ns = before_ns
    if before_ns and isinstance(took_ms, (int, float)) and 0 <= took_ms < 10**8:
        since_ns = until_ns - int(took_ms * 10**6) - _SLACK_NS
    if not since_ns or until_ns - since_ns > _FARTHEST_NS:
        return  # the first look, or nobody knows since when
    background.detach(lambda: _note(call, root, since_ns, until_ns))


def _note(call: HookCall, root: str, since_ns: int, until_ns: int) -> None:
    from ...lifecycle import births
    from ...small_json import encode

    told = call.dialect.tool_call(call.payload, call.session)
    command = told.command or " ".join((word(call.payload, "tool_name"), *told.paths))
    answered = [call.payload.get(key) for key in ("tool_response", "tool_output", "output", "error")]
    output = " ".join(encode(each) for each in answered if each is not None)[:_LONGEST_OUTPUT]
    births.note(
        call.state,
        root,
        agent=call.dialect.agent,
        session=call.session,
        command=command,
        output=output.replace("\\n", "\n").replace("\\t", "\t"),
        since_ns=since_ns,
        until_ns=until_ns,
    )
