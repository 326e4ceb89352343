"""The hot path: one payload on stdin, one answer on stdout, never the status 2 that denies a call (law 9)."""

import posix
import sys

from ..agent_events import MOMENTS  # other events are none of our business
from ..bundle import FOR_ALL, is_bundled, path_for, use
from . import notebook
from .payload import FILE_TOO_LARGE, read_all, session_of, text_field, tool_call, tool_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.hot import ToolCall
    from .dialects.common import Answer
    from .events.hook_call import HookCall

_FIRST = b'{"session_id":"'
_MARKS = (">", "$", "tmp", "=", "`", "<", "(", "~", "rm ", "cd ")
_FIRST_LOOK = "-first"
# rooms of the guard that are imported when a line needs them, and that many lines need
_OFTEN = tuple(f"tmpwarden.guard.simulate.{room}" for room in ("builtins", "interpreters", "tools", "wrappers"))
_FOR_THE_FIRST_LOOK = ("tmpwarden.agent_facts", "tmpwarden.guard.first_look", "tmpwarden.guard.log.audit")
_COMPILER = "tmpwarden.guard.rules.compiling"


def main(arguments: list[str]) -> None:
    """Answer and leave without tearing the interpreter down: that alone is a tenth of a bare start."""
    answer, status = b"", 0
    posix.umask(posix.umask(0o022) & 0o077 | 0o022)  # what we make, we can use, and nobody else can write to it
    try:
        if posix.environ.get(b"TMPWARDEN_DISABLE") != b"1":
            answer = respond(arguments, read_all(), posix.environ)
    except BaseException:
        status = 1  # the line in the agent's settings says so, and ends with 0
    try:
        if answer:
            posix.write(1, answer + b"\n")
    except OSError:
        pass  # nobody listens
    posix._exit(status)


def respond(arguments: list[str], raw: bytes, environ: dict[bytes, bytes]) -> bytes:
    """The bytes for stdout: valid in the agent's dialect, or none at all."""
    try:
        notes = notebook.directory(environ)
    except (OSError, KeyError, ImportError) as problem:
        return _could_not_judge(arguments, type(problem).__name__)
    try:
        return _respond(arguments, raw, environ, notes)
    except Exception as problem:
        notebook.log(notes, f"{' '.join(arguments)}: {type(problem).__name__}: {problem}")
        return _could_not_judge(arguments, type(problem).__name__)


def _respond(arguments: list[str], raw: bytes, environ: dict[bytes, bytes], notes: str) -> bytes:
    event = arguments[1] if len(arguments) > 1 else ""
    if notebook.is_off(environ):
        return _say_that_hooks_are_off(arguments, event)
    plain = _leading_session(raw) if MOMENTS.get(event) == "after" else ""
    if plain and is_quiet(notes, plain, environ, raw):
        return b""  # nothing else in the payload matters, and it may hold megabytes of output
    from ..small_json import decode_object  # not before: the many calls with nothing to do go without

    payload = decode_object(raw) or {}
    if raw and not payload and MOMENTS.get(event) == "before":
        raise ValueError(f"a payload of {len(raw)} bytes or more that cannot be read")
    event = event or text_field(payload, "hook_event_name")
    kind = MOMENTS.get(event)
    session = session_of(payload)
    if kind is None or not session:
        return b""
    if kind == "after" and session != plain and is_quiet(notes, session, environ, raw):
        return b""
    if kind == "before":
        notebook.note_asked(notes, session)
        return _before(arguments, event, session=session, payload=payload, environ=environ, notes=notes)
    from .events.hook_call import HookCall

    call = HookCall(
        arguments=arguments, event=event, kind=kind, session=session, payload=payload, environ=environ, notes=notes
    )
    answer = _encoded_answer(_moment(call))
    if kind == "start" and not is_bundled(__name__):
        _bundle_for_all(notes.rpartition("/")[0])
    return answer


def _say_that_hooks_are_off(arguments: list[str], event: str) -> bytes:
    """`tmpwarden off`: every hook passes, and each session is told so when it starts."""
    if MOMENTS.get(event) != "start":
        return b""
    from .dialects.common import load

    answer = load(arguments[0]).greet(
        event, "", "tmpwarden is switched off: no guard, no clean-up. To switch it on again: tmpwarden on", {}
    )
    return _encoded_answer(answer)


def _before(
    arguments: list[str],
    event: str,
    session: str,
    payload: dict[str, object],
    environ: dict[bytes, bytes],
    notes: str,
) -> bytes:
    """The one event that needs seventy modules, the guard's; most calls end at the first look, which needs five."""
    loaded = frozenset(sys.modules)
    state, agent = notes.rpartition("/")[0], arguments[0]
    may_be_nothing = _may_be_nothing(payload) and use(path_for(state, agent) + _FIRST_LOOK)
    is_ready = not may_be_nothing and use(path_for(state, agent))
    tool = tool_call(agent, session, payload)
    if may_be_nothing:
        if _is_nothing(tool, environ, state):
            return b""
        is_ready = use(path_for(state, agent))
    from .events.before import before
    from .events.hook_call import HookCall

    call = HookCall(
        arguments=arguments,
        event=event,
        kind="before",
        session=session,
        payload=payload,
        environ=environ,
        notes=notes,
        tool=tool,
    )
    answer = _encoded_answer(before(call))
    if not is_ready and _COMPILER not in sys.modules:  # one slow thing in one call
        needed = [name for name in sys.modules if name.startswith("tmpwarden.")]
        from .bundling import bundle

        bundle(path_for(state, agent), (*needed, *_OFTEN), loaded)
        bundle(path_for(state, agent) + _FIRST_LOOK, _FOR_THE_FIRST_LOOK, loaded)
        _bundle_for_all(state)
    return answer


def _may_be_nothing(payload: dict[str, object]) -> bool:
    """Without the first look's table: could there be nothing to judge? Most lines that the guard is for say no."""
    command = tool_of(payload)[1].get("command")
    return isinstance(command, str) and not any(mark in command for mark in _MARKS)


def _is_nothing(tool: "ToolCall", environ: dict[bytes, bytes], state: str) -> bool:
    """A command with nothing to judge is written down in the audit, and that is all."""
    if tool.command is None:
        return False
    from ..guard import first_look
    from ..guard.log.audit import record
    from ..model.hot import Decision

    table = first_look.table_in_force(state, notebook.config_directory(environ))
    if table is None or not first_look.is_nothing(tool.command, table, tool.cwd):
        return False
    try:
        record(state, tool, Decision("pass"))
    except OSError:
        pass  # a full disk is no reason to stop an agent
    return True


def _moment(call: "HookCall") -> "Answer | None":
    """Every moment of a session but the one before a tool call."""
    if call.kind == "start":
        from .events.start import start

        return start(call)
    if call.kind == "guide":
        from .events.start import guide

        return guide(call)
    if call.kind == "end":
        from .events.end import end

        return end(call)
    from .events.after import after

    return after(call)


def _encoded_answer(answer: "Answer | None") -> bytes:
    if not answer:
        return b""
    from ..small_json import encode

    return encode(answer).encode()


def _could_not_judge(arguments: list[str], problem: str) -> bytes:
    """Law 9: an error of ours never denies. Before a tool call it asks where that exists, else it says so."""
    if len(arguments) < 2 or MOMENTS.get(arguments[1]) != "before":
        return b""
    from .dialects.common import load

    answer = load(arguments[0]).cannot_judge(arguments[1], problem)
    return _encoded_answer(answer)


def _bundle_for_all(state: str) -> None:
    from .bundling import bundle

    bundle(path_for(state, FOR_ALL), (__name__, "tmpwarden.small_json"), (is_bundled.__module__,))


def _leading_session(raw: bytes) -> str:
    """The session id where it comes first and is plain, as most agents write it; else the payload has to be decoded."""
    if not raw.startswith(_FIRST):
        return ""
    session = raw[len(_FIRST) : raw.find(b'"', len(_FIRST), len(_FIRST) + 64)]
    return session.decode() if session.replace(b"-", b"").isalnum() else ""


def is_quiet(notes: str, session: str, environ: dict[bytes, bytes], raw: bytes) -> bool:
    """A few stats decide whether an ordinary tool call needs anything more from us."""
    return not (
        notebook.is_due(notes, notebook.MARKERS, every_s=notebook.MARKERS_EVERY_S)
        or notebook.has_note(notes, session)
        or notebook.has_stated(notes, session)
        or notebook.has_windows(notes, session)
        or notebook.was_noted_lately(notes)
        or notebook.has_births(notes, environ, raw)
        or notebook.is_filling(notes, environ)
        or FILE_TOO_LARGE.encode() in raw
    )
