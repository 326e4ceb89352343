"""Qwen Code. Claude's JSON, but a rewrite is ignored: it can only deny, ask or watch."""

from ...model.hot import ASK, DENY, Decision, ToolCall
from .spoken import Answer, Dialect


class Qwen(Dialect):
    agent = "qwen"
    tools = {  # noqa: RUF012
        "run_shell_command": "shell",
        "read_file": "read",
        "write_file": "write",
        "edit": "edit",
    }
    rewrites_without_allow = False
    home_directory = ".qwen"

    def keeps_rewrite(self, environ: dict[bytes, bytes]) -> bool:
        return False

    def decide(self, event: str, decision: Decision, call: ToolCall) -> Answer | None:
        if decision.verdict not in (DENY, ASK):
            return None
        said = {"permissionDecision": decision.verdict, "permissionDecisionReason": decision.reason[:400]}
        return {"hookSpecificOutput": {"hookEventName": event, **said}}


DIALECT = Qwen()
