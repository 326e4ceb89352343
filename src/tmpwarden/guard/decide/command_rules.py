"""`[[guard.commands]]` against one simple command: which rows speak about it. Loaded only where a program has rows.

Words that cannot be told before the line runs count as text: no option, no subcommand. Options in front of a subcommand
may or may not take the next word, so both readings are tried: a row is never passed over because of one that we do not
know.
"""

from __future__ import annotations

from ..nouns.analysis import Simple
from ..rules.glob import matches
from .command_text import holds
from .command_words import Given, tails
from .scope import Judged, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    Row = dict[str, object]

UNKNOWN_WORD = "which command of it runs cannot be told before it runs"


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
                given=simple.input,
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
    from .command_checks import without_aliases

    other = without_aliases(simple.argv)
    return [simple.argv] if other is None else [simple.argv, other]


def _fits(row: Row, argv: tuple[str | None, ...], at: int, simple: Simple, scope: Scope) -> bool:
    given = Given(argv, at, str(row.get("valued", "")))
    if "options" in row and not given.any_of(row["options"]):  # type: ignore[arg-type]
        return False
    if "unless" in row and given.surely(row["unless"], row.get("options", ())):  # type: ignore[arg-type]
        return False
    if "words" in row and not any(matches(glob, word) for glob in row["words"] for word in given.plain):  # type: ignore[attr-defined]
        return False
    if "spared" in row and given.plain and not given.has_unknown:
        spared: list[str] = row["spared"]  # type: ignore[assignment]
        if all(any(matches(glob, word.rstrip("/").rpartition("/")[2]) for glob in spared) for word in given.plain):
            return False
    if "text" in row and not holds(row["text"], simple, scope.commands, row.get("check") == "unfiltered"):  # type: ignore[arg-type]
        return False
    if "written" in row and not any(matches(glob, simple.text) for glob in row["written"]):  # type: ignore[attr-defined]
        return False
    if "context" in row and _is_trusted(row, given, scope):
        return False
    return not row.get("check") or _checked(str(row["check"]), given, simple, scope)


def _checked(check: str, given: Given, simple: Simple, scope: Scope) -> bool:
    from .command_checks import CHECKS

    return CHECKS[check](given, simple, scope) if check in CHECKS else True


def _is_trusted(row: Row, given: Given, scope: Scope) -> bool:
    """Every place that the words name is in `trusted`, and nothing in them may change what that name means."""
    named = given.values_of(row["context"])  # type: ignore[arg-type]
    if not named or None in named or given.any_of(row.get("spoiled_by", ())):  # type: ignore[arg-type]
        return False
    return all(any(matches(glob, name or "") for glob in scope.trusted) for name in named)


def _is_contained(simple: Simple) -> bool:
    from ..programs.table import has

    return simple.remote and any(has(wrapper.split()[0], "container") for wrapper in simple.wrappers)
