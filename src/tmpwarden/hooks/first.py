"""The first look at a call, in the hook's terms: a command with nothing to judge is written down, and that is all.

Hot path: what it needs lies in a pack of its own.
"""

from ..agent_facts import FACTS
from ..guard import first_look
from ..guard.log.audit import record
from ..model.hot import Decision, ToolCall
from .notebook import config_directory


def is_nothing(
    agent: str, session: str, payload: "dict[str, object]", environ: "dict[bytes, bytes]", state: str
) -> bool:
    """True: the answer is no answer, and it stands in the audit."""
    facts, given, tool = FACTS.get(agent), payload.get("tool_input"), payload.get("tool_name")
    command = given.get("command") if isinstance(given, dict) else None
    if facts is None or not isinstance(command, str) or facts["tools"].get(str(tool)) != "shell":
        return False
    cwd = str(payload.get("cwd") or "")
    table = first_look.table_in_force(state, config_directory(environ))
    if table is None or not first_look.is_nothing(command, table, cwd):
        return False
    call = ToolCall(agent, "shell", command=command, cwd=cwd, session=session)
    try:
        record(state, call, Decision("pass"))
    except OSError:
        pass  # a full disk is no reason to stop an agent
    return True
