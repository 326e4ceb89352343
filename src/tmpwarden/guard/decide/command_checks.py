"""What a row of `[[guard.commands]]` may ask for by name, where words and options cannot say it."""

from __future__ import annotations

from ..nouns.analysis import Simple
from ..rules.glob import matches
from .command_words import Given, tails

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .scope import Scope

_WITH_LEASE = ("--force-with-lease", "--force-if-includes")
_OUTRIGHT = ("--force", "--mirror", "--all", "--branches", "--tags", "--prune", "--delete")


def _lease(given: Given, simple: Simple, scope: Scope) -> bool:
    """True unless it is a push with a lease to branches that are named and not protected."""
    if given.has_unknown or "f" in given.letters or "d" in given.letters or "o" in given.letters:
        return True
    names = [name for name, _, _ in given.longs if name[:2] == "--" and name not in _WITH_LEASE]
    if any(one.startswith(name) for name in names for one in _OUTRIGHT):
        return True
    targets = [_target(word) for word in given.plain[1:]]
    if not targets:
        targets = [scope.pushed_branch(simple.cwd) if simple.cwd is not None and not _names_a_repository(given) else ""]
    return any(_is_protected(target, scope) for target in targets)


def _target(refspec: str) -> str:
    """The branch that a refspec changes; "" where the words do not say."""
    source, colon, branch = refspec.rpartition(":")
    if refspec[:1] == "+" or (colon and not source):
        return ""  # a lease does not hold for it; nothing is pushed there: it is deleted
    return branch.removeprefix("refs/heads/")


def _is_protected(branch: str, scope: Scope) -> bool:
    if not branch or branch in ("HEAD", "@") or "*" in branch or branch.startswith("refs/"):
        return True
    return any(matches(glob, branch) for glob in scope.protected)


def _names_a_repository(given: Given) -> bool:
    """Another repository than the one around the working directory."""
    return any(name in ("--git-dir", "--work-tree", "-C") or name[:2] == "-C" for name, _, _ in given.longs)


def _everything(given: Given, simple: Simple, scope: Scope) -> bool:
    """A pattern for all that is here, not a letter of a name in it."""
    return any("*" in word and not word.strip("*?./") and word[0] != "/" for word in given.plain)


def _many(given: Given, simple: Simple, scope: Scope) -> bool:
    """killall, pkill: whoever has the name. kill: all that we may signal (-1), or the first process."""
    if simple.name != "kill":
        return bool(given.plain) or given.has_unknown or any(name in ("-u", "--user") for name, _, _ in given.longs)
    words = [word for word in simple.argv[1:] if word is not None]
    return "1" in words or "-1" in words[1:] or words[:1] == ["-1"]


def without_aliases(argv: tuple[str | None, ...]) -> tuple[str | None, ...] | None:
    """`git -c alias.x='push --force' x`: with the alias spelled out; None where there is none."""
    if not any((word or "")[:2] == "-c" for word in argv):
        return None
    aliases = {}
    for at, word in enumerate(argv):
        before = argv[at - 1] if at else None
        setting = word if before == "-c" else (word or "")[2:] if (word or "")[:2] == "-c" else None
        key, equals, value = (setting or "").partition("=")
        if equals and key.lower().startswith("alias.") and value[:1] != "!":
            aliases[key[6:].lower()] = value
    for name, value in aliases.items():
        for at in tails(tuple(word and word.lower() for word in argv), [name]):
            if at > 0:
                return ("git", *value.split(), *argv[at:])
    return None


CHECKS: dict[str, Callable[[Given, Simple, Scope], bool]] = {"lease": _lease, "everything": _everything, "many": _many}
