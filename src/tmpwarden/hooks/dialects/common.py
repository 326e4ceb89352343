"""What a dialect is: fields of a payload, shapes of answers. These are Claude Code's, which most agents understand."""

import posix

from ...agent_facts import FACTS
from ...model.hot import ALLOW, ASK, DENY, Decision, ToolCall
from ...oskit import system
from ..payload import PATH_KEYS, tool_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.facts import Facts

Answer = dict[str, object]
MARKER_ROW = "claude.cwd-marker"  # cleared after tool calls, whichever session made them
MARKER_SHAPE = ("claude-", "-cwd")  # prefix and suffix of such names: a look that costs no catalogue
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "busybox", "env"))


class Dialect:
    """One agent. Subclasses are for other protocols; what differs within one comes from its facts."""

    __slots__ = ("agent", "answers", "facts")

    def __init__(self, facts: "Facts") -> None:
        self.facts = facts
        self.agent = facts["id"]
        self.answers = facts["answers"]

    def answers_to(self, event: str) -> tuple[str, ...]:
        """What it understands as an answer to this event."""
        return self.answers

    def has_succeeded(self, event: str, payload: Answer) -> bool:
        """Whether this is the end of one tool call that nobody broke off. Not all agents tell of failures."""
        if not tool_of(payload)[0] or event.endswith("Failure") or payload.get("error"):
            return False
        answers = [payload.get(key) for key in ("tool_response", "tool_result", "toolResult")]
        responses = [answer for answer in answers if isinstance(answer, dict)]
        kinds = [answer.get("result_type") or answer.get("resultType") or "success" for answer in responses]
        return not any(answer.get("interrupted") or answer.get("error") for answer in responses) and {*kinds} <= {
            "success"
        }

    def owner_pid(self, environ: dict[bytes, bytes], payload: Answer) -> int:
        """The agent itself, as it says or else the first of our ancestors that is no shell. Never a launcher, never a
        name match."""
        text = environ.get(self.facts["owner_pid"].encode(), b"") if self.facts["owner_pid"] else b""
        if text.isdigit() and len(text) < 10:
            return int(text)
        pid = posix.getppid()
        if not system.hot.TELLS_PROCESSES:
            return _look_up(pid)
        while pid > 1 and _program(pid) in _SHELLS:
            pid = _parent(pid)
        return pid

    @property
    def reaches_commands(self) -> bool:
        """Whether a hook of ours sets TMPDIR of the session's commands."""
        return reaches_commands(self.facts)

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
        if not context or "context" not in self.answers:
            answer = {}
        return answer | ({"systemMessage": message} if message else {}) or None

    def tell(self, event: str, message: str) -> Answer | None:
        return {"systemMessage": message} if message else None

    def decide(self, event: str, decision: Decision, call: ToolCall) -> Answer | None:
        fields: Answer = {}
        verdict = DENY if decision.verdict == ASK and "ask" not in self.answers else decision.verdict
        if verdict in (ASK, DENY) or (verdict == ALLOW and "allow" in self.answers):
            reason = decision.reason[:400] or (decision.rule if verdict == DENY else "")
            fields = {"permissionDecision": verdict, "permissionDecisionReason": reason}
        rewritten = rewritten_input(decision, call) if verdict != DENY else None
        if rewritten is not None and "rewrite" in self.answers:
            fields["updatedInput"] = rewritten
        elif rewritten is not None and "rewrite-with-allow" in self.answers and verdict == ALLOW:
            fields |= {"permissionDecision": ALLOW, "updatedInput": rewritten}
        if (
            "updatedInput" in fields or (decision.places and decision.rewritten is None)
        ) and "told-path" in self.answers:
            fields["additionalContext"] = told_places(decision)
        return {"hookSpecificOutput": {"hookEventName": event, **fields}} if fields else None

    def cannot_judge(self, event: str, problem: str) -> Answer | None:
        """An error of ours before a tool call: ask where that exists, else no opinion, and say so."""
        why = f"tmpwarden could not check this call ({problem}); `tmpwarden doctor` says more"
        if "ask" in self.answers:
            return self.decide(event, Decision(ASK, why), ToolCall(self.agent, "other"))
        return self.tell(event, why)


Spoken = Dialect


def load(name: str) -> Dialect:
    """The dialect of an agent: the module of its protocol is imported when it is asked for.

    Raises KeyError for a word that is no agent's.
    """
    facts = FACTS[name]
    module = __import__(f"{__package__}.{facts['dialect']}", fromlist=("Spoken",))
    dialect: Dialect = module.Spoken(facts)
    return dialect


def reaches_commands(facts: "Facts") -> bool:
    """Whether a hook of ours sets TMPDIR of the session's commands."""
    return facts["temp_by"] in ("env-file", "answer")


def rewritten_input(decision: Decision, call: ToolCall) -> Answer | None:
    """The tool's whole input with the new command or paths in it, or None when nothing changed."""
    if decision.inputs:
        keys = (*PATH_KEYS, "pattern") if call.tool == "list" else PATH_KEYS
        moved = {key: decision.inputs.get(str(call.tool_input[key])) for key in keys if key in call.tool_input}
        return {**call.tool_input, **{key: value for key, value in moved.items() if value}}
    if decision.rewritten is None or decision.rewritten == call.command:
        return None
    return {**call.tool_input, "command": decision.rewritten}


def told_places(decision: Decision) -> str:
    """The model has to know the real paths: its file tools and its scripts are not led."""
    places = ", ".join(f"{name} is {place}" for name, place in decision.places.items())
    return f"tmpwarden: {places}. Use that path from now on."[:400]


def _look_up(pid: int) -> int:
    """The same where only the slower questions are answered: at a session's start."""
    from ...oskit.proc import procs

    while pid > 1 and (process := procs.process(pid)) is not None and process.command.lstrip("-") in _SHELLS:
        pid = process.parent
    return pid


def _program(pid: int) -> str:
    return system.hot.program(pid).rpartition("/")[2]


def _parent(pid: int) -> int:
    return system.hot.parent(pid)
