"""One simple command against the rules: deny > scoped allow > ask > allow > default, first match within a tier."""

from ...model.hot import ALLOW, ASK, DENY, PASS, PROVEN, TRUSTED
from ...text import is_within
from ..nouns.analysis import ANY, LISTED, READ, PathUse, Simple
from ..nouns.paths import is_sink, landing
from ..programs.table import has, program
from ..rules.patterns import MAYBE, YES, is_prefix
from ..rules.rule import Rule, Rules
from ..simulate.shell import EXTENDED
from .outside import is_named, is_of_mode, match_hit, outside
from .scope import Judged, Scope
from .untouchable import RULE

TOLERATED = frozenset((EXTENDED,))  # by a user's trust: HEAD~1 is no reason to ask
INSIDE, NEVER = "guard:inside", "guard:never"
INSIDE_REASON = 'It stays in the project or in temp files of the session ([guard] inside = "allow").'


def judge(simple: Simple, rules: Rules, scope: Scope) -> Judged:
    if named := scope.why_never(simple):
        return Judged(DENY, NEVER, f"This names or reads {named}, and nothing may ([guard] never).")
    doubts: list[Judged] = []
    for rule in rules.rules:
        if rule.decision == DENY:
            hit = _hit(rule, simple, scope)
            if hit == YES:
                return _word_of(rule, simple, scope)
            if hit == MAYBE:
                doubts.append(Judged(rules.on_error, rule.label, _not_proven(simple)))
    if rules.commands and (verdict := _by_words(rules, simple, scope, DENY)) is not None:
        return verdict
    takes, is_by_star = scope.takes(simple)
    kept = Judged(ASK, RULE, f"This removes, replaces or empties {takes}; no rule can allow that.")
    may_allow = scope.may_allow(simple)
    if may_allow:
        for rule in rules.rules:
            if rule.decision == ALLOW and rule.kind != "prefix" and (basis := _allows(rule, simple, scope)):
                return kept if takes else Judged(ALLOW, rule.label, rule.description, basis)
    if rules.commands and (verdict := _by_words(rules, simple, scope, ASK)) is not None:
        return verdict
    for rule in rules.rules:
        if rule.decision == ASK and (hit := _hit(rule, simple, scope)) is not None:
            is_sure = hit == YES or simple.remote
            return _word_of(rule, simple, scope) if is_sure else Judged(ASK, rule.label, _not_proven(simple))
    if doubts:
        return doubts[0]
    if may_allow:
        for rule in rules.rules:
            if rule.decision == ALLOW and rule.kind == "prefix" and (basis := _allows(rule, simple, scope)):
                return kept if takes else Judged(ALLOW, rule.label, rule.description, basis)
    elif not takes and (fed := _as_named(simple, scope)) is not None:
        for rule in rules.rules:
            if rule.decision == ALLOW and rule.kind == "prefix" and _allows(rule, fed, scope):
                return Judged(ALLOW, rule.label, rule.description, TRUSTED)
    if rules.trusts_inside and not takes and scope.may_allow(simple, TOLERATED) and _is_trusted(simple, scope):
        return Judged(ALLOW, INSIDE, INSIDE_REASON, TRUSTED)
    if takes and rules.default != DENY and (rules.trusts_inside or not is_by_star):
        return kept
    return _default_word(rules, simple.text or simple.name or "this")


def _as_named(simple: Simple, scope: Scope) -> Simple | None:
    """What xargs runs, without the names that it is fed: an allow of a program that only reads covers any of them."""
    known = program(simple.name or "")
    only_reads = known.plain in ("read", "pattern_then_read", "text") and not _MORE.intersection(known.facets)
    writes = any(kind in _WRITTEN for kind in (*known.shorts.values(), *known.longs.values()))
    if simple.wrappers != ("xargs",) or not only_reads or writes or has(simple.name, "real"):
        return None
    words = simple.argv
    while words[-1:] == (None,):
        words = words[:-1]
    fed = Simple(words, name=simple.name, cwd=simple.cwd, wrappers=(), text=simple.text)
    is_doubted = any(doubt != LISTED for doubt in simple.doubts)
    return fed if words and None not in words and not is_doubted and not simple.remote else None


_MORE = frozenset(
    ("changes", "links", "runs", "code", "shell", "told_by", "in_place", "writes", "reads", "writes_here")
)
_WRITTEN = ("path_written", "path_into", "code", "path_entered")


def _default_word(rules: Rules, what: str) -> Judged:
    return Judged(rules.default, reason="" if rules.default == PASS else f"no rule covers {what}")


def _by_words(rules: Rules, simple: Simple, scope: Scope, decision: str) -> Judged | None:
    """`[[guard.commands]]` about the program; about what it runs in a container or by a runner's short way, too."""
    rows = rules.command_rows(simple.name) if simple.argv else []
    runs = has(simple.name, "remote") or has(simple.name, "runner")
    if not rows and not runs:
        return None
    from .command_rules import by_words, inner_commands  # most programs have no rows

    verdict = by_words(rows, simple, scope, decision) if rows else None
    for inner in inner_commands(simple, rules.commands) if runs and verdict is None else ():
        verdict = by_words(rules.command_rows(inner.name), inner, scope, decision)
    return verdict


def _word_of(rule: Rule, simple: Simple, scope: Scope) -> Judged:
    reason = rule.description or f"{rule.decision} rule {rule.label}: {simple.text or simple.name or 'redirect'}"
    return Judged(rule.decision, rule.label, _with_alternative(reason, rule, scope))


def _with_alternative(reason: str, rule: Rule, scope: Scope) -> str:
    """Without a scratch nobody is sent there, and where it is no TMPDIR it is named by its path."""
    if not rule.alternative or ("$TMPDIR" in rule.alternative and not scope.temp):
        return reason
    return f"{reason} Instead: {rule.alternative.replace('$TMPDIR', scope.temp)}."


def _not_proven(simple: Simple) -> str:
    unknown = next((use.raw for use in (*simple.redirects, *simple.paths) if use.path is None), "")
    return f"where {unknown or simple.text or 'this'} leads is only known when it runs"


def _hit(rule: Rule, simple: Simple, scope: Scope) -> str | None:
    """YES, MAYBE (not proven either way) or None, for the rules that hold something back."""
    if rule.kind == "prefix":
        return is_prefix(rule.operands, simple)
    if rule.kind == "check":
        return scope.check(rule, simple) if simple.argv else None
    if rule.mentions and not scope.mentions(rule):
        return None
    if rule.kind == "arguments":
        return _argument_hit(rule, simple, scope)
    if rule.kind == "redirects":
        hit = _worst(rule, simple.redirects, scope)
        if hit is None or not simple.remote or not any(has(wrapper, "remote") for wrapper in simple.wrappers):
            return hit  # run by ssh or docker its files are not ours; those of ssh itself are
        return None if _is_in_container(simple) else MAYBE
    return None


def _is_in_container(simple: Simple) -> bool:
    return any(has(wrapper.split()[0], "container") for wrapper in simple.wrappers)


def _argument_hit(rule: Rule, simple: Simple, scope: Scope) -> str | None:
    if simple.name is None:
        return MAYBE if simple.argv else None
    if not rule.names(simple.name):
        return None
    if rule.test == "any_named" and not (simple.remote and None in simple.argv):  # wherever, a name is a name
        named = [use for use in _named_files(simple) if is_of_mode(rule.mode, use)]
        return YES if any(is_named(rule.operands, use, scope) for use in named) else None
    if simple.remote:
        return None if _is_in_container(simple) or "*" in rule.patterns else MAYBE
    uses = [use for use in simple.paths if _counts(rule, use)]
    if rule.test == "any_outside":
        return _worst(rule, tuple(uses), scope)
    if rule.test == "all_inside":
        roots = scope.roots(rule.operands)
        return YES if uses and all(_inside(use, roots, scope) for use in uses) else None
    return match_hit(rule, simple, uses, scope)


def _named_files(simple: Simple) -> "list[PathUse]":
    """Of a command on another machine each word may be one: its paths are not looked at."""
    if not simple.remote:
        return list(simple.paths)
    return [PathUse(word, word if word[:1] == "/" else None, READ) for word in simple.argv[1:] if word is not None]


def _counts(rule: Rule, use: PathUse) -> bool:
    """A path whose use is not known counts as written only against an allow: else every tool would have to ask."""
    if use.mode == ANY and rule.mode != "any":
        return rule.decision == ALLOW
    return is_of_mode(rule.mode, use)


def _worst(rule: Rule, uses: "tuple[PathUse, ...]", scope: Scope) -> str | None:
    hits = [outside(rule, use, scope) for use in uses]
    return YES if YES in hits else MAYBE if MAYBE in hits else None


def _inside(use: PathUse, roots: "tuple[str, ...]", scope: Scope) -> bool:
    place = landing(use) or _visible_place(use, scope)
    return place is not None and any(is_within(place, root) for root in roots)


def _visible_place(use: PathUse, scope: Scope) -> str | None:
    """Where a pattern leads that is read or written: nowhere else, if its directory holds no link."""
    if not use.is_glob or use.resolved is None or not scope.is_plain(use.resolved, False):
        return None
    return use.resolved


def _is_trusted(simple: Simple, scope: Scope) -> bool:
    from .trusted import stays_inside  # only who has `inside = "allow"` pays for it

    return stays_inside(simple, scope)


def _allows(rule: Rule, simple: Simple, scope: Scope) -> str:
    """What the allow rests on, "" for none. It speaks only for words, paths and redirects that are all known.

    It is proven where the paths are confined and the program does no more than its row says; else it is the word of
    the author of the rule.
    """
    if simple.name is None or not simple.argv or None in simple.argv:
        return ""
    if rule.kind in ("redirects", "files", "tools"):
        return ""
    basis = TRUSTED
    if rule.kind == "arguments":
        is_known = scope.is_known_in_full(simple)
        if simple.name not in rule.patterns and not is_known:
            return ""  # `command = "*"` speaks for what the guard knows
        if rule.test == "all_inside" and (is_known or has(simple.name, "safe") or simple.name == "cd"):
            basis = PROVEN
        hit = _argument_hit(rule, simple, scope) == YES and scope.stays_inside(simple, scope.roots(rule.operands))
    elif rule.kind == "check":
        hit = scope.check(rule, simple) == YES and _has_one_target(simple)
    else:
        hit = is_prefix(rule.operands, simple) == YES
    roots = scope.roots(("@scratch", *(rule.operands if rule.test == "all_inside" else ())))
    covered = [_redirect_is_covered(use, roots, scope) for use in simple.redirects]
    if not hit or "" in covered:
        return ""
    return basis if TRUSTED not in covered else TRUSTED


def _has_one_target(simple: Simple) -> bool:
    """A regex sees letters: it confines one path, and only one that does not climb."""
    if has(simple.name, "two_targets") or len([use for use in simple.paths if use.mode != READ]) > 1:
        return False
    return not any("../" in (word or "") or (word or "").endswith("..") for word in simple.argv)


def _redirect_is_covered(use: PathUse, roots: "tuple[str, ...]", scope: Scope) -> str:
    """An allow of a command says nothing about its redirects: each must go inside, nowhere, or have its own allow."""
    if use.path is not None and is_sink(use.path):
        return PROVEN
    if _inside(use, roots, scope):
        return PROVEN
    return TRUSTED if any(outside(rule, use, scope) == YES for rule in scope.redirect_allows) else ""


def judge_file(use: PathUse, rules: Rules, scope: Scope) -> Judged:
    """One path of a file tool against `[[guard.files]]`, in the same tiers."""
    takes = scope.untouchable.why_file(use)
    for decision in (DENY, ALLOW, ASK):
        for rule in rules.of("files", decision) if decision != ALLOW or not takes else ():
            hit = outside(rule, use, scope) if scope.mentions(rule) else None
            if hit == YES or (hit == MAYBE and decision == ASK):
                reason = rule.description or f"{decision} rule {rule.label}: {use.raw}"
                basis = TRUSTED if decision == ALLOW else ""
                return Judged(decision, rule.label, _with_alternative(reason, rule, scope), basis)
            if hit == MAYBE and decision == DENY:
                return Judged(rules.on_error, rule.label, f"where {use.raw} leads is not known")
    if takes:
        return Judged(ASK, RULE, f"This replaces {takes}; no rule can allow that.")
    if rules.trusts_inside:
        from .trusted import file_stays_inside

        if file_stays_inside(use, scope):
            return Judged(ALLOW, INSIDE, INSIDE_REASON, TRUSTED)
    return _default_word(rules, use.raw)
