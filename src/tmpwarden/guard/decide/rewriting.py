"""The mechanics of a rewrite: how the temp root in one word of a line is replaced, every other byte left as it is."""

from __future__ import annotations

from ..nouns.state import Site
from ..shell.syntax import LITERAL, Part
from .temproot import HIDDEN, TempRoot

SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+@%:=,-")

Edit = tuple[int, int, str]


def edited(command: str, edits: list[Edit]) -> str | None:
    """Apply them; two that overlap are none."""
    pieces, at = [], 0
    for start, end, text in sorted(set(edits)):
        if start < at:
            return None
        pieces += [command[at:start], text]
        at = end
    return "".join(pieces) + command[at:]


def shown(site: Site) -> str:
    """The unquoted word; what is not literal in it is hidden."""
    return "".join([part.text if part.kind == LITERAL else HIDDEN for part in site.word.parts])


def edit_of(site: Site, root: TempRoot, command: str) -> Edit | None:
    """Replace the root where it stands in one piece, else the whole word if all of it is literal."""
    word, start = shown(site), site.offset
    end = start + root.end_of_root(word[start:])
    at = 0
    for part in site.word.parts:
        size = len(part.text) if part.kind == LITERAL else 1
        if at <= start and end <= at + size:
            place = _place(part, command)
            text = _fitting(root.scratch, part.quote, site.is_nested)
            if place is not None and text is not None:
                return place + start - at, place + end - at, text
        at += size
    if HIDDEN in word or site.word.magic:
        return None
    text = _fitting(word[:start] + root.scratch + word[end:], "", site.is_nested)
    return None if text is None else (site.word.start, site.word.end, text)


def _place(part: Part, command: str) -> int | None:
    """Where the text of the part starts in the command, if it stands there as it is."""
    place = part.start + (part.quote == "'")
    is_same = part.kind == LITERAL and part.start >= 0 and command.startswith(part.text, place)
    return place if is_same and part.quote in ("", "'", '"') else None


def _fitting(text: str, quote: str, is_nested: bool) -> str | None:
    """The text so that it means itself between these quotes; None if it cannot."""
    if SAFE.issuperset(text):
        return text
    if is_nested or "'" in text:
        return None
    if quote == "":
        return f"'{text}'"
    return text if quote == "'" or not any(c in '"\\$`' for c in text) else None
