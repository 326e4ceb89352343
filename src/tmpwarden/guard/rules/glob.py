"""Globs without `fnmatch`, which imports `re` and with it more than a whole hook costs."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


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
