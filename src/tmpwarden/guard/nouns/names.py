"""Sets of names, written as one text with blanks between them."""


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())
