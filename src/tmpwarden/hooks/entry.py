"""The hot path: one payload on stdin, one answer on stdout, exit 0 whatever happens (law 9)."""

import gc
import posix

from . import notebook, wire

# Event names of all agents, by what they mean to us. An event that is not here is none of our business.
KINDS = {
    "SessionStart": "start",
    "PreToolUse": "before",
    "BeforeTool": "before",
    "PostToolUse": "after",
    "PostToolUseFailure": "after",
    "PostToolBatch": "after",
    "AfterTool": "after",
    "Stop": "stop",
    "AfterAgent": "stop",
    "SessionEnd": "end",
    "sessionStart": "start",
    "preToolUse": "before",
    "postToolUse": "after",
    "agentStop": "stop",
    "sessionEnd": "end",
    "shell.env": "start",
    "tool.execute.before": "before",
    "tool.execute.after": "after",
    "dispose": "end",
}
MARKERS_EVERY_S = 60.0
CLEAN_EVERY_S = 3600.0


def main(arguments: list[str]) -> None:
    """Answer and leave without tearing the interpreter down: that alone is a tenth of a bare start."""
    gc.disable()  # nothing lives long enough here to be worth a look
    answer = b""
    try:
        if posix.environ.get(b"TMPWARDEN_DISABLE") != b"1":
            answer = respond(arguments, wire.read_all(), posix.environ)
        if answer:
            posix.write(1, answer + b"\n")
    except BaseException:
        pass
    posix._exit(0)


def respond(arguments: list[str], raw: bytes, environ: dict[bytes, bytes]) -> bytes:
    """The bytes for stdout: valid in the agent's dialect, or none at all."""
    try:
        notes = notebook.directory(environ)
    except (OSError, KeyError, ImportError):
        return b""
    try:
        return _respond(arguments, raw, environ, notes)
    except Exception as problem:
        notebook.log(notes, f"{' '.join(arguments)}: {type(problem).__name__}: {problem}")
        return b""


def _respond(arguments: list[str], raw: bytes, environ: dict[bytes, bytes], notes: str) -> bytes:
    payload = wire.decode(raw)
    event = arguments[1] if len(arguments) > 1 else wire.word(payload, "hook_event_name")
    kind = KINDS.get(event)
    session = wire.word(payload, "session_id", "sessionId") or _inner_session(payload)
    if kind is None or not session:
        return b""
    if kind == "after" and is_quiet(notes, session):
        return b""
    if kind == "before":
        return _before(arguments, event, session, payload, environ, notes)
    from .events import Call, answer

    return answer(Call(arguments, event, kind, session, payload, environ, notes))


def _before(
    arguments: list[str],
    event: str,
    session: str,
    payload: dict[str, object],
    environ: dict[bytes, bytes],
    notes: str,
) -> bytes:
    """The one event that needs forty modules: the guard's."""
    from .swiftly import Swiftly

    swiftly = Swiftly(notes.rpartition("/")[0], arguments[0])
    from .events import Call, answer

    said = answer(Call(arguments, event, "before", session, payload, environ, notes))
    swiftly.keep()
    return said


def _inner_session(payload: dict[str, object]) -> str:
    given = payload.get("input")
    return wire.word(given, "sessionID") if isinstance(given, dict) else ""


def is_quiet(notes: str, session: str) -> bool:
    """Three stats decide whether an ordinary tool call needs anything more from us."""
    return not (
        notebook.is_due(notes, notebook.MARKERS, every_s=MARKERS_EVERY_S)
        or notebook.has_note(notes, session)
        or notebook.was_told_lately(notes)
    )
