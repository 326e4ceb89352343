"""The agents' own file tools: Read, Write, Edit, NotebookEdit, apply_patch and their kin, judged by path."""

from ...model.hot import ALLOW, ASK, DENY, PASS, Decision, ToolCall
from ..context import Context
from ..nouns.analysis import ANY, READ, WRITE, PathUse
from ..nouns.budget import Budget
from ..nouns.paths import normalised, resolved
from ..rules.rule import Rules
from .judge import judge_file
from .judged import Judged
from .rewriting import rewrite_path
from .scope import Scope

_RANK = {ALLOW: 0, PASS: 1, ASK: 2, DENY: 3}
_MODES = {"read": READ, "write": WRITE, "edit": WRITE, "notebook": WRITE, "patch": WRITE}


_PATCH_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def patch_paths(text: str) -> "tuple[str, ...]":
    """The files that a patch of the `*** Begin Patch` kind touches, in order, each once."""
    found = [line[len(head) :].strip() for line in text.splitlines() for head in _PATCH_LINES if line.startswith(head)]
    return tuple(dict.fromkeys(found))


def judge_file_tool(call: ToolCall, rules: Rules, context: Context) -> Decision:
    """Paths are led into the scratch where the agent takes that, then judged; a tool without paths is none of ours."""
    if not call.paths:
        return Decision(PASS)
    mode = _MODES.get(call.tool, ANY)
    new = _redirected(call, rules, context)
    used = new or call.paths
    worst = _judged(used, mode, rules, context)
    if new is not None and worst.verdict in (ALLOW, PASS) and not _is_applied(worst.verdict, context):
        new, worst = _as_sent(call.paths, new, mode, rules, context)
    decision = Decision(worst.verdict, worst.reason, rule=worst.rule, paths=new)
    if decision.verdict == ASK and not context.has_ask:
        decision.verdict = DENY
        decision.reason = f"{decision.reason} (this agent cannot ask; the user may do it by hand)"
    return decision


def _redirected(call: ToolCall, rules: Rules, context: Context) -> "tuple[str, ...] | None":
    scratch = rules.scratch(context.scratch)
    if not rules.redirect_tmp or scratch is None or (call.tool in ("edit", "patch") and not context.rewrites_edits):
        return None
    # an edit needs what is there: it follows the file, wherever that is
    mode = WRITE if call.tool in ("write", "notebook") else READ
    paths = [
        rewrite_path(
            path,
            scratch=scratch,
            cwd=context.cwd,
            look=context.look,
            mode=mode,
            tmp_roots=context.tmp_roots,
            uid=context.uid,
            keep=context.names_to_keep(),
        )
        for path in call.paths
    ]
    if not any(paths):
        return None
    return tuple(after or before for after, before in zip(paths, call.paths, strict=True))


def _is_applied(verdict: str, context: Context) -> bool:
    if verdict == ALLOW:
        return context.keeps_rewrite
    return context.applies_rewrite_without_allow


def _as_sent(
    paths: "tuple[str, ...]", new: "tuple[str, ...]", mode: str, rules: Rules, context: Context
) -> "tuple[tuple[str, ...] | None, Judged]":
    """The redirect may be dropped, so what was sent must stand by itself."""
    worst = _judged(paths, mode, rules, context)
    if worst.verdict in (ASK, DENY):
        worst.reason = f"{worst.reason} Use instead: {' '.join(new)}"
        return (new if context.applies_rewrite_without_allow else None), worst
    if context.applies_rewrite_without_allow:
        return new, Judged(PASS)
    return None, Judged(PASS)


def _judged(paths: "tuple[str, ...]", mode: str, rules: Rules, context: Context) -> Judged:
    scope = Scope(rules, context, Budget())
    words = [judge_file(_use(path, mode, context), rules, scope) for path in paths]
    return max(words, key=lambda judged: _RANK[judged.verdict])


def _use(path: str, mode: str, context: Context) -> PathUse:
    whole = context.home + path[1:] if path[:2] in ("~", "~/") else path if path[:1] == "/" else f"{context.cwd}/{path}"
    return PathUse(path, normalised(whole), mode, resolved=resolved(whole, True, context.look))
