"""The guard's word on one tool call: rewrite, judge the text that will really run, and say what the agent can take.

Pure: the disk is seen only through `context.probes`. Errors never become a deny; the caller turns them into an ask.
"""

from ...model.hot import ALLOW, ASK, DENY, PASS, TRUSTED, Decision, ToolCall
from ..context import Context
from ..nouns.analysis import Budget, Simple
from ..rules.rule import Rules
from ..shell.syntax import Unreadable
from ..simulate.study import Study, study
from .judge import judge
from .scope import Judged, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .leading import Led
    from .rewriting import TempRoot

_RANK = {ALLOW: 0, PASS: 1, ASK: 2, DENY: 3}


def evaluate(call: ToolCall, rules: Rules, context: Context) -> Decision:
    """allow, ask, deny or pass; `rewritten` and `paths` are what will really run, None where nothing changes."""
    if call.command is None:
        from .filetools import follow_led_names, judge_file_tool, with_tool_rules

        if rules.redirect_tmp and call.tool in ("read", "search", "list"):
            return follow_led_names(call, rules, context)
        return with_tool_rules(judge_file_tool(call, rules, context), call, rules, context)
    budget = Budget()
    sent = study(call.command, context, budget)
    root = _leading(call.command, rules, context)
    other, will_run = _lead(call.command, sent, root, context, budget)
    if other is None:
        decision = _for_agent(_judge_line(sent, rules, context, budget), None, context)
    else:
        decision = _judge_line(will_run, rules, context, budget)
        if decision.verdict != DENY and not (decision.verdict == ASK and context.agent.has_ask):
            decision = _without_rewrite(decision, sent, other.text, rules, context, budget)
            decision = _for_agent(decision, other.text, context)
        else:
            decision.rewritten = other.text
        decision.places = other.places if decision.rewritten is not None else {}
    if root is not None:
        from .leading import led_before, led_by_all

        text = decision.rewritten or call.command
        decision.places |= led_before(text, root) or led_by_all(text, root, context.probes.entries(root.scratch))
    return decision


def _leading(command: str, rules: Rules, context: Context) -> "TempRoot | None":
    """Where fresh /tmp names go; None where the line has none, or nothing is led."""
    scratch = rules.scratch(context.place.scratch) if rules.redirect_tmp else None
    if scratch is None:
        return None
    from .leading import may_name  # off by default
    from .rewriting import TempRoot

    if not may_name(command, context.place.tmp_roots) and not any(one in command for one in context.place.tmp_roots):
        return None
    return TempRoot(scratch, context.place.tmp_roots, context.names_to_keep(), context.probes.look)


def _lead(
    command: str, sent: Study, root: "TempRoot | None", context: Context, budget: Budget
) -> "tuple[Led | None, Study]":
    """The line with its fresh /tmp names in the scratch, and what that does; None where it stays as it is."""
    if root is None:
        return None, sent
    from .leading import holds, lead_line

    other = lead_line(command, sent, root, cwd=context.place.cwd, environ=context.place.environ)
    will_run = sent if other is None else study(other.text, context, budget, other.tree)
    return (other, will_run) if other is not None and holds(other, will_run) else (None, sent)


def _without_rewrite(
    decision: Decision, sent: Study, other: str, rules: Rules, context: Context, budget: Budget
) -> Decision:
    """What is said must hold if the agent drops the rewrite (or never applies it)."""
    applied = decision.verdict == ALLOW or context.agent.applies_rewrite_without_allow
    if context.agent.keeps_rewrite and applied:
        decision.rewritten = other
        return decision
    original = _judge_line(sent, rules, context, budget)
    if not applied:  # the text that runs is the one that was sent
        if _RANK[original.verdict] <= _RANK[PASS]:
            return Decision(PASS, commands=original.commands, fresh=original.fresh)
        original.reason = f"{original.reason} Run instead: {other}"
        original.rewritten = other
        return original
    decision.rewritten = other
    if decision.verdict == ALLOW and original.verdict != ALLOW:
        decision.verdict = ASK if context.agent.has_ask else DENY
        decision.rule = original.rule
        decision.reason = f"this is safe only in the session's temp directory. Run instead: {other}"
    return decision


def _for_agent(decision: Decision, rewritten: str | None, context: Context) -> Decision:
    """An agent that cannot ask is told no, with the way out."""
    if decision.verdict == ASK and not context.agent.has_ask:
        decision.verdict = DENY
        remedy = ""
        if rewritten and "Run instead" not in decision.reason:
            remedy = f" Run instead: {rewritten}"
        elif "nstead" not in decision.reason:
            where = f"the project or {context.place.temp()}" if context.place.temp() else "the project"
            remedy = f" Instead: plain commands with paths spelled out, in {where}."
        end = "" if decision.reason.endswith(".") else "."
        decision.reason = f"{decision.reason}{end}{remedy} (this agent cannot ask; the user can run it by hand)"
    return decision


def _judge_line(studied: Study, rules: Rules, context: Context, budget: Budget) -> Decision:
    """Rules over every simple command of one line; the most restrictive word wins."""
    analysis = studied.analysis
    scope = Scope(rules, context, budget, analysis.commands)
    each: list[tuple[Simple, Judged]] = []
    opaque = analysis.opaque
    try:
        budget.spend(len(analysis.commands) * len(scope.names.owned))
        for simple in analysis.commands:
            budget.spend(len(rules.rules))
            each.append((simple, judge(simple, rules, scope)))
    except Unreadable as why:
        opaque = str(why)
    worst = _worst(each, opaque, rules)
    if worst.verdict == ALLOW:
        from .surroundings import why_no_allow  # asked for nothing less

        why_not = why_no_allow(analysis.commands, context)
        worst = Judged(PASS, reason=f"no allow: {why_not}") if why_not else _with_basis(worst, each)
    commands = tuple((_visible_words(simple), judged.verdict, judged.rule) for simple, judged in each)
    names = scope.names
    decision = Decision(
        worst.verdict, worst.reason, rule=worst.rule, commands=commands, fresh=names.fresh, basis=worst.basis
    )
    decision.others = names.others
    return decision


def _with_basis(allow: Judged, each: "list[tuple[Simple, Judged]]") -> Judged:
    """Of a whole line: proven only if each part of it is."""
    judged = next((one for _, one in each if one.basis == TRUSTED), allow)
    words = judged.reason or f"allowed by {judged.rule}"
    return Judged(ALLOW, judged.rule, f"{judged.basis}: {words}", judged.basis)


def _worst(each: "list[tuple[Simple, Judged]]", opaque: str | None, rules: Rules) -> Judged:
    verdicts = [  # an assignment alone runs nothing: it neither earns nor spoils an allow
        judged for simple, judged in each if simple.argv or simple.redirects or simple.doubts or judged.verdict != PASS
    ]
    if opaque is not None:
        verdicts.append(Judged(rules.on_error, "on_error", f"this command cannot be read with certainty: {opaque}"))
    return max(verdicts, key=lambda judged: _RANK[judged.verdict], default=Judged(PASS))


def _visible_words(simple: Simple) -> "tuple[str, ...]":
    return tuple("$?" if word is None else word for word in simple.argv)
