"""Copilot CLI. PascalCase event names give it Claude's JSON; camelCase ones (repository hooks) its own."""

from ...model.hot import ALLOW, DENY, Decision, ToolCall
from .spoken import Answer, Dialect, rewritten_input


class Copilot(Dialect):
    agent = "copilot"
    tools = {  # noqa: RUF012
        "Bash": "shell",
        "bash": "shell",
        "Read": "read",
        "view": "read",
        "Write": "write",
        "create": "write",
        "Edit": "edit",
        "edit": "edit",
    }
    rewrites_edits = True
    home_directory = ".copilot"
    takes_context = False  # measured: it does not reach the model

    def tool(self, payload: Answer) -> tuple[str, Answer]:
        if "toolName" in payload:
            payload = {"tool_name": payload["toolName"], "tool_input": payload.get("toolArgs")}
        return super().tool(payload)

    def decide(self, event: str, decision: Decision, call: ToolCall) -> Answer | None:
        """An "allow" skips the question to the user, so a mere rewrite goes without one."""
        if event != "preToolUse":
            return super().decide(event, decision, call)
        said: Answer = {}
        if decision.verdict != "pass":
            said = {"permissionDecision": decision.verdict, "permissionDecisionReason": decision.reason[:400]}
        rewritten = rewritten_input(decision, call)
        if rewritten is not None and decision.verdict == ALLOW:
            said["modifiedArgs"] = rewritten
        return said if decision.verdict in (ALLOW, DENY, "ask") else None


DIALECT = Copilot()
