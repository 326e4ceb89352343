"""`deny = ["git push"]`: the first words of a command, options between them passed over."""

from ..nouns.analysis import Simple
from ..programs.table import program
from .glob import matches

YES, MAYBE = "yes", "maybe"


def is_prefix(words: "tuple[str, ...]", simple: Simple) -> str | None:
    """YES, MAYBE (a word that is not proven stands where it matters), or None."""
    if not simple.argv:
        return None
    if simple.name is None:
        return MAYBE
    if not matches(words[0], simple.name) and words[0] != simple.argv[0]:
        return None
    valued = program(simple.name).values("valued")  # `git -C dir push` is a push
    at = 1
    for word in words[1:]:
        at = _next(simple.argv, at, word, valued)
        if at >= len(simple.argv):
            return None
        found = simple.argv[at]
        if found is None:
            return MAYBE
        if not matches(word, found):
            return None
        at += 1
    return YES


def _next(argv: "tuple[str | None, ...]", at: int, word: str, valued: "tuple[str, ...]") -> int:
    """Where the next word that counts stands; a rule that names an option itself sees it wherever it is."""
    if word.startswith("-"):
        there = [i for i in range(at, len(argv)) if argv[i] is None or matches(word, argv[i] or "")]
        return there[0] if there else len(argv)
    while at < len(argv):
        found = argv[at]
        if found is None or not found.startswith("-"):
            return at
        at += 2 if found in valued else 1
    return at
