"""The agents' own file tools: Read, Write, Edit, NotebookEdit, apply_patch and their kin, judged by path.

Their paths are never led elsewhere: an agent checks an edit against the file it knows before any hook is asked.
"""

from ...model.hot import ALLOW, ASK, DENY, PASS, Decision, ToolCall
from ..context import Context
from ..nouns.analysis import ANY, READ, WRITE, PathUse
from ..nouns.budget import Budget
from ..nouns.paths import normalised, resolved
from ..rules.rule import Rules
from .judge import judge_file
from .scope import Scope

_RANK = {ALLOW: 0, PASS: 1, ASK: 2, DENY: 3}
_MODES = {"read": READ, "write": WRITE, "edit": WRITE, "notebook": WRITE, "patch": WRITE}


_PATCH_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def patch_paths(text: str) -> "tuple[str, ...]":
    """The files that a patch of the `*** Begin Patch` kind touches, in order, each once."""
    found = [line[len(head) :].strip() for line in text.splitlines() for head in _PATCH_LINES if line.startswith(head)]
    return tuple(dict.fromkeys(found))


def judge_file_tool(call: ToolCall, rules: Rules, context: Context) -> Decision:
    """A tool without paths is none of ours."""
    if not call.paths:
        return Decision(PASS)
    uses = [_use(path, _MODES.get(call.tool, ANY), context) for path in call.paths]
    scope = Scope(rules, context, Budget())
    for use in uses if rules.owns and call.tool != "read" else ():
        scope.names.take_path(use.resolved)
    worst = max([judge_file(use, rules, scope) for use in uses], key=lambda judged: _RANK[judged.verdict])
    decision = Decision(worst.verdict, worst.reason, rule=worst.rule, fresh=scope.names.fresh)
    if decision.verdict == ASK and not context.has_ask:
        decision.verdict = DENY
        remedy = ""
        if "nstead" not in decision.reason:
            remedy = " Instead: a file in the project" + (f" or in {context.temp()}." if context.temp() else ".")
        decision.reason = f"{decision.reason}{remedy} (this agent cannot ask; the user may do it by hand)"
    return decision


def _use(path: str, mode: str, context: Context) -> PathUse:
    whole = context.home + path[1:] if path[:2] in ("~", "~/") else path if path[:1] == "/" else f"{context.cwd}/{path}"
    return PathUse(path, normalised(whole), mode, resolved=resolved(whole, True, context.look))
