"""Is a path called so? Globs over what arguments say and where they lead; for `named`, over what they say alone."""

from ..nouns.analysis import DELETE, PathUse, Simple
from ..rules.prefixes import MAYBE, YES
from ..rules.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .scope import Scope


def match_hit(rule: Rule, simple: Simple, uses: "list[PathUse]", scope: "Scope") -> str | None:
    """Globs over what the arguments say and over where the paths lead."""
    if not uses and rule.mode != "any":
        return None
    globs = scope.globs(rule.operands)
    found = [
        globs.fit(use.raw) or globs.fit(use.path) or globs.fit(use.resolved)
        for use in uses
        if not use.is_glob or _takes_all(use)
    ]
    if rule.mode != "any":
        return YES if found and (any if rule.test == "any_match" else all)(found) else None
    found += [
        globs.fit(word) for word in simple.argv[1:] if word is not None and not any(use.raw == word for use in uses)
    ]
    if rule.test == "all_match":
        return YES if found and all(found) and None not in simple.argv else None
    if any(found):
        return YES
    return MAYBE if None in simple.argv else None


def _takes_all(use: PathUse) -> bool:
    """`rm -rf .git/*` leaves nothing of the history. `rm -rf *` in a project leaves it: a star sees nothing hidden."""
    return use.mode == DELETE and use.raw.endswith("/*") and (use.path or "").endswith("/.git")


def is_named(operands: "tuple[str, ...]", use: PathUse, scope: "Scope") -> bool:
    """By the path as it is written: links are not followed, because the first look sees no disk; `!` spares.

    What cannot be told is called nothing. A pattern counts if it is the glob itself, or starts as a name that it means.
    """
    globs = scope.globs(tuple(glob for glob in operands if glob[0] != "!"))
    spared = scope.globs(tuple(glob[1:] for glob in operands if glob[0] == "!"))
    written = "/" + use.raw.strip("'\"")
    if spared.fit(use.path) or spared.fit(written):
        return False
    if globs.fit(use.path) or globs.fit(written):
        return True
    return use.is_glob and any(_may_mean(written[1:], glob) for glob in globs.spelled())


def _may_mean(pattern: str, glob: str) -> bool:
    """`.e*` may be .env, `id_*` id_rsa. One that starts with a star may be anything, and is passed."""
    name = pattern.rpartition("/")[2]
    head = name[: len(name) - len(name.lstrip("".join(set(name) - set("*?["))))]
    wanted = glob.rpartition("/")[2]
    return bool(head) and head != name and wanted.startswith(head)
