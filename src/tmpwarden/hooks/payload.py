"""What an agent writes to a hook's stdin: read whole, and decoded once into a tool call. Hot path."""

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.hot import ToolCall

FILE_TOO_LARGE = "File size limit exceeded"  # what a shell says of a command that SIGXFSZ has ended
PATH_KEYS = ("file_path", "notebook_path", "absolute_path", "filePath", "path")
LONGEST_PAYLOAD = 32 << 20
MOST_DRAINED = 16 * LONGEST_PAYLOAD


def read_all(descriptor: int = 0) -> bytes:
    """Everything on stdin; nothing when it is closed or a terminal, a torn start if longer than agents write."""
    parts, total = [], 0
    try:
        if posix.isatty(descriptor):
            return b""
        while part := posix.read(descriptor, 1 << 18):
            total += len(part)
            parts.append(part)
            if total > LONGEST_PAYLOAD:  # beyond it we only drain: the agent must not meet a broken pipe
                del parts[1:]
            if total > MOST_DRAINED:  # /dev/zero has no end
                break
    except OSError:
        return b""
    return b"".join(parts)


def text_field(payload: dict[str, object], *keys: str) -> str:
    """The first of `keys` that holds a text, or an empty one."""
    for key in keys:
        value = payload.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def session_of(payload: dict[str, object]) -> str:
    tool_input = payload.get("input")
    inner = text_field(tool_input, "sessionID") if isinstance(tool_input, dict) else ""
    return text_field(payload, "session_id", "sessionId") or inner


def tool_of(payload: dict[str, object]) -> "tuple[str, dict[str, object]]":
    """The tool's name and what it is given, in any of the three ways that agents have to say so."""
    name, arguments = payload.get("tool_name"), payload.get("tool_input")
    if "toolName" in payload:
        name, arguments = payload["toolName"], payload.get("toolArgs")
    elif name is None and isinstance(about := payload.get("input"), dict):  # a plugin's own hooks: input and output
        output = payload.get("output")
        name, arguments = about.get("tool"), about.get("args")
        arguments = output.get("args", arguments) if isinstance(output, dict) else arguments
    return name if isinstance(name, str) else "", arguments if isinstance(arguments, dict) else {}


def tool_call(agent: str, session: str, payload: dict[str, object]) -> "ToolCall":
    """The call in no agent's words. Raises KeyError for a word that is no agent's."""
    from ..agent_facts import FACTS  # not at the top: most hooks end before anybody asks what a tool is
    from ..model.hot import ToolCall

    name, arguments = tool_of(payload)
    kind = FACTS[agent]["tools"].get(name, "other")
    command, cwd = arguments.get("command"), payload.get("cwd")
    return ToolCall(
        agent,
        kind,
        command=command if kind == "shell" and isinstance(command, str) else None,
        paths=_paths(kind, arguments),
        tool_input=arguments,
        session=session,
        cwd=cwd if isinstance(cwd, str) else "/",
        name=name,
    )


def _paths(kind: str, arguments: dict[str, object]) -> tuple[str, ...]:
    """The files that a file tool names. A patch names them in its text (Codex 0.166.0: it is the `command`)."""
    if kind == "patch":
        from ..guard.decide.filetools import patch_paths

        return patch_paths("\n".join(text for text in arguments.values() if isinstance(text, str)))
    return tuple(path for path in map(arguments.get, PATH_KEYS) if isinstance(path, str)) if kind != "shell" else ()
