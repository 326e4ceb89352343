"""Names in a temp root: stated before a tool call, and noted in the background when it has made them.

What else appeared there during the call is noted too.
"""

import time

from ...lifecycle import background
from ...model.hot import ToolCall
from .. import notebook
from ..payload import word
from .hook_call import HookCall

_SLACK_NS = 2 * 10**9  # between the end of the command and this hook
_FARTHEST_NS = 3600 * 10**9
_LONGEST_OUTPUT = 1 << 20


def state_names(call: HookCall, asked: ToolCall, names: tuple[str, ...], others: tuple[str, ...]) -> None:
    """Before the call: what it says it will make, and who says so."""
    from ...leases.stated import Statement, state_names
    from ...oskit.proc.procs import start_ticks

    pid = call.dialect.owner_pid(call.environ, call.payload)
    statement = Statement(
        call.dialect.agent,
        call.session,
        _key(call, asked),
        command=_words(call, asked),
        paths=list(names),
        others=list(others),
        pid=pid,
        start=start_ticks(pid),
    )
    try:
        notebook.make(call.notes)
    except OSError:
        return
    state_names(notebook.stated_file(call.notes, call.session), statement)


def owns(call: HookCall, path: str) -> bool:
    """Whether this session made the entry and it is still the same. The last call's names may not be noted yet."""
    from ...leases.births import is_owned

    if not is_owned(call.state, call.session, path) and notebook.has_stated(call.notes, call.session):
        settle(call)
        return is_owned(call.state, call.session, path)
    return is_owned(call.state, call.session, path)


def settle(call: HookCall) -> None:
    from ...leases.settling import settle

    settle(call.state, notebook.stated_file(call.notes, call.session))


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
    settle(call)
    file, key = notebook.stated_file(call.notes, call.session), _key(call, told)
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
        command=_words(call, told),
        output=output.replace("\\n", "\n").replace("\\t", "\t"),
        since_ns=times_ns[0],
        until_ns=times_ns[1],
        others=others,
    )


def _words(call: HookCall, told: ToolCall) -> str:
    return told.command or " ".join((word(call.payload, "tool_name"), *told.paths))


def _key(call: HookCall, told: ToolCall) -> str:
    """The call's own name, the same before and after it."""
    return word(call.payload, "tool_use_id", "tool_call_id") or _words(call, told)[:200]
