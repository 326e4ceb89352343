"""After a tool call: have it noted, in the background, which stated names it has made, and what else appeared."""

import time

from ...leases import claims, stated
from ...lifecycle import background
from ...model.hot import ToolCall
from .. import notebook
from .hook_call import HookCall
from .stating import key_of, note_made, words_of

_FARTHEST_NS = 3600 * 10**9
_LONGEST_OUTPUT = 1 << 20


def note_births(call: HookCall) -> None:
    """After the call. `births.seen` carries the root's date that was seen last, and the time at which that was."""
    until_ns = time.time_ns()
    root = notebook.temp_root(call.environ)
    before_ns = notebook.saw_root(call.notes, root)
    tool = call.tool
    has_stated = notebook.has_stated(call.notes, call.session)
    statements = _stated(call, tool) if has_stated else []
    took_ns = _took_ns(call)
    window = None
    if call.dialect.has_succeeded(call.event, call.payload):
        asked_ns = statements[-1].time_ns if statements else notebook.asked_ns(call.notes, call.session)
        window = claims.window(asked_ns, took_ns or 0, until_ns)
    if has_stated:
        goes_on = bool(tool.tool_input.get("run_in_background"))
        stated.end(notebook.stated_file(call.notes, call.session), key_of(call, tool), window, goes_on=goes_on)
    if window is not None and (statements or notebook.has_windows(call.notes, call.session)):
        claims.note_call(call.state, call.session, window)
    since_ns = before_ns if took_ns is None or not before_ns else until_ns - took_ns - claims.SLACK_NS
    if until_ns - since_ns > _FARTHEST_NS:
        since_ns = 0  # the first look, or nobody knows since when
    if since_ns or has_stated:
        others = frozenset(path for statement in statements for path in statement.others)
        background.detach(
            lambda: _note(call, tool, root=root, times_ns=(since_ns, until_ns), window=window, others=others)
        )


def _stated(call: HookCall, tool: ToolCall) -> "list[stated.Statement]":
    """What this call has stated and was not ended yet."""
    key = key_of(call, tool)
    statements = stated.read(notebook.stated_file(call.notes, call.session))
    return [statement for statement in statements if statement.call == key and not statement.until_ns]


def _took_ns(call: HookCall) -> int | None:
    """How long the call ran, without the wait for a permission; None where the agent does not tell."""
    took_ms = call.payload.get("duration_ms")
    return int(took_ms * 10**6) if isinstance(took_ms, (int, float)) and 0 <= took_ms < 10**8 else None


def _note(
    call: HookCall,
    tool: ToolCall,
    root: str,
    times_ns: tuple[int, int],
    window: "tuple[int, int] | None",
    others: frozenset[str],
) -> None:
    note_made(call, looks=True)
    if not times_ns[0]:
        return
    from ...lifecycle import births
    from ...small_json import encode

    responses = [call.payload.get(key) for key in ("tool_response", "tool_output", "output", "error")]
    output = " ".join(encode(each) for each in responses if each is not None)[:_LONGEST_OUTPUT]
    finished = births.FinishedCall(
        agent=call.dialect.agent,
        session=call.session,
        command=words_of(call, tool),
        output=output.replace("\\n", "\n").replace("\\t", "\t"),
        since_ns=times_ns[0],
        until_ns=times_ns[1],
        window=window,
        others=others,
    )
    births.note(call.state, root, finished)
