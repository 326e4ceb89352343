"""Globs without `fnmatch`, which imports `re` and with it more than a whole hook costs."""


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
    """Many of them, asked about many words: a plain piece of each tells at once of most that they do not fit."""

    __slots__ = ("_anywhere", "_heads", "_rooted", "globs")

    def __init__(self, globs: "tuple[str, ...]") -> None:
        self.globs = globs
        self._rooted = [glob for glob in globs if glob[0] not in "*?"]
        self._heads = tuple([glob.partition("*")[0].partition("?")[0] for glob in self._rooted])
        anywhere = [glob for glob in globs if glob[0] in "*?"]
        self._anywhere = [(max(glob.replace("?", "*").split("*"), key=len), glob) for glob in anywhere]

    def fit(self, text: "str | None") -> bool:
        if text is None:
            return False
        if text.startswith(self._heads):
            for glob in self._rooted:
                if matches(glob, text):
                    return True
        for piece, glob in self._anywhere:  # noqa: SIM110 - a generator costs more than what it asks
            if piece in text and matches(glob, text):
                return True
        return False


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
