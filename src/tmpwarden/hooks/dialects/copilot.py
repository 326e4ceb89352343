"""Copilot CLI. PascalCase event names give it Claude's JSON; camelCase ones (repository hooks) its own."""

from ...model.hot import ALLOW, DENY, Decision, ToolCall
from .common import Answer, Dialect, rewritten_input


class Spoken(Dialect):
    __slots__ = ()

    def greet(self, event: str, context: str, message: str, env: dict[str, str]) -> Answer | None:
        """A line at the start does not reach its model, one with a prompt does, in its own words (1.0.102)."""
        if event != "UserPromptSubmit" or not context:
            return super().greet(event, context, message, env)
        fields: Answer = {"hookEventName": event, "additionalContext": context}
        return {"additionalContext": context, "hookSpecificOutput": fields}

    def answers_to(self, event: str) -> tuple[str, ...]:
        """In its own words it takes another input only together with an allow."""
        if event != "preToolUse":
            return self.answers
        return tuple("rewrite-with-allow" if word == "rewrite" else word for word in self.answers)

    def decide(self, event: str, decision: Decision, call: ToolCall) -> Answer | None:
        """An "allow" skips the question to the user, so a mere rewrite goes without one."""
        if event != "preToolUse":
            return super().decide(event, decision, call)
        fields: Answer = {}
        if decision.verdict != "pass":
            fields = {"permissionDecision": decision.verdict, "permissionDecisionReason": decision.reason[:400]}
        rewritten = rewritten_input(decision, call)
        if rewritten is not None and decision.verdict == ALLOW:
            fields["modifiedArgs"] = rewritten
        return fields if decision.verdict in (ALLOW, DENY, "ask") else None
