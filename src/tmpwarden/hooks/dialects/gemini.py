"""Gemini CLI. Its own event names, and its own place for a rewritten input."""

from ...model.hot import ASK, DENY, Decision, ToolCall
from .common import Answer, Dialect, rewritten_input


class Spoken(Dialect):
    __slots__ = ()

    def decide(self, event: str, decision: Decision, call: ToolCall) -> Answer | None:
        if decision.verdict in (DENY, ASK):
            return {"decision": "deny", "reason": decision.reason[:400] or decision.rule or "denied by tmpwarden"}
        rewritten = rewritten_input(decision, call)
        if rewritten is None:
            return None
        return {"hookSpecificOutput": {"hookEventName": event, "tool_input": rewritten}}
