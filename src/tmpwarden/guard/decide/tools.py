"""`[[guard.tools]]`: tools by their names, as the agent calls them. A shell is never judged by its name alone."""

from ...model.hot import ALLOW, ASK, DENY, PASS, Decision, ToolCall
from ..context import Context
from ..rules.rule import Rule, Rules


def with_tool_rules(decision: Decision, call: ToolCall, rules: Rules, context: Context) -> Decision:
    """What was said about the paths of a call, and what a rule says about its tool: the stricter word wins."""
    rule = _speaking(call, rules)
    if rule is None or decision.verdict == DENY or (decision.verdict == ASK and rule.decision != DENY):
        return decision
    if rule.decision == ALLOW:
        if decision.verdict != PASS:
            return decision
        return Decision(ALLOW, rule.description, rule=rule.label, fresh=decision.fresh)
    reason = rule.description or f"{rule.decision} rule {rule.label}: {call.name}"
    if rule.alternative:
        reason = f"{reason} Instead: {rule.alternative}."
    verdict = rule.decision
    if verdict == ASK and not context.has_ask:
        verdict, reason = DENY, f"{reason} (this agent cannot ask; the user may do it by hand)"
    return Decision(verdict, reason, rule=rule.label, fresh=decision.fresh)


def has_rule(call: ToolCall, rules: Rules) -> bool:
    return _speaking(call, rules) is not None


def _speaking(call: ToolCall, rules: Rules) -> Rule | None:
    speaking = (rule for decision in (DENY, ASK, ALLOW) for rule in rules.of("tools", decision))
    return next((rule for rule in speaking if rule.names(call.name)), None)
