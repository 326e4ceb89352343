"""Globs without `fnmatch`, which imports `re` and with it more than a whole hook costs."""


def matches(pattern: str, text: str) -> bool:
    """`*` any run, `?` any one character, everything else itself. Linear in memory, never worse than quadratic."""
    if "*" not in pattern and "?" not in pattern:
        return pattern == text
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
