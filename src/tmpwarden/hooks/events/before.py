"""Before a tool call: the guard's decision, in the agent's words."""

from ...model.hot import PASS, Decision
from ..dialects.spoken import Answer
from . import Call


def before(call: Call) -> Answer | None:
    asked = call.dialect.tool_call(call.payload, call.session)
    decision = Decision(PASS)
    return call.dialect.decide(call.event, decision, asked)
