"""Gemini CLI. Its own event names, and its own place for a rewritten input."""

from ...model.hot import ASK, DENY, Decision, ToolCall
from .spoken import Answer, Dialect, rewritten_input


class Gemini(Dialect):
    agent = "gemini"
    tools = {  # noqa: RUF012
        "run_shell_command": "shell",
        "read_file": "read",
        "write_file": "write",
        "replace": "edit",
    }
    rewrites_edits = True
    home_directory = ".gemini"
    can_ask = False  # a headless run would wait for ever

    def decide(self, event: str, decision: Decision, call: ToolCall) -> Answer | None:
        if decision.verdict in (DENY, ASK):
            return {"decision": "deny", "reason": decision.reason[:400] or decision.rule or "denied by tmpwarden"}
        rewritten = rewritten_input(decision, call)
        if rewritten is None:
            return None
        return {"hookSpecificOutput": {"hookEventName": event, "tool_input": rewritten}}


DIALECT = Gemini()
