"""`[[guard.commands]]` against one simple command: which rows speak about it. Loaded where a program has rows.

Words that cannot be told before the line runs count as text: no option, no subcommand. Options in front of a subcommand
may or may not take the next word, so both readings are tried: a row is never passed over because of one that we do not
know.
"""

from __future__ import annotations

from ..nouns.analysis import Simple
from ..rules.patterns import matches
from .command_words import Given, tails
from .scope import Judged, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from .scope import Scope

    Row = dict[str, object]

_MARKS = str.maketrans(dict.fromkeys("()[]{},\"'`\t\n\r", " ") | {";": " ; "})
_SPEAKERS = ("echo", "printf", "cat")
_FINDERS = ("pgrep", "pidof")  # what they find is named by their words
MAX_TEXT = 50_000


def holds(wanted: list[str], simple: Simple, line: tuple[Simple, ...], unfiltered: bool) -> bool:
    """Is one of these sequences of words in what the command is told, by argument, here-document or pipe?"""
    sequences = [text.split() for text in wanted]
    return any(_has(_words(text), sequences, unfiltered) for text in _texts_of(simple, line))


def _texts_of(simple: Simple, line: tuple[Simple, ...]) -> Iterator[str]:
    """Its own words and its input; what others in the line say may be piped to it."""
    for word in simple.argv[1:]:
        if word is not None:
            yield word
            if word[:2] == "--" and "=" in word:
                yield word.partition("=")[2]
            elif word[:1] == "-" and len(word) > 2:
                yield word[2:]
    yield " ".join([word for word in simple.argv[1:] if word is not None])
    yield simple.input
    for other in line:
        if other.name in _SPEAKERS:
            yield " ".join([word for word in other.argv[1:] if word is not None])
            yield other.input
        elif other.name in _FINDERS:
            yield " ".join([word for word in other.argv if word is not None and word[:1] != "-"])


def _words(text: str) -> list[str]:
    """In small letters, without comments and marks."""
    text = text[:MAX_TEXT]
    while "/*" in text:
        before, _, rest = text.partition("/*")
        text = f"{before} {rest.partition('*/')[2]}"
    lines = [line.partition("-- ")[0] for line in text.split("\n")]
    return "\n".join(lines).replace("\\n", " ").translate(_MARKS).lower().split()


def _has(words: list[str], sequences: Iterable[list[str]], unfiltered: bool) -> bool:
    for sequence in sequences:
        for at in range(len(words) - len(sequence) + 1):
            is_there = all(_has_word(globs, word) for globs, word in zip(sequence, words[at:], strict=False))
            end = words.index(";", at) if ";" in words[at:] else len(words)
            if is_there and not (unfiltered and "where" in words[at:end]):
                return True
    return False


def _has_word(globs: str, word: str) -> bool:
    return any(matches(glob, word) for glob in globs.split("|"))


_WITH_LEASE = ("--force-with-lease", "--force-if-includes")
_OUTRIGHT = ("--force", "--mirror", "--all", "--branches", "--tags", "--prune", "--delete")


def _lease(words: Given, simple: Simple, scope: Scope) -> bool:
    """True unless it is a push with a lease to branches that are named and not protected."""
    if words.has_unknown or "f" in words.letters or "d" in words.letters or "o" in words.letters:
        return True
    names = [name for name, _, _ in words.longs if name[:2] == "--" and name not in _WITH_LEASE]
    if any(one.startswith(name) for name in names for one in _OUTRIGHT):
        return True
    targets = [_target(word) for word in words.plain[1:]]
    if not targets:
        targets = [scope.pushed_branch(simple.cwd) if simple.cwd is not None and not _names_a_repository(words) else ""]
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


def _names_a_repository(words: Given) -> bool:
    """Another repository than the one around the working directory."""
    return any(name in ("--git-dir", "--work-tree", "-C") or name[:2] == "-C" for name, _, _ in words.longs)


def _everything(words: Given, simple: Simple, scope: Scope) -> bool:
    """A pattern for all that is here, not a letter of a name in it."""
    return any("*" in word and not word.strip("*?./") and word[0] != "/" for word in words.plain)


def _many(call_words: Given, simple: Simple, scope: Scope) -> bool:
    """killall, pkill: every process of that name. kill: all that we may signal (-1), or the first process."""
    if simple.name != "kill":
        return (
            bool(call_words.plain)
            or call_words.has_unknown
            or any(name in ("-u", "--user") for name, _, _ in call_words.longs)
        )
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


def _two_names(words: Given, simple: Simple, scope: Scope) -> bool:
    """git checkout TREE FILE. The word behind an option may be its value."""
    others = ("--track", "-t", "--conflict", "--ours", "--theirs", "-m", "--merge")
    if any(name in others for name, _, _ in words.longs):
        return False
    return len(words.plain) > 1 and not words.separated


_TOOLS_OF_USERS = ("core.editor", "core.pager", "sequence.editor", "credential.helper")
_OF_PROJECTS = (".githooks", ".husky", "hooks", "scripts", "tools", "git lfs", "git-lfs", "nbstripout", "cat")


def _set_outside(words: Given, simple: Simple, scope: Scope) -> bool:
    """A setting with a command, or with a place that leads out of the project. `true` and .githooks are none."""
    if len(words.plain) < 2:
        return words.has_unknown
    value = words.plain[-1]
    if words.plain[0].lower().startswith(_TOOLS_OF_USERS):
        return value[:1] in ("!", "/", "~", ".") or ";" in value or "sh " in value
    leads_out = value[:1] in ("/", "~", "!") or ".." in value
    return value not in ("true", "false") and (leads_out or not value.lower().startswith(_OF_PROJECTS))


CHECKS: dict[str, Callable[[Given, Simple, Scope], bool]] = {
    "lease": _lease, "everything": _everything, "many": _many, "two-names": _two_names, "set-outside": _set_outside,
}  # fmt: skip


UNKNOWN_WORD = "tmpwarden cannot tell which command would run"


def by_words(rows: list[Row], simple: Simple, scope: Scope, decision: str) -> Judged | None:
    """The word of the first row of this decision that speaks."""
    scope.budget.spend(10 * len(rows))
    speaking = [row for row in rows if row["decision"] == decision]
    spellings = _spellings(simple) if speaking else []
    for row in speaking:
        if why := _why(row, spellings, simple, scope):
            instead = f" Instead: {row['alternative']}." if row.get("alternative") else ""
            return Judged(decision, str(row["label"]), why + instead)
    return None


def inner_commands(simple: Simple, programs: Container[str]) -> Iterator[Simple]:
    """What a container or a runner is told to run, as far as a program with rows stands among its words."""
    for at in range(1, len(simple.argv)):
        name = (simple.argv[at] or "").rpartition("/")[2]
        if name in programs:
            yield Simple(
                simple.argv[at:],
                name=name,
                cwd=simple.cwd,
                wrappers=(*simple.wrappers, str(simple.name)),
                remote=simple.remote,
                text=simple.text,
                input_text=simple.input,
            )
            return


def _why(row: Row, spellings: list[tuple[str | None, ...]], simple: Simple, scope: Scope) -> str:
    if ("here" in row or "there" in row) and _is_contained(simple):
        return ""  # a container is made to be thrown away
    if "there" in row and not simple.remote:
        return ""
    commands: list[list[str]] = row["commands"]  # type: ignore[assignment]
    for argv in spellings:
        for words in commands:
            if not _is_named(words[0], argv[0]):
                continue
            for at in tails(argv, words[1:]):
                if at < 0:
                    return UNKNOWN_WORD if len(words) == 2 and _is_bare(row) else ""
                if _fits(row, argv, at, simple, scope):
                    return str(row.get("description") or f"{row['decision']} rule {row['label']}: {simple.text}")
    return ""


def _is_named(names: str, word: str | None) -> bool:
    name = (word or "").rpartition("/")[2]
    return any(matches(one, name) for one in names.split("|"))


def _is_bare(row: Row) -> bool:
    """About a subcommand as such, whatever stands behind it."""
    return not any(key in row for key in ("options", "words", "text", "written", "check"))


def _spellings(simple: Simple) -> list[tuple[str | None, ...]]:
    """As it was written; for git also with an alias of the same line spelled out."""
    if simple.name != "git":
        return [simple.argv]

    other = without_aliases(simple.argv)
    return [simple.argv] if other is None else [simple.argv, other]


def _fits(row: Row, argv: tuple[str | None, ...], at: int, simple: Simple, scope: Scope) -> bool:
    words = Given(argv, at, str(row.get("valued", "")))
    if "options" in row and not words.any_of(row["options"]):  # type: ignore[arg-type]
        return False
    if "unless" in row and words.surely(row["unless"], row.get("options", ())):  # type: ignore[arg-type]
        return False
    if "words" in row and not any(matches(glob, word) for glob in row["words"] for word in words.plain):  # type: ignore[attr-defined]
        return False
    if "spared" in row and words.plain and not words.has_unknown:
        spared: list[str] = row["spared"]  # type: ignore[assignment]
        if all(any(matches(glob, word.rstrip("/").rpartition("/")[2]) for glob in spared) for word in words.plain):
            return False
    if "text" in row and not holds(row["text"], simple, scope.commands, row.get("check") == "unfiltered"):  # type: ignore[arg-type]
        return False
    if "written" in row and not any(matches(glob, simple.text) for glob in row["written"]):  # type: ignore[attr-defined]
        return False
    if "context" in row and _is_trusted(row, words, scope):
        return False
    return not row.get("check") or _passes_check(str(row["check"]), words, simple, scope)


def _passes_check(check: str, words: Given, simple: Simple, scope: Scope) -> bool:

    return CHECKS[check](words, simple, scope) if check in CHECKS else True


def _is_trusted(row: Row, words: Given, scope: Scope) -> bool:
    """Every place that the words name is in `trusted`, and nothing in them may change what that name means."""
    named = words.values_of(row["context"])  # type: ignore[arg-type]
    if not named or None in named or words.any_of(row.get("spoiled_by", ())):  # type: ignore[arg-type]
        return False
    return all(any(matches(glob, name or "") for glob in scope.trusted) for name in named)


def _is_contained(simple: Simple) -> bool:
    from ..programs.table import has

    return simple.remote and any(has(wrapper.split()[0], "container") for wrapper in simple.wrappers)
