"""Names and strings in code of other languages."""

from __future__ import annotations


def only_known(known: frozenset[str], bare: str, sigils: str = "") -> bool:
    """Are all names in it known ones? Behind a sigil any will do."""
    name, before = "", ""
    for c in bare + " ":
        if c.isalnum() or c == "_":
            name += c
            continue
        if name and not name[0].isdigit() and name not in known and (before or " ") not in sigils:
            return False
        name, before = "", c
    return True


def closing(code: str, at: int, quote: str) -> int:
    while at < len(code) and code[at] != quote:
        at += 2 if code[at] == "\\" else 1
    return at if at < len(code) else -1
