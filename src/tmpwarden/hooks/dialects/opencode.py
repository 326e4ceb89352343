"""OpenCode. Our own JavaScript plugin runs inside it and passes on what its hooks get, as {input, output, pid}."""

from ...model.hot import ASK, DENY, Decision, ToolCall
from .common import Answer, Dialect, rewritten_input


class Spoken(Dialect):
    __slots__ = ()

    def owner_pid(self, environ: dict[bytes, bytes], payload: Answer) -> int:
        pid = payload.get("pid")
        return pid if isinstance(pid, int) and pid > 1 else super().owner_pid(environ, payload)

    def greet(self, event: str, context: str, message: str, env: dict[str, str]) -> Answer | None:
        """Our plugin hands the variables to its commands and the context to its model."""
        fields = {"context": context, "message": message}
        return {"env": env} | {name: text for name, text in fields.items() if text}

    def tell(self, event: str, message: str) -> Answer | None:
        return {"message": message} if message else None

    def decide(self, event: str, decision: Decision, call: ToolCall) -> Answer | None:
        if decision.verdict in (DENY, ASK):
            return {"deny": decision.reason[:400] or decision.rule or "denied by tmpwarden"}
        rewritten = rewritten_input(decision, call)
        return None if rewritten is None else {"args": rewritten}
