"""Does one path fall under a rule: outside its roots, or one that its glob names?"""

from ...model.hot import ALLOW
from ...text import is_within
from ..nouns.analysis import APPEND, CREATE, DELETE, READ, WRITING, PathUse
from ..nouns.landing import is_sink, landing, real
from ..rules.prefixes import MAYBE, YES
from ..rules.rule import Rule
from .matching import is_named
from .scope import Scope


def outside(rule: Rule, use: PathUse, scope: Scope) -> str | None:
    """Does this path fall under the rule: outside its roots, or one that its glob names?"""
    is_victim = use.mode in (DELETE, CREATE)  # removing /dev/null is no writing to it
    if not is_of_mode(rule.mode, use) or (use.path is not None and is_sink(use.path) and not is_victim):
        return None
    if rule.test == "named":
        return YES if is_named(rule.operands, use, scope) else None
    place = landing(use)
    if rule.test == "glob":
        globs = scope.globs(rule.operands)
        if globs.fit(use.raw) or globs.fit(use.path) or globs.fit(place):
            return YES
        return MAYBE if place is None and not scope.names.is_spared(use) else None
    if place is not None and is_sink(place) and not is_victim:
        return None
    inside = place is not None and scope.is_in_roots_of(place, rule)
    if rule.test == "inside":
        return YES if inside else None
    if place is not None:
        return None if inside or scope.names.is_spared(use) else YES
    if scope.names.is_spared(use) or _matches_inside(use, rule, scope):
        return None
    # a pattern or a word nobody can expand yet: surely outside only if what is known of it already is
    known = use.resolved
    if known is not None and not any(
        is_within(known, root) or is_within(root, known) for root in scope.roots(rule.operands)
    ):
        return YES
    return MAYBE


def _matches_inside(use: PathUse, rule: Rule, scope: Scope) -> bool:
    """`chmod 644 src/*.py`: whatever a pattern matches lies in a directory inside that holds no link."""
    if (
        rule.decision == ALLOW
        or not use.is_glob
        or use.path is None
        or any(c in use.raw.rpartition("/")[0] for c in "*?[")
    ):
        return False
    directory = real(use.path, scope.look)
    return directory is not None and scope.is_in_roots_of(directory, rule) and scope.is_plain(directory, False)


def is_of_mode(mode: str, use: PathUse) -> bool:
    if mode == "any":
        return True
    if mode == "read":
        return use.mode in (READ, "any")
    if mode == "append":
        return use.mode == APPEND
    if mode == "delete":
        return use.mode == DELETE
    if mode == "overwrite":
        return use.mode in WRITING and use.mode != APPEND
    return use.mode in WRITING
