"""The nouns of the hot path: plain classes, because dataclasses, enum and typing cost more than the hook itself."""

ALLOW, ASK, DENY, PASS = "allow", "ask", "deny", "pass"
# an allow changes nothing outside the roots, whatever shell reads it; or its user said that such calls may run
PROVEN, TRUSTED = "proven", "trusted"


class ToolCall:
    """One thing an agent wants to do, in no agent's dialect."""

    __slots__ = ("agent", "command", "cwd", "name", "paths", "session", "tool", "tool_input")

    def __init__(
        self,
        agent: str,
        tool: str,
        *,
        command: str | None = None,
        paths: tuple[str, ...] = (),
        tool_input: dict[str, object] | None = None,
        session: str | None = None,
        cwd: str = "/",
        name: str = "",
    ) -> None:
        self.agent = agent
        self.tool = tool  # "shell", "read", "search", "list", "write", "edit", "notebook", "patch" or "other"
        self.command = command  # shell only
        self.paths = paths  # file tools only
        self.tool_input = tool_input or {}
        self.session = session
        self.cwd = cwd
        self.name = name or tool  # as the agent calls it


class Decision:
    """What the guard says about a ToolCall."""

    __slots__ = ("basis", "commands", "fresh", "inputs", "others", "places", "reason", "rewritten", "rule", "verdict")

    def __init__(
        self,
        verdict: str,
        reason: str = "",
        *,
        rule: str = "",
        rewritten: str | None = None,
        commands: tuple[tuple[tuple[str, ...], str, str], ...] = (),
        fresh: tuple[str, ...] = (),
        basis: str = "",
    ) -> None:
        self.verdict = verdict  # ALLOW, ASK, DENY or PASS
        self.reason = reason
        self.basis = basis  # what an allow rests on: PROVEN or TRUSTED
        self.rule = rule
        self.rewritten = rewritten  # the command that will really run, or None if unchanged
        self.inputs: dict[str, str] = {}  # of a file tool: values of its input, and what they become
        self.places: dict[str, str] = {}  # where names that were led really are
        self.commands = commands  # (argv, verdict, rule) of every simple command
        self.fresh = fresh  # names right below a temp root that the call states and that will be its session's
        self.others: tuple[str, ...] = ()  # names there that it mentions and that somebody else has
