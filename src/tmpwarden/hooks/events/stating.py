"""Before a tool call: what it says it will make in a temp root, and what its session owns there. Hot path."""

from ...model.hot import ToolCall
from ...oskit import system
from ...redaction import hide
from .. import notebook
from ..payload import text_field
from .hook_call import HookCall


def state_names(call: HookCall, tool: ToolCall, names: tuple[str, ...], others: tuple[str, ...]) -> None:
    """What the call says it will make, and who says so."""
    from ...leases.stated import Statement, state_names

    pid = call.owner_pid
    statement = Statement(
        call.dialect.agent,
        call.session,
        key_of(call, tool),
        command=words_of(call, tool),
        paths=list(names),
        others=list(others),
        pid=pid,
        start=_start_ticks(pid),
    )
    try:
        notebook.make(call.notes)
    except OSError:
        return
    state_names(notebook.stated_file(call.notes, call.session), statement)


def owns(call: HookCall, path: str) -> bool:
    """Whether this session made the entry and nobody else touched it. The last call's names may not be noted yet."""
    from ...leases.births import is_owned

    if is_owned(call.state, call.session, path):
        return True
    if notebook.has_stated(call.notes, call.session):
        note_made(call)
    return is_owned(call.state, call.session, path)


def note_made(call: HookCall, *, looks: bool = False) -> None:
    from ...leases.made_names import note_made

    note_made(call.state, notebook.stated_file(call.notes, call.session), looks=looks)


def words_of(call: HookCall, tool: ToolCall) -> str:
    return tool.command or " ".join((tool.name, *tool.paths))


def key_of(call: HookCall, tool: ToolCall) -> str:
    """The call's own name, the same before and after it."""
    tool_input = call.payload.get("input")
    call_id = text_field(tool_input, "callID") if isinstance(tool_input, dict) else ""
    return text_field(call.payload, "tool_use_id", "tool_call_id") or call_id or hide(words_of(call, tool)[:200])


def _start_ticks(pid: int) -> int | None:
    """As oskit.proc.procs has it, without what that imports."""
    return system.hot.start(pid)
