"""Codex. Reads Claude's JSON, refuses unknown fields, and applies a rewrite only together with a real allow."""

from ...model.hot import ALLOW, ASK, DENY, Decision, ToolCall
from .spoken import Answer, Dialect, rewritten_input


class Codex(Dialect):
    agent = "codex"
    tools = {"Bash": "shell", "apply_patch": "patch"}  # noqa: RUF012
    rewrites_without_allow = False
    can_ask = False  # it takes "ask" for invalid output and runs the original command
    config_variable = "CODEX_HOME"
    home_directory = ".codex"

    def tool_call(self, payload: Answer, session: str) -> ToolCall:
        """A patch names its files in its text, which is the `command` (measured on 0.166.0).

        Sent through the shell (`apply_patch <<EOF`) it is a Bash call to us, and no PostToolUse follows.
        """
        call = super().tool_call(payload, session)
        if call.tool == "patch":
            from ...guard.decide.filetools import patch_paths

            call.paths = patch_paths("\n".join(text for text in call.tool_input.values() if isinstance(text, str)))
        return call

    def decide(self, event: str, decision: Decision, call: ToolCall) -> Answer | None:
        said: Answer = {"hookEventName": event}
        if decision.verdict in (DENY, ASK):
            said |= {"permissionDecision": DENY, "permissionDecisionReason": decision.reason[:400] or decision.rule}
            return {"hookSpecificOutput": said}
        rewritten = rewritten_input(decision, call)
        if decision.verdict == ALLOW and rewritten is not None:
            return {"hookSpecificOutput": said | {"permissionDecision": ALLOW, "updatedInput": rewritten}}
        return None


DIALECT = Codex()
