"""How the words of a rule are compared with those of a command: globs, regular expressions, prefixes. Hot path."""

from ..nouns.analysis import Simple
from ..programs.table import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .rule import Rule


def matches(pattern: str, text: str) -> bool:
    """`*` any run, `?` any one character, everything else itself. Linear in memory, never worse than quadratic."""
    if "?" in pattern:
        return _matches_slowly(pattern, text)
    head, *middle = pattern.split("*")
    if not middle:
        return pattern == text
    tail = middle.pop()
    if not text.startswith(head) or not text.endswith(tail):
        return False
    at, end = len(head), len(text) - len(tail)
    for piece in middle:  # the first place that fits leaves the most room to the next
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return at <= end


class Globs:
    """Many of them, asked about many words: the base or a plain piece of each tells of most that they do not fit."""

    __slots__ = ("_anywhere", "_below", "_heads")

    def __init__(self, globs: "tuple[str, ...]", bases: "Mapping[str, tuple[str, ...]]") -> None:
        """`bases`: what `~`, `@project` and the like stand for at the head of a glob."""
        self._anywhere: list[tuple[str, str]] = []
        self._below: dict[str, list[str]] = {}  # base -> what comes behind it; "": one that starts as it is written
        self._heads: dict[str, tuple[str, ...]] = {}  # base -> how that starts
        for glob in globs:
            if glob[0] in "*?":
                self._anywhere.append((_head(glob.lstrip("*?")), glob))
                continue
            head = glob.partition("/")[0] if glob[0] in "@.~" else ""
            for base in bases.get(head) or ("",):
                self._below.setdefault(base, []).append(glob[len(head) :] if base else glob)

    def fit(self, text: "str | None") -> bool:
        if text is None:
            return False
        for base in self._below:
            if text.startswith(base) and self._fits_below(base, text[len(base) :]):
                return True
        for piece, glob in self._anywhere:  # noqa: SIM110 - a generator costs more than what it asks
            if piece in text and matches(glob, text):
                return True
        return False

    def _fits_below(self, base: str, rest: str) -> bool:
        if base not in self._heads:
            self._heads[base] = tuple([_head(glob) for glob in self._below[base]])
        return rest.startswith(self._heads[base]) and any(matches(glob, rest) for glob in self._below[base])

    def spelled(self) -> "list[str]":
        """Each with its base."""
        below = [base + glob for base, globs in self._below.items() for glob in globs]
        return below + [glob for _, glob in self._anywhere]


def _head(glob: str) -> str:
    """What it starts with, up to the first character that may be another."""
    return glob.partition("*")[0].partition("?")[0]


def _matches_slowly(pattern: str, text: str) -> bool:
    at = here = 0
    star, resume = -1, 0
    while here < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, resume = at, here
            at += 1
        elif at < len(pattern) and (pattern[at] == "?" or pattern[at] == text[here]):
            at += 1
            here += 1
        elif star >= 0:  # let the last star take one more character
            resume += 1
            at, here = star + 1, resume
        else:
            return False
    return pattern[at:].strip("*") == ""


BY_TABLE = "table"


def is_match(rule: "Rule", text: str) -> "bool | None":
    """None: not looked, because the text is too long or holds what the table does not know."""
    regex, limit, *table = rule.operands
    if limit == BY_TABLE:
        return _by_table(table[0], text)
    if len(text) > int(limit):
        return None
    import re  # only a config with such checks pays for it

    return re.fullmatch(regex, text, re.DOTALL) is not None


def _by_table(written: str, text: str) -> "bool | None":
    from ...small_json import decode_object

    table = decode_object(written)
    return None if table is None else matches_table(table, text)


def matches_table(table: "dict[str, object]", text: str) -> "bool | None":
    """One step a character."""
    letters, rows, ends = table["letters"], table["rows"], table["ends"]
    state, last = 1, len(text) - 1
    for at, letter in enumerate(text):
        code = ord(letter)
        kind = ord(letters[code]) if code < 128 else _beyond(table, letter)  # type: ignore[index]
        if kind < 0:
            return None
        row = rows[state]  # type: ignore[index]
        state = ord(row[-1] if at == last and letter == "\n" else row[kind])
        if not state:
            return False
    return bool(ends[state] == "1")  # type: ignore[index]


def _beyond(table: "dict[str, object]", letter: str) -> int:
    """The class of a character past ASCII, by its kind; -1 where the pattern or case tells such ones apart."""
    kinds: str = table["beyond"]  # type: ignore[assignment]
    if not kinds or (table["folds"] and (letter.lower().isascii() or letter.upper().isascii())):
        return -1
    if letter.isdecimal():
        return ord(kinds[0])
    if letter.isalnum():
        return ord(kinds[1])
    return ord(kinds[2] if letter.isspace() else kinds[3])


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
        argument = simple.argv[at]
        if argument is None:
            return MAYBE
        if not matches(word, argument):
            return None
        at += 1
    return YES


def _next(argv: "tuple[str | None, ...]", at: int, word: str, valued: "tuple[str, ...]") -> int:
    """Where the next word that counts stands; a rule that names an option itself sees it wherever it is."""
    if word.startswith("-"):
        there = [i for i in range(at, len(argv)) if argv[i] is None or matches(word, argv[i] or "")]
        return there[0] if there else len(argv)
    while at < len(argv):
        argument = argv[at]
        if argument is None or not argument.startswith("-"):
            return at
        at += 2 if argument in valued else 1
    return at
