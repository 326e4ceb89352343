"""Tools other than the shell: the agents' file tools, judged by path, and any other tool by its name.

Their paths are never led elsewhere: an agent checks an edit against the file it knows before any hook is asked.
"""

from ...model.hot import ALLOW, ASK, DENY, PASS, TRUSTED, Decision, ToolCall
from ..context import Context
from ..nouns.analysis import ANY, READ, WRITE, Budget, PathUse
from ..nouns.paths import normal_form, resolve_path
from ..rules.rule import Rule, Rules
from .judge import NEVER, judge_file
from .scope import Scope

_RANK = {ALLOW: 0, PASS: 1, ASK: 2, DENY: 3}
_MODES = {
    "read": READ, "search": READ, "list": READ, "write": WRITE, "edit": WRITE, "notebook": WRITE, "patch": WRITE,
}  # fmt: skip
_BELOW = ("search", "list")  # of all that lies below a directory: the content, or the names
_PATTERNS = ("pattern", "glob")


_PATCH_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def patch_paths(text: str) -> "tuple[str, ...]":
    """The files that a patch of the `*** Begin Patch` kind touches, in order, each once."""
    paths = [line[len(head) :].strip() for line in text.splitlines() for head in _PATCH_LINES if line.startswith(head)]
    return tuple(dict.fromkeys(paths))


def judge_file_tool(call: ToolCall, rules: Rules, context: Context) -> Decision:
    """A tool without paths is not one of ours."""
    paths = call.paths or ((call.cwd,) if call.tool in _BELOW else ())
    if not paths:
        return Decision(PASS)
    uses = [_use(path, _MODES.get(call.tool, ANY), context) for path in paths]
    if rules.never and (named := _never(call, uses, rules, context)):
        return Decision(DENY, f"This names or reads {named}, and nothing may ([guard] never).", rule=NEVER)
    scope = Scope(rules, context, Budget(), text=_texts_in(call.tool_input))
    for use in uses if rules.owns and call.tool != "read" else ():
        scope.names.take_path(use.resolved)
    worst = max([judge_file(use, rules, scope) for use in uses], key=lambda judged: _RANK[judged.verdict])
    reason = f"{worst.basis}: {worst.reason}" if worst.basis else worst.reason
    decision = Decision(worst.verdict, reason, rule=worst.rule, fresh=scope.names.fresh, basis=worst.basis)
    if decision.verdict == ASK and not context.agent.has_ask:
        decision.verdict = DENY
        remedy = ""
        if "nstead" not in decision.reason:
            temp = context.place.temp()
            remedy = f" Instead: a file in the project or in {temp}." if temp else " Instead: a file in the project."
        decision.reason = f"{decision.reason}{remedy} (this agent cannot ask; the user can do it by hand)"
    return decision


def follow_led_names(call: ToolCall, rules: Rules, context: Context) -> Decision:
    """A tool that reads finds what an earlier command of the session was led to write. It grants nothing."""
    from .leading import follow_name
    from .rewriting import TempRoot

    scratch, moves = rules.scratch(context.place.scratch), {}
    if scratch is not None and context.agent.keeps_rewrite and context.agent.applies_rewrite_without_allow:
        root = TempRoot(scratch, context.place.tmp_roots, context.names_to_keep(), context.probes.look)
        named = [*call.paths, *(one for one in [call.tool_input.get("pattern")] if call.tool == "list")]
        moves = {value: moved for value in named if isinstance(value, str) and (moved := follow_name(value, root))}
    moved_call = ToolCall(call.agent, call.tool, tool_input=call.tool_input, cwd=call.cwd, name=call.name)
    moved_call.paths = tuple([moves.get(path, path) for path in call.paths])
    decision = with_tool_rules(judge_file_tool(moved_call, rules, context), call, rules, context)
    if moves and decision.verdict != DENY:
        decision.inputs, decision.places = moves, moves
    return decision


def _never(call: ToolCall, uses: "list[PathUse]", rules: Rules, context: Context) -> str:
    """Which path of `never` the call names, or reads through a directory around it."""
    from .never import Never  # only who has such paths pays for it

    texts = [call.tool_input.get(key) for key in _PATTERNS] if call.tool == "list" else []
    patterns = tuple([f"{uses[0].path}/{one}" if one[:1] not in "/~" else one for one in texts if isinstance(one, str)])
    return Never(rules.never, context).why_file(uses, patterns, call.tool == "search")


def _texts_in(value: object) -> str:
    """All texts in what the tool is given."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return "\n".join([_texts_in(each) for each in value])
    return value if isinstance(value, str) else ""


def _use(path: str, mode: str, context: Context) -> PathUse:
    if path[:2] in ("~", "~/"):
        whole = context.place.shell_home + path[1:]
    else:
        whole = path if path[:1] == "/" else f"{context.place.cwd}/{path}"
    return PathUse(path, normal_form(whole), mode, resolved=resolve_path(whole, True, context.probes.look))


def with_tool_rules(decision: Decision, call: ToolCall, rules: Rules, context: Context) -> Decision:
    """What was said about the paths of a call, and what a rule says about its tool: the stricter word wins."""
    rule = _rule_for(call, rules)
    if rule is None or decision.verdict == DENY or (decision.verdict == ASK and rule.decision != DENY):
        return decision
    if rule.decision == ALLOW:
        if decision.verdict != PASS:
            return decision
        words = rule.description or f"allowed by {rule.label}"
        return Decision(ALLOW, f"{TRUSTED}: {words}", rule=rule.label, fresh=decision.fresh, basis=TRUSTED)
    reason = rule.description or f"{rule.decision} rule {rule.label}: {call.name}"
    if rule.alternative:
        reason = f"{reason} Instead: {rule.alternative}."
    verdict = rule.decision
    if verdict == ASK and not context.agent.has_ask:
        verdict, reason = DENY, f"{reason} (this agent cannot ask; the user can do it by hand)"
    return Decision(verdict, reason, rule=rule.label, fresh=decision.fresh)


def has_rule(call: ToolCall, rules: Rules) -> bool:
    return _rule_for(call, rules) is not None


def _rule_for(call: ToolCall, rules: Rules) -> Rule | None:
    speaking = (rule for decision in (DENY, ASK, ALLOW) for rule in rules.of("tools", decision))
    return next((rule for rule in speaking if rule.names(call.name)), None)
