"""What a dialect is: the names of tools and fields, and the shape of answers. Claude's shapes are the common ones."""

import posix

from ...model.hot import ALLOW, ASK, DENY, Decision, ToolCall

Answer = dict[str, object]
PATH_KEYS = ("file_path", "notebook_path", "absolute_path", "filePath", "path")
MARKER_ROW = "claude.cwd-marker"  # cleared after tool calls, whoever made them
MARKER_SHAPE = ("claude-", "-cwd")  # prefix and suffix of such names: a look that costs no catalogue
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "busybox", "env"))


class Dialect:
    """One agent. Subclasses change what differs."""

    agent = ""
    tools: dict[str, str] = {}  # noqa: RUF012 - the agent's tool name -> "shell", "read", "write", "edit", ...
    can_ask = True  # where it cannot, a rule's ask becomes a deny that names the reason
    takes_context = True  # SessionStart may hand a line to the model
    rewrites_without_allow = True  # it applies a rewritten input that comes without a permission
    takes_env = False  # an answer may carry variables for the session's commands
    env_file_variable = b""  # names a file that the agent sources before each command
    rewrites_edits = False  # it checks an edit after the hooks, so that its path may still be changed
    home_directory = ""  # below $HOME: the agent's own, where it may write without a question of ours
    config_variable = ""  # where this agent keeps its registry, if not at its usual place

    def tool_call(self, payload: Answer, session: str) -> ToolCall:
        name, given = self.tool(payload)
        kind = self.tools.get(name, "other")
        command = given.get("command")
        cwd = payload.get("cwd")
        return ToolCall(
            self.agent,
            kind,
            command=command if kind == "shell" and isinstance(command, str) else None,
            paths=tuple(path for path in map(given.get, PATH_KEYS) if isinstance(path, str)) if kind != "shell" else (),
            tool_input=given,
            session=session,
            cwd=cwd if isinstance(cwd, str) else "/",
        )

    def tool(self, payload: Answer) -> tuple[str, Answer]:
        name, given = payload.get("tool_name"), payload.get("tool_input")
        return name if isinstance(name, str) else "", given if isinstance(given, dict) else {}

    def owner_pid(self, environ: dict[bytes, bytes], payload: Answer) -> int:
        """The agent itself: the first of our ancestors that is no shell. Never a launcher, never a name match."""
        pid = posix.getppid()
        while pid > 1 and _program(pid) in _SHELLS:
            pid = _parent(pid)
        return pid

    @property
    def reaches_commands(self) -> bool:
        """Whether TMPDIR of the session's commands is ours to set."""
        return self.takes_env or bool(self.env_file_variable)

    def keeps_rewrite(self, environ: dict[bytes, bytes]) -> bool:
        """Whether this version was measured to run the rewritten input and not the original."""
        return True

    def own_directories(self, uid: int) -> tuple[str, ...]:
        """What the agent itself needs below a temp root."""
        return ()

    def is_sandboxed(self, environ: dict[bytes, bytes], payload: Answer) -> bool:
        """Whether its commands can write only below the agent's own directory in the temp root."""
        return False

    def output_directories(self, temp: str, session: str) -> list[str]:
        """Directories of files that commands of this session are writing to, where the agent has such."""
        return []

    # Answers. None: say nothing, which every agent reads as "go on".
    def greet(self, event: str, context: str, message: str, env: dict[str, str]) -> Answer | None:
        """The answer to a session's start; `env` is for agents that take variables in an answer."""
        answer: Answer = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
        if not context or not self.takes_context:
            answer = {}
        return answer | ({"systemMessage": message} if message else {}) or None

    def tell(self, event: str, message: str) -> Answer | None:
        return {"systemMessage": message} if message else None

    def decide(self, event: str, decision: Decision, call: ToolCall) -> Answer | None:
        said: Answer = {}
        rewritten = rewritten_input(decision, call)
        verdict = DENY if decision.verdict == ASK and not self.can_ask else decision.verdict
        if verdict in (ALLOW, ASK, DENY):
            said = {"permissionDecision": verdict, "permissionDecisionReason": decision.reason[:400]}
        if rewritten is not None and verdict != DENY:
            said["updatedInput"] = rewritten
            said["additionalContext"] = told_paths(decision, call)
        return {"hookSpecificOutput": {"hookEventName": event, **said}} if said else None

    def cannot_judge(self, event: str, problem: str) -> Answer | None:
        """An error of ours before a tool call: ask where that exists, else no opinion, and say so."""
        why = f"tmpwarden could not judge this call ({problem}); `tmpwarden doctor` tells more"
        if self.can_ask:
            return self.decide(event, Decision(ASK, why), ToolCall(self.agent, "other"))
        return self.tell(event, why)


def rewritten_input(decision: Decision, call: ToolCall) -> Answer | None:
    """The tool's whole input with the new command or paths in it, or None when nothing changed."""
    if decision.rewritten is not None and decision.rewritten != call.command:
        return {**call.tool_input, "command": decision.rewritten}
    if not decision.paths or decision.paths == call.paths:
        return None
    keys = [key for key in PATH_KEYS if isinstance(call.tool_input.get(key), str)]
    return {**call.tool_input, **dict(zip(keys, decision.paths, strict=False))}


def told_paths(decision: Decision, call: ToolCall) -> str:
    """The model has to know the real path: its next Edit is checked before any hook can help."""
    if decision.paths:
        return f"tmpwarden: the file used is {decision.paths[0]}"[:400]
    return f"tmpwarden: paths below /tmp were led to this session's scratch: {decision.rewritten}"[:400]


def _program(pid: int) -> str:
    try:
        return posix.readlink(f"/proc/{pid}/exe").rpartition("/")[2]
    except OSError:
        return ""


def _parent(pid: int) -> int:
    try:
        fd = posix.open(f"/proc/{pid}/stat", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return 0
    try:
        return int(posix.read(fd, 4096).rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    finally:
        posix.close(fd)
