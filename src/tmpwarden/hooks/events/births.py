"""After a tool call: have it noted, in the background, which stated names it has made, and what else appeared."""

import time

from ...lifecycle import background
from ...model.hot import ToolCall
from .. import notebook
from .hook_call import HookCall
from .stating import key_of, note_made, words_of

_SLACK_NS = 2 * 10**9  # between the end of the command and this hook
_FARTHEST_NS = 3600 * 10**9
_LONGEST_OUTPUT = 1 << 20


def note_births(call: HookCall) -> None:
    """After the call. `births.seen` carries the root's date that was seen last, and the time at which that was."""
    root = notebook.temp_root(call.environ)
    until_ns = time.time_ns()
    before_ns = notebook.saw_root(call.notes, root)
    took_ms = call.payload.get("duration_ms")
    since_ns = before_ns
    if before_ns and isinstance(took_ms, (int, float)) and 0 <= took_ms < 10**8:
        since_ns = until_ns - int(took_ms * 10**6) - _SLACK_NS
    if until_ns - since_ns > _FARTHEST_NS:
        since_ns = 0  # the first look, or nobody knows since when
    if since_ns or notebook.has_stated(call.notes, call.session):
        background.detach(lambda: _note(call, root, since_ns, until_ns))


def _note(call: HookCall, root: str, since_ns: int, until_ns: int) -> None:
    from ...leases import stated

    told = call.dialect.tool_call(call.payload, call.session)
    note_made(call)
    file, key = notebook.stated_file(call.notes, call.session), key_of(call, told)
    others = frozenset(path for statement in stated.read(file) if statement.call == key for path in statement.others)
    if not told.tool_input.get("run_in_background"):
        stated.close(file, key)
    if since_ns:
        _note_all(call, told, root, (since_ns, until_ns), others)


def _note_all(call: HookCall, told: ToolCall, root: str, times_ns: tuple[int, int], others: frozenset[str]) -> None:
    from ...lifecycle import births
    from ...small_json import encode

    answered = [call.payload.get(key) for key in ("tool_response", "tool_output", "output", "error")]
    output = " ".join(encode(each) for each in answered if each is not None)[:_LONGEST_OUTPUT]
    births.note(
        call.state,
        root,
        agent=call.dialect.agent,
        session=call.session,
        command=words_of(call, told),
        output=output.replace("\\n", "\n").replace("\\t", "\t"),
        since_ns=times_ns[0],
        until_ns=times_ns[1],
        others=others,
    )
